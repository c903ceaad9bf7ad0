package database

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// file returns an error about a database in a folder of the test.
func file(op string, err error) error {
	return &sqlite.FileError{Op: op, Path: "dir/x.db", Err: err}
}

// target returns an error about a backup in a folder of the test.
func target(op string, err error) error {
	return &backup.Error{Op: op, Path: "dir/saved.db", Err: err}
}

// TestRules checks that the advice of each rule is complete.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, r := range slices.Concat(writingRules, readingRules, fileRules) {
		a := adviceBy([]rule{r}, file("reading", r.err), "reading", "dir/x.db")
		if a.Text == "" || a.Hint == "" || strings.ContainsAny(a.Text+a.Hint, "{}") || a.Restore != r.restore {
			t.Errorf("%v: %+v", r.err, a)
		}
	}
}

// TestAdvice checks errors that the acceptance tests do not cause. Results of SQLite are like
// those of the engine: each wraps one of its errors.
func TestAdvice(t *testing.T) {
	t.Parallel()
	const again = "the same again, when that program has finished or is closed"
	for _, tt := range []struct {
		err        error
		text, hint string
	}{
		{&sqlite.FileError{Op: "reading", Path: `C:\new\x.db`, Err: sqlite.ErrNotExist}, `there is no database at "C:\new\x.db"`,
			"name the right file with --db, or bring back a backup: firefighters restore FILE --db " + cli.Quote(`C:\new\x.db`)},
		{file("locking", errors.New("no locks here")), `locking database "dir/x.db": no locks here`, ""},
		{file("erasing from", fmt.Errorf("SQLite result 5: %w", sqlite.ErrBusy)), `erasing from database "dir/x.db": the database is locked by another program`, again},
		{errors.Join(file("erasing from", sqlite.ErrBusy), nil), `erasing from database "dir/x.db": the database is locked by another program`, again},
		{file("reading", sqlite.ErrClosed), `reading database "dir/x.db": the database is closed`, ""},
		{file("renaming", &store.TakenError{Name: "b", Existing: "B"}),
			`there is a department "B" already, and "b" differs from it only in case, accents or spaces; nothing was changed`, "another name, or add --new to have both"},
		{file("reading", &record.DamagedError{ID: "0a"}), `the record "0a" is damaged: its fields do not have their checksum`, "see which are: firefighters check --db x.db"},
		{target(backup.OpWrite, fs.ErrInvalid), `writing the backup "dir/saved.db": invalid argument`, ""},
		{target(backup.OpRead, fs.ErrInvalid), `reading the backup "dir/saved.db": invalid argument`, ""},
		{&backup.RoomError{Folder: "dir", Free: 51_300_000, Need: 209_400_000}, `too little room in "dir": 51.3 MB are free, and 209.4 MB must be`,
			"make room there, or take another disk"},
		{errors.New("it broke"), "", ""},
		{cli.Usage("that is wrong", "this"), "", ""},
	} {
		if a := AdviceOn(tt.err, "x.db"); a.Text != tt.text || a.Hint != tt.hint {
			t.Errorf("%v:\n%s\nTry: %s\nwant:\n%s\nTry: %s", tt.err, a.Text, a.Hint, tt.text, tt.hint)
		}
		if err := (Schema{}).Advise(t.Context(), tt.err, "x.db", ""); !errors.Is(err, tt.err) || tt.text != "" && (err.Error() != tt.text || cli.HintOf(err) != tt.hint) {
			t.Errorf("%v has become %v, hint %q", tt.err, err, cli.HintOf(err))
		}
	}
}
