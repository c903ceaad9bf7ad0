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

// TestWith checks that a missing database is created only if create is set, and is reported once.
func TestWith(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	var stderr strings.Builder
	env := cli.Env{Context: t.Context(), Stderr: &stderr}
	s := current(t)
	fail := func(*store.Store) error { return store.Failed("reading", path, &store.NoTenantError{Name: "A"}) }
	if err := s.With(env, path, false, fail); !errors.Is(err, sqlite.ErrNotExist) {
		t.Errorf("a missing database: %v", err)
	}
	for range 2 { // creates it, and then opens it
		if err := s.With(env, path, true, fail); !errors.As(err, new(*store.NoTenantError)) {
			t.Error(err)
		}
	}
	if got, want := stderr.String(), "Created the database "+cli.Quote(path)+".\n"; got != want {
		t.Errorf("stderr %q, want %q", got, want)
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

// TestOpenLocked checks that a server creates a missing database, and that releasing the lock removes
// its files if none was created.
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
			t.Errorf("opened %t: the remaining files are %q, %v", opens, left, err)
		}
	}
	if err := os.WriteFile(path, []byte("not a database"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Lock(path); !errors.Is(err, sqlite.ErrForeign) {
		t.Errorf("a file that is not a database: %v", err)
	}
}
