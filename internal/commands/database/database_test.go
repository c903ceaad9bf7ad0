package database

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

// current returns the schema of the program, without upgrades.
func current(t *testing.T) Schema {
	t.Helper()
	text, err := os.ReadFile("../../../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	return Schema{Format: store.Format(string(text), 1)}
}

// TestWith: a missing database is made only where that is asked for, and standard error says
// so.
func TestWith(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	var stderr strings.Builder
	env := cli.Env{Context: t.Context(), Stderr: &stderr}
	s := current(t)
	fails := func(*store.Store) error { return store.Failed("reading", path, &store.NoTenantError{Name: "A"}) }
	if err := s.With(env, path, false, fails); !errors.Is(err, sqlite.ErrNotExist) {
		t.Errorf("there is none: %v", err)
	}
	for range 2 { // makes it, and opens it again
		if err := s.With(env, path, true, fails); !errors.As(err, new(*store.NoTenantError)) {
			t.Error(err)
		}
	}
	if got, want := stderr.String(), "Created the database "+cli.Quote(path)+".\n"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}

// TestUpgradeInUse checks that no command upgrades a database that a server has locked.
func TestUpgradeInUse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	env := cli.Env{Context: t.Context(), Stderr: io.Discard}
	s := current(t)
	created, err := s.Open(env, path, true)
	if err != nil {
		t.Fatal(err)
	}
	created.Close()
	const change = "ALTER TABLE tenants ADD COLUMN note TEXT;"
	step := func(c *sqlite.Conn) error {
		_, err := c.Exec(change)
		return err
	}
	next := Schema{Format: store.Format(s.Format.Schema+change, 2), Upgrades: []func(*sqlite.Conn) error{step}}
	release, err := next.Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := next.Open(env, path, false); !errors.Is(err, sqlite.ErrInUse) || s.Format.HeaderVersion(path) != 1 {
		t.Errorf("in use: %v", err)
	}
	release()
	upgraded, err := next.Open(env, path, false)
	if err != nil || upgraded.Close() != nil || next.Format.HeaderVersion(path) != 2 {
		t.Errorf("not in use: %v", err)
	}
}

// TestOpenLocked checks that a server creates a missing database, and that the lock of one that
// was not created leaves nothing behind.
func TestOpenLocked(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	env := cli.Env{Context: t.Context(), Stderr: io.Discard}
	s := current(t)
	for _, opens := range []bool{false, true} {
		release, err := s.Lock(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Lock(path); !errors.Is(err, sqlite.ErrInUse) {
			t.Errorf("the second lock: %v", err)
		}
		if opens {
			opened, err := s.OpenLocked(env, path, "", false)
			if err != nil {
				t.Fatal(err)
			}
			opened.Close()
		}
		release()
		left, err := filepath.Glob(path + "*")
		if err != nil || opens != (len(left) > 0) {
			t.Errorf("opened %t: there is %q, %v", opens, left, err)
		}
	}
	if err := os.WriteFile(path, []byte("not a database"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Lock(path); !errors.Is(err, sqlite.ErrForeign) {
		t.Errorf("a file that is not a database: %v", err)
	}
}
