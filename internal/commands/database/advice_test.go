package database

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// Results of SQLite. Like those of the engine, each is one of its errors and has
// a text of its own.
var (
	errResultBusy     = fmt.Errorf("SQLite result 5: %w", sqlite.ErrBusy)
	errResultIO       = fmt.Errorf("SQLite result 10: %w", sqlite.ErrIO)
	errResultCorrupt  = fmt.Errorf("SQLite result 11: %w", sqlite.ErrCorrupt)
	errResultFull     = fmt.Errorf("SQLite result 13: %w", sqlite.ErrFull)
	errResultCantOpen = fmt.Errorf("SQLite result 14: %w", sqlite.ErrPermission)
)

// file returns an error about a database in a folder of the test.
func file(op string, err error) error {
	return &sqlite.FileError{Op: op, Path: "dir/x.db", Err: err}
}

func target(op string, err error) error {
	return &backup.Error{Op: op, Path: "dir/saved.db", Err: err}
}

const (
	inPlaceLeft = "put a backup in its place (this file was left as it is): firefighters restore FILE --db dir/x.db"
	otherNames  = "another name for the backup"
	otherFile   = "another backup: firefighters restore --help"
)

// adviceCase is an error and what is said of it.
type adviceCase struct {
	err        error
	text, hint string
}

var databaseAdvice = []adviceCase{
	{file("reading", sqlite.ErrNotExist), `there is no database at "dir/x.db"`,
		"name the right file with --db, or bring back a backup: firefighters restore FILE --db dir/x.db"},
	{&sqlite.FileError{Op: "reading", Path: `C:\new\x.db`, Err: sqlite.ErrNotExist}, `there is no database at "C:\new\x.db"`,
		"name the right file with --db, or bring back a backup: firefighters restore FILE --db " + cli.Quote(`C:\new\x.db`)},
	{file("reading", sqlite.ErrForeign), `"dir/x.db" is not a database of this program`,
		"give another file with --db (this one was left as it is), or, if it was one and is damaged: firefighters restore FILE --db dir/x.db"},
	{file("opening", sqlite.ErrNotBack), `database "dir/x.db" is not complete: it was lost while it was served, and has not been restored`,
		"restore it: firefighters restore FILE --db dir/x.db; or, to go on without what was lost: firefighters serve --new --db dir/x.db"},
	{file("reading", &sqlite.NewerError{Version: 9, Known: 2}), `"dir/x.db" was made by a newer version of this program (schema 9, this one knows 2)`,
		"install the newer version; the file was left as it is"},
	{file("reading", sqlite.ErrCorrupt), `database "dir/x.db" is damaged`, inPlaceLeft},
	{file("reading", errResultCorrupt), `database "dir/x.db" is damaged`, inPlaceLeft},
	{file("copying", backup.ErrBadCopy), `database "dir/x.db" is damaged: a copy of it does not pass the check`, "firefighters check --db dir/x.db"},
	{file("reading", sqlite.ErrNoFolder), `the folder of "dir/x.db" does not exist`, "make it first: mkdir dir"},
	{file("reading", sqlite.ErrNotRegular), `"dir/x.db" is not a file`, "name the right file with --db"},
	{&sqlite.FileError{Op: "reading", Path: os.TempDir(), Err: sqlite.ErrNotRegular}, fmt.Sprintf("%q is a folder", os.TempDir()),
		"name the file in it: --db " + cli.Quote(filepath.Join(os.TempDir(), "firefighters.db"))},
	{file("opening", sqlite.ErrLinked), `database "dir/x.db" has another name as well (a hard link), by which it could be served twice and be damaged`,
		"remove the other name, which this shows: find / -xdev -samefile dir/x.db"},
	{file("opening", sqlite.ErrMounted), `database "dir/x.db" is itself a mount point: through another path it could be served twice and be damaged`,
		"mount the folder instead of the file (in Docker: -v FOLDER:dir)"},
	{file("opening", sqlite.ErrLost), `database "dir/x.db" cannot be used: another program changed, moved or deleted its files while it was served`,
		"stop the service that has it open, which then says what to type"},
	{file("locking", sqlite.ErrInUse), `database "dir/x.db" is in use: another firefighters serves it`, "stop that one first (the service: firefighters service stop), or give another file with --db"},
	{file("locking", backup.ErrRestoring), `database "dir/x.db" is being restored`, "again when that is done"},
	{file("restoring", backup.ErrOpen), `database "dir/x.db" is in use by another program`, "end that one first"},
	{file("locking", backup.ErrRunning), "a backup of it is being made by another firefighters", "again when that is done"},
	{file("locking", errors.New("no locks here")), `locking database "dir/x.db" by "dir/x.db-lock": no locks here`,
		"if no other firefighters serves it, delete dir/x.db-lock"},
	{file("locking", &backup.LockError{Path: "dir/x.db-backup-lock", Err: errors.New("it is something else")}),
		`locking database "dir/x.db" by "dir/x.db-backup-lock": it is something else`, "if no other firefighters serves it, delete dir/x.db-backup-lock"},
	{file("erasing from", fmt.Errorf("beginning: %w", errResultBusy)), `erasing from database "dir/x.db": the database is locked by another program`,
		"the same again, when that program has finished or is closed"},
	{file("writing to", errResultFull), `writing to database "dir/x.db": the disk is full`, "make room on the disk, then try again"},
	{file("writing to", errResultIO), `writing to database "dir/x.db": ` + errResultIO.Error(), "look whether its disk fails, is full or is gone"},
	{file("opening", errResultCantOpen), `opening database "dir/x.db": the file or its folder may not be read and written`,
		"start as the user who owns both, or as an administrator (sudo), or give another file with --db"},
	{file("making", &fs.PathError{Op: "open", Path: "x", Err: fs.ErrPermission}), `making database "dir/x.db": the file or its folder may not be read and written`,
		"start as the user who owns both, or as an administrator (sudo), or give another file with --db"},
	{file("reading", sqlite.ErrReadOnly), `reading database "dir/x.db": it is on a disk that is read-only`, readOnlyHint},
	{file("reading", sqlite.ErrClosed), `reading database "dir/x.db": the database is closed`, ""},
	{errors.Join(file("locking", sqlite.ErrInUse), nil), `database "dir/x.db" is in use: another firefighters serves it`, "stop that one first (the service: firefighters service stop), or give another file with --db"},

	{file("reading", &store.NoTenantError{Name: "Engine 7"}), `there is no department "Engine 7"`, "see their names: firefighters departments list --db x.db"},
	{file("making a key in", &store.TakenError{Name: "Engine  7", Existing: "Engine 7", Creating: true}),
		`there is a department "Engine 7" already, and "Engine  7" differs from it only in case, accents or spaces; nothing was changed`,
		"write --tenant " + cli.Quote("Engine 7") + " if you mean that one, or add --new to have both"},
	{file("renaming", &store.TakenError{Name: "b", Existing: "B"}),
		`there is a department "B" already, and "b" differs from it only in case, accents or spaces; nothing was changed`,
		"another name, or add --new to have both"},
	{file("renaming", &store.TakenError{Name: "B", Existing: "B"}), `there is a department "B" already; nothing was changed`, "another name"},
	{file("reading", &store.NotEmptyError{Name: "B", Deleted: 2}), `the department "B" is not empty: records: 0, deleted ones: 2; nothing was changed`,
		"firefighters purge --tenant B --older-than 0s --db x.db"},
	{file("reading", &store.NotEmptyError{Name: "B", Records: 1}), `the department "B" is not empty: records: 1, deleted ones: 0; nothing was changed`,
		"delete its records over the API, then: firefighters purge --tenant B --older-than 0s --db x.db"},
	{file("reading", &record.DamagedError{ID: "0a"}), `the record "0a" is damaged: its fields do not have their checksum`, "see which are: firefighters check --db x.db"},
	{file("writing to", &store.NotDeletedError{ID: "0a"}), "the department has no deleted record 0a; nothing was changed",
		"see which there are: firefighters deleted --tenant NAME --db x.db"},
}

var backupAdvice = []adviceCase{
	{target(backup.OpWrite, backup.ErrNoFolder), `the folder of "dir/saved.db" does not exist`, "make it first: mkdir dir"},
	{target(backup.OpWrite, backup.ErrIsDatabase), `"dir/saved.db" is the database itself`, "firefighters backup NEWFILE --db x.db"},
	{target(backup.OpWrite, &backup.SidecarError{Path: "dir/saved.db-wal"}),
		`"dir/saved.db" is, or was, a database in use: there is "dir/saved.db-wal"`, otherNames},
	{target(backup.OpWrite, sqlite.ErrNotRegular), `"dir/saved.db" is not a file`, otherNames},
	{target(backup.OpWrite, backup.ErrExists), `"dir/saved.db" is there already`, "another name, or --force to replace it"},
	{target(backup.OpWrite, backup.ErrUnwritable), `the folder of "dir/saved.db" may not be written`, "start as the user who owns it, or take another folder"},
	{target(backup.OpWrite, errResultFull), `writing "dir/saved.db": the disk is full`, "make room there, or take another disk"},
	{target(backup.OpWrite, fs.ErrInvalid), `writing the backup "dir/saved.db": invalid argument`, ""},
	{&backup.RoomError{Folder: "dir", Free: 51_300_000, Need: 209_400_000}, `too little room in "dir": 51.3 MB are free, and 209.4 MB must be`,
		"make room there, or take another disk"},
	{target(backup.OpRead, backup.ErrIsDatabase), `"dir/saved.db" is the database itself, not a backup of it`, "firefighters restore --help"},
	{target(backup.OpRead, backup.ErrEmpty), `the backup "dir/saved.db" holds no department and no records; nothing was changed`,
		"another one; if it is a copy of a database file, save that database: firefighters backup NEWFILE --db FILE"},
	{target(backup.OpRead, file("reading", sqlite.ErrNotExist)), `there is no backup at "dir/saved.db"`, "another file: firefighters restore --help"},
	{target(backup.OpRead, file("reading", sqlite.ErrNoFolder)), `there is no backup at "dir/saved.db"`, "another file: firefighters restore --help"},
	{target(backup.OpRead, file("reading", errResultCorrupt)), `the backup "dir/saved.db" is damaged; nothing was changed`, otherFile},
	{target(backup.OpRead, file("copying", backup.ErrBadCopy)), `the backup "dir/saved.db" is damaged; nothing was changed`, otherFile},
	{target(backup.OpRead, file("reading", sqlite.ErrForeign)), `the backup "dir/saved.db" is not a database of this program; nothing was changed`, otherFile},
	{target(backup.OpRead, file("reading", sqlite.ErrReadOnly)), `the backup "dir/saved.db" cannot be read from a disk that is read-only; nothing was changed`, readOnlyHint},
	{target(backup.OpRead, file("reading", fs.ErrPermission)), `the backup "dir/saved.db" may not be read; nothing was changed`, "start as the user who owns it"},
	{target(backup.OpRead, file("reading", sqlite.ErrNotRegular)), `"dir/saved.db" is not a file`, otherFile},
	{target(backup.OpRead, fs.ErrInvalid), `reading the backup "dir/saved.db": invalid argument`, ""},

	{errors.New("it broke"), "", ""},
	{cli.Usage("that is wrong", "this"), "", ""},
}

// TestAdvice pins what is said of each error, and that no other error of the
// chain is.
func TestAdvice(t *testing.T) {
	t.Parallel()
	for _, tt := range slices.Concat(databaseAdvice, backupAdvice) {
		t.Run(fmt.Sprint(tt.err), func(t *testing.T) {
			t.Parallel()
			a := AdviceOn(tt.err, "x.db")
			if a.Text != tt.text || a.Hint != tt.hint {
				t.Errorf("says:\n%s\nTry: %s\nwant:\n%s\nTry: %s", a.Text, a.Hint, tt.text, tt.hint)
			}
		})
	}
}

// TestAdviceOnRestore: a backup is looked for if one can help, and only then.
func TestAdviceOnRestore(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		file("reading", sqlite.ErrNotExist), file("reading", sqlite.ErrForeign), file("reading", errResultCorrupt), file("copying", backup.ErrBadCopy),
		target(backup.OpRead, file("reading", sqlite.ErrCorrupt)),
		target(backup.OpRead, file("reading", sqlite.ErrForeign)),
	} {
		if !AdviceOn(err, "x.db").Restore {
			t.Errorf("%v: no backup", err)
		}
	}
	for _, err := range []error{
		file("reading", errResultIO), file("locking", sqlite.ErrInUse), target(backup.OpRead, file("reading", sqlite.ErrNotExist)),
		file("reading", &store.NoTenantError{}), target(backup.OpWrite, backup.ErrExists),
	} {
		if AdviceOn(err, "x.db").Restore {
			t.Errorf("%v: a backup", err)
		}
	}
}

// TestAdvise: the error stays what it is, with other words and a hint.
func TestAdvise(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{errors.New("it broke"), "Error: it broke\n"},
		{file("reading", sqlite.ErrClosed), "Error: reading database \"dir/x.db\": the database is closed\n"},
		{file("locking", sqlite.ErrInUse), "Error: database \"dir/x.db\" is in use: another firefighters serves it\n" +
			"Try: stop that one first (the service: firefighters service stop), or give another file with --db\n"},
		{cli.Usage("that is wrong", "this"), "Error: that is wrong\nTry: this\n"},
	} {
		err := Schema{}.Advise(t.Context(), tt.err, "x.db", "")
		var stderr strings.Builder
		if cli.PrintError(err, &stderr); stderr.String() != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%v: %q, want %q", err, stderr.String(), tt.want)
		}
	}
}
