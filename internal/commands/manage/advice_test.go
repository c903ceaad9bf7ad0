package manage

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/integrity"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// Messages name files after links, and the temporary folder of macOS is behind one.
func init() {
	if folder, err := filepath.EvalSymlinks(os.TempDir()); err == nil {
		os.Setenv("TMPDIR", folder)
	}
}

// errResultFull is a result of SQLite. Like those of the engine, it has a text of its
// own.
var errResultFull = fmt.Errorf("SQLite result 13: %w", sqlite.ErrFull)

// file returns an error about a database in a folder of the test.
func file(op string, err error) error {
	return &sqlite.FileError{Op: op, Path: "dir/x.db", Err: err}
}

// TestAdvice pins what is said of the errors of this package.
func TestAdvice(t *testing.T) {
	t.Parallel()
	const (
		inPlace = "put a backup in its place: firefighters restore FILE --db dir/x.db"
		atStart = "the service corrects that when it starts, and once a day: firefighters serve --db dir/x.db"
	)
	for _, tt := range []struct {
		err        error
		text, hint string
	}{
		{unsound("dir/x.db", integrity.Findings{Broken: 1, Damaged: 2, Stale: 3}), `the database "dir/x.db" is damaged`, inPlace},
		{unsound("dir/x.db", integrity.Findings{Damaged: 2, Stale: 3}), `2 records of the database "dir/x.db" are damaged, by the disk or by another program`,
			"put a backup in its place, or correct what is damaged: PUT with all its fields makes a record whole"},
		{unsound("dir/x.db", integrity.Findings{Damaged: 1}), `1 record of the database "dir/x.db" is damaged, by the disk or by another program`,
			"put a backup in its place, or correct what is damaged: PUT with all its fields makes a record whole"},
		{unsound("dir/x.db", integrity.Findings{Stale: 3}), `the database "dir/x.db" was changed by another program, which left 3 things behind`, atStart},
		{unsound("dir/x.db", integrity.Findings{Stale: 1, Ahead: true}), `the database "dir/x.db" was changed by another program, which left 1 thing behind`, atStart},
		{unsound("dir/x.db", integrity.Findings{Ahead: true}), `the latest time that the database "dir/x.db" has seen is ahead of the clock of this machine`,
			"set the clock; if it is right now: firefighters check --repair --db dir/x.db"},
		{traces(5, file("rewriting", errResultFull), "A", "x.db"), `5 records are erased, but traces of them may be left in the file: rewriting database "dir/x.db": the disk is full`,
			"when there is room and nobody is writing: firefighters purge --tenant A --older-than 100y --db x.db"},
		{traces(1, file("rewriting", errResultFull), "A", "x.db"), `1 record is erased, but traces of it may be left in the file: rewriting database "dir/x.db": the disk is full`,
			"when there is room and nobody is writing: firefighters purge --tenant A --older-than 100y --db x.db"},
		{traces(0, file("rewriting", errResultFull), "A", "x.db"), `traces of erased records may be left in the file: rewriting database "dir/x.db": the disk is full`,
			"when there is room and nobody is writing: firefighters purge --tenant A --older-than 100y --db x.db"},
		{swapped(file("reading", sqlite.ErrNotExist), "x.db", "my saved.db"), `there is no database at "dir/x.db"`,
			"to save that one: firefighters backup NEWFILE --db " + cli.Quote("my saved.db")},
		{swapped(&backup.Error{Op: backup.OpWrite, Path: "dir/saved.db", Err: backup.ErrExists}, "x.db", "dir/saved.db"), `"dir/saved.db" is there already, and it is a database, not a backup`,
			"to save that one: firefighters backup NEWFILE --db dir/saved.db"},
	} {
		t.Run(fmt.Sprint(tt.err), func(t *testing.T) {
			t.Parallel()
			a := database.AdviceOn(tt.err, "x.db")
			if a.Text != tt.text || a.Hint != tt.hint {
				t.Errorf("says:\n%s\nTry: %s\nwant:\n%s\nTry: %s", a.Text, a.Hint, tt.text, tt.hint)
			}
		})
	}
}

// TestAdviceOnRestore: a backup is looked for if it can help, and only then.
func TestAdviceOnRestore(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{
		unsound("x.db", integrity.Findings{Broken: 1}):                   true,
		unsound("x.db", integrity.Findings{Damaged: 1}):                  false,
		swapped(file("reading", sqlite.ErrNotExist), "x.db", "saved.db"): false,
		traces(1, file("rewriting", sqlite.ErrCorrupt), "A", "x.db"):     false,
	} {
		if database.AdviceOn(err, "x.db").Restore != want {
			t.Errorf("%v: a backup is looked for: %t", err, !want)
		}
	}
}
