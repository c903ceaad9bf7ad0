//go:build unix

package invite

import (
	"io"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

var schema = func() database.Schema {
	text, err := os.ReadFile("../../../schema.sql")
	if err != nil {
		panic(err)
	}
	return database.Schema{Files: store.Format(string(text), 1)}
}()

// newDatabase returns a database with a department.
func newDatabase(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "x.db")
	must(t, schema.With(cli.Env{Context: t.Context(), Stderr: io.Discard}, path, true, func(s *store.Store) error {
		return s.AddDepartments([]store.Department{{Name: "Engine 7"}})
	}))
	return path
}

// TestWhyNot: open says why the service does not run, where that is known.
func TestWhyNot(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	missing := filepath.Join(t.TempDir(), "missing.db")
	start, status := cli.AsAdministrator("firefighters service start"), "see why: "+cli.AsAdministrator("firefighters service status")
	known := func() (string, string) { return "port 8080 is used by another program", "another port" }
	unknown := func() (string, string) { return "", "" }
	for _, tt := range []struct {
		db, service string
		fault       func() (string, string)
		want, hint  string
	}{
		{db, db, known, "the service does not run: port 8080 is used by another program", "another port"},
		{db, db, unknown, "the service does not run", start},
		{db, db, nil, "the service does not run", start},
		{missing, missing, known, "the service has no database: port 8080 is used by another program", "another port"},
		{missing, missing, unknown, "the service has no database", status},
		{db, missing, known, "no service runs on this database", "start one: firefighters serve --db " + cli.Quote(db)},
	} {
		var stdout, stderr strings.Builder
		env := cli.Env{Context: t.Context(), Stdout: &stdout, Stderr: &stderr, ServiceDB: func() string { return tt.service }}
		err := Commands{Database: schema, Fault: tt.fault}.open(env, []string{"--db", tt.db})
		if err == nil || err.Error() != tt.want || cli.HintOf(err) != tt.hint || stdout.Len() > 0 {
			t.Errorf("%v, %q; not %q, %q", err, cli.HintOf(err), tt.want, tt.hint)
		}
	}
}

// TestPersonUnderSudo checks that the session is named after the person who typed the command.
func TestPersonUnderSudo(t *testing.T) {
	other, err := user.Lookup("nobody")
	if err != nil {
		t.Skip("there is no other user of a known name")
	}
	t.Setenv("SUDO_USER", other.Username)
	if got := person(); got != other.Username && got != other.Name {
		t.Errorf("%q", got)
	}
}
