//go:build unix

package invite

import (
	"io"
	"os"
	"os/user"
	"path/filepath"
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
	return database.Schema{Format: store.Format(string(text), 1)}
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

// TestNoService checks that open reports why the service does not run, if that is known.
func TestNoService(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	missing := filepath.Join(t.TempDir(), "missing.db")
	start, status := cli.AsAdministrator("firefighters service start"), cli.AsAdministrator("firefighters service status")
	known := func() (string, string) { return "port 8080 is used by another program", "another port" }
	unknown := func() (string, string) { return "", "" }
	for _, tt := range []struct {
		db, service string
		fault       func() (string, string)
		want, hint  string
	}{
		{db, db, known, "the service is not running: port 8080 is used by another program", "another port"},
		{db, db, unknown, "the service is not running", start},
		{db, db, nil, "the service is not running", start},
		{missing, missing, known, "the service has no database: port 8080 is used by another program", "another port"},
		{missing, missing, unknown, "the service has no database", status},
		{db, missing, known, "no server is running on this database", "firefighters serve --db " + cli.Quote(db)},
	} {
		code, stdout, stderr := run(t, Commands{Database: schema, Fault: tt.fault}, tt.service, "open", "--db", tt.db)
		if want := "Error: " + tt.want + "\nTry: " + tt.hint + "\n"; code != 1 || stdout != "" || stderr != want {
			t.Errorf("code %d, stderr:\n%swant:\n%s", code, stderr, want)
		}
	}
}

// TestBarred checks the hint for a user who cannot read the database of the service.
func TestBarred(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root can read everything")
	}
	db := newDatabase(t)
	must(t, os.Chmod(db, 0))
	t.Chdir(t.TempDir())
	want := "Error: " + cli.ErrBarred.Error() + "\nTry: " + cli.AsAdministrator("firefighters open") + "\n"
	if code, _, stderr := run(t, Commands{Database: schema}, db, "open"); code != 1 || stderr != want {
		t.Errorf("code %d, stderr:\n%swant:\n%s", code, stderr, want)
	}
}

// TestPersonUnderSudo checks that the session is named after the user of sudo.
func TestPersonUnderSudo(t *testing.T) {
	other, err := user.Lookup("nobody")
	if err != nil {
		t.Skip("there is no user named nobody")
	}
	t.Setenv("SUDO_USER", other.Username)
	if got := person(); got != other.Username && got != other.Name {
		t.Errorf("%q", got)
	}
}
