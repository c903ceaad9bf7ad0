package notes_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/notes"
)

// TestNotes checks that notes stay until they are removed, whatever is written next to them.
func TestNotes(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	has := func(name, want string) {
		t.Helper()
		var got string
		if there := notes.Read(db, name, &got); there != (want != "") || got != want {
			t.Errorf("%s is %q, %v", name, got, there)
		}
	}
	has(notes.Lost, "")
	must(notes.Remove(db, notes.Lost))
	must(notes.RemoveAll(db))
	var writers sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d"} {
		writers.Go(func() {
			if err := notes.Write(db, name, name); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	for _, name := range []string{"a", "b", "c", "d"} {
		has(name, name)
	}
	must(notes.Write(db, "a", "other"))
	has("a", "other")
	must(notes.Remove(db, "b"))
	has("b", "")
	if notes.Read(db, "a", new(int)) {
		t.Error("a text is a number")
	}
	must(os.WriteFile(notes.Path(db), []byte("damaged"), 0o600))
	has("a", "")
	must(notes.Write(db, "a", "again"))
	has("a", "again")
	must(notes.Remove(db, "a"))
	if _, err := os.Stat(notes.Path(db)); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
}
