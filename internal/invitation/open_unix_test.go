//go:build unix

package invitation

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/cli"
	"github.com/firefighter-records/firefighters/internal/session"
	"github.com/firefighter-records/firefighters/internal/sqlite"
	"github.com/firefighter-records/firefighters/internal/store"
)

// served returns a database with a department, and the lock and the address of a
// service.
func served(t *testing.T) (path string) {
	t.Helper()
	schema, err := os.ReadFile("../../schema.sql")
	must(t, err)
	path = filepath.Join(t.TempDir(), "x.db")
	must(t, os.WriteFile(path, nil, 0o600))
	format := sqlite.Format{ApplicationID: 0x46665273, Version: 4}
	must(t, format.Migrate(path, 0, format.Version, func(c *sqlite.Conn) error {
		_, err := c.Exec(string(schema))
		return err
	}))
	release, err := sqlite.LockDatabase(path)
	must(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { listener.Close(); release() })
	s, err := store.Open(path, time.Now)
	must(t, err)
	must(t, s.AddDepartments([]store.Department{{Name: "Engine 7"}}))
	must(t, s.SetAddress("http://"+listener.Addr().String()))
	must(t, s.Close())
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
	p := Program{WithStore: func(_ cli.Env, path string, _ bool, do func(*store.Store) error) error {
		s, err := store.Open(path, time.Now)
		must(t, err)
		return errors.Join(do(s), s.Close())
	}}
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
	if open, err := session.Invitations(s, tenant); err != nil || len(open) != 1 || open[0].Scope != store.ScopeAdmin {
		t.Errorf("the invitations are %v, %v", open, err)
	}
}

// TestHints: how a service is started depends on whether it is that of the system.
func TestHints(t *testing.T) {
	t.Parallel()
	const db = "/var/lib/x.db"
	for serviceDB, want := range map[string]string{
		"":              "start one: firefighters serve --db " + db,
		"/var/lib/y.db": "start one: firefighters serve --db " + db,
		db:              cli.AsAdministrator("firefighters service start"),
	} {
		if got := hintOn(cli.Env{ServiceDB: func() string { return serviceDB }}, errNotServed, db); got != want {
			t.Errorf("%q: %q, not %q", serviceDB, got, want)
		}
	}
}
