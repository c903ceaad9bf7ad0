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
	return Schema{Files: store.Format(string(text), 1)}
}

// TestWith: a missing database is made only where that is asked for, and standard error says
// so. An error of the work has advice.
func TestWith(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	var stderr strings.Builder
	env := cli.Env{Context: t.Context(), Stderr: &stderr}
	s := current(t)
	fails := func(*store.Store) error { return store.Failed("reading", path, &store.NoTenantError{Name: "A"}) }
	if err := s.With(env, path, false, fails); !errors.Is(err, sqlite.ErrNotExist) || cli.HintOf(err) == "" {
		t.Errorf("there is none: %v", err)
	}
	for range 2 { // makes it, and opens it again
		if err := s.With(env, path, true, fails); err == nil || err.Error() != `there is no department "A"` || !strings.Contains(cli.HintOf(err), "departments list") {
			t.Errorf("%v, hint %q", err, cli.HintOf(err))
		}
	}
	if got, want := stderr.String(), "Created the database "+cli.Quote(path)+".\n"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}

// TestContent: a backup is described by what is in it.
func TestContent(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	s := current(t)
	err := s.With(cli.Env{Context: t.Context(), Stderr: &strings.Builder{}}, path, true, func(opened *store.Store) error {
		if err := opened.AddDepartments([]store.Department{{Name: "A"}}); err != nil {
			return err
		}
		return opened.DB().Read(func(c *sqlite.Conn) error {
			summary, err := s.Summarize(t.Context(), c)
			if err != nil || summary.Text != "0 records of 1 department" || summary.Empty {
				t.Errorf("%+v, %v", summary, err)
			}
			id, err := s.Identify(c)
			if err != nil || len(id.IDs) != 1 {
				t.Errorf("%+v, %v", id, err)
			}
			return nil
		})
	})
	if err != nil {
		t.Error(err)
	}
}
