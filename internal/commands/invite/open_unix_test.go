//go:build unix

package invite

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
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

func withStore(path string, do func(*store.Store) error) error {
	s, err := store.Open(path, time.Now)
	if err != nil {
		return err
	}
	return errors.Join(do(s), s.Close())
}

// served returns a database with a department, and the lock and the address of a
// service.
func served(t *testing.T) (path string) {
	t.Helper()
	path = newDatabase(t)
	release, err := sqlite.LockDatabase(path)
	must(t, err)
	page := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})) // answers with 200
	t.Cleanup(func() { page.Close(); release() })
	must(t, withStore(path, func(s *store.Store) error { return s.SetAddress(page.URL) }))
	return path
}

// TestNobodyPresses: the private file goes after a while, and the invitation
// stays. It cannot run beside others: it sets the time and the environment.
func TestNobodyPresses(t *testing.T) {
	defer func(before time.Duration) { lookFor = before }(lookFor)
	lookFor = 2 * lookEach
	home, programs := t.TempDir(), t.TempDir()
	for _, name := range []string{"xdg-open", "open"} {
		must(t, os.WriteFile(filepath.Join(programs, name), []byte("#!/bin/sh\n"), 0o700))
	}
	for name, value := range map[string]string{"PATH": programs, "HOME": home, "TMPDIR": home, "DISPLAY": ":9", "SUDO_USER": ""} {
		t.Setenv(name, value)
	}
	db := served(t)
	p := Commands{Database: schema}
	var stdout, stderr strings.Builder
	err := p.open(cli.Env{Context: t.Context(), Stdout: &stdout, Stderr: &stderr}, []string{"--db", db})
	want := "Opening the page in the browser. Press its button to sign in.\n" +
		"Nobody has pressed the button yet. It still works for 14 minutes.\n"
	if err != nil || stdout.Len() > 0 || stderr.String() != want {
		t.Errorf("%v, stdout %q, stderr:\n%s", err, &stdout, &stderr)
	}
	left, err := os.ReadDir(home)
	must(t, err)
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	s, err := store.Open(db, time.Now)
	must(t, err)
	defer s.Close()
	tenant, err := s.Tenant("Engine 7")
	must(t, err)
	if open, err := s.Invitations(tenant); err != nil || len(open) != 1 || open[0].Scope != store.ScopeAdmin {
		t.Errorf("the invitations are %v, %v", open, err)
	}
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
