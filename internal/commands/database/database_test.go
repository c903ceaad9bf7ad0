package database

import (
	"errors"
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
