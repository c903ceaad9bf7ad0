package backup_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/backup"
)

// TestNotes checks that a note stays until it is removed, even if others are written.
func TestNotes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, path := filepath.Join(dir, "x.db"), filepath.Join(dir, ".x.db-notes")
	has := func(name, want string) {
		t.Helper()
		var got string
		if there := backup.ReadNote(db, name, &got); there != (want != "") || got != want {
			t.Errorf("%s is %q, %v", name, got, there)
		}
	}
	has(backup.NoteLost, "")
	must(t, backup.RemoveNote(db, backup.NoteLost))
	must(t, backup.RemoveNotes(db))
	var writers sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d"} {
		writers.Go(func() {
			if err := backup.WriteNote(db, name, name); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	for _, name := range []string{"a", "b", "c", "d"} {
		has(name, name)
	}
	must(t, backup.WriteNote(db, "a", "other"))
	has("a", "other")
	must(t, backup.RemoveNote(db, "b"))
	has("b", "")
	if backup.ReadNote(db, "a", new(int)) {
		t.Error("a string was read as a number")
	}
	must(t, os.WriteFile(path, []byte("damaged"), 0o600))
	has("a", "")
	must(t, backup.WriteNote(db, "a", "again"))
	has("a", "again")
	must(t, backup.RemoveNote(db, "a"))
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file still exists: %v", err)
	}
}
