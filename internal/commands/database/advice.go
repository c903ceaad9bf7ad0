package database

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// Advice is what people are told about an error.
type Advice struct {
	Text    string // what is wrong; empty if there is nothing to add to the error
	Hint    string // what to type; may be empty
	Restore bool   // a backup can take the place of the database
}

// advised is an error with the text of its advice.
type advised struct {
	error
	text string
}

func (a *advised) Error() string { return a.text }

func (a *advised) Unwrap() error { return a.error }

// Advise returns err with words for people and a hint what to type, as cli.PrintError
// prints it. If a backup can help it names the newest valid one of the database
// db: one beside it or, unless backupDir is empty, in backupDir. It returns
// errors that it does not know, and nil, as they are.
func (s Schema) Advise(ctx context.Context, err error, db, backupDir string) error {
	a := AdviceOn(err, db)
	if a.Text == "" {
		return err
	}
	if a.Restore {
		a = s.adviseRestore(ctx, err, a, db, backupDir)
	}
	err = &advised{err, a.Text}
	if a.Hint == "" {
		return err
	}
	return cli.WithHint(err, a.Hint)
}

// adviseRestore adds the newest valid backup to an advice.
func (s Schema) adviseRestore(ctx context.Context, err error, a Advice, db, dir string) Advice {
	newest := backup.NewestValid(ctx, s.Content(), db, dir)
	if newest == nil {
		return a
	}
	a.Hint = fmt.Sprintf("firefighters restore %s --db %s", cli.Quote(newest.Path), cli.Quote(db))
	switch {
	case errors.Is(err, sqlite.ErrNotBack):
		a.Hint += "; " + orNew(db)
	case errors.Is(err, sqlite.ErrNotExist):
		a.Hint = "name the right file with --db, or: " + a.Hint
	}
	at := newest.Time.Format(time.RFC3339)
	if newest.Owner != "" {
		a.Text += fmt.Sprintf("; there are backups of more than one database: the newest good one is of %s, of the department %q", at, newest.Owner)
	} else {
		a.Text += "; the newest good backup is of " + at
	}
	return a
}

// orNew is what to type for an empty database in place of one that was lost.
func orNew(db string) string {
	return "or, for a new and empty one: firefighters serve --new --db " + cli.Quote(db)
}

// AdviceOn returns the advice on the first error in the chain of err that it
// knows. db is the database that the command is about.
func AdviceOn(err error, db string) Advice {
	if a := adviceOnCommand(err, db); a.Text != "" {
		return a
	}
	if e, ok := errors.AsType[*backup.RoomError](err); ok {
		return Advice{Text: e.Error(), Hint: "make room there, or take another disk"}
	}
	if a := adviceOnLimits(err); a.Text != "" {
		return a
	}
	if e, ok := errors.AsType[*backup.Error](err); ok {
		if e.Op == backup.OpRead {
			return adviceOnReading(e)
		}
		return adviceOnWriting(e, db)
	}
	if e, ok := errors.AsType[*sqlite.FileError](err); ok {
		return adviceOnFile(e)
	}
	return Advice{}
}

// adviser is an error of a command that has its own advice. db is the database that
// the command is about.
type adviser interface {
	error
	Advice(db string) Advice
}

// adviceOnCommand is about the errors of commands, and those of the store that are
// about records.
func adviceOnCommand(err error, db string) Advice {
	if e, ok := errors.AsType[adviser](err); ok {
		return e.Advice(db)
	}
	if e, ok := errors.AsType[*store.NoTenantError](err); ok {
		return Advice{Text: e.Error(), Hint: See("their names", "departments list", db)}
	}
	if e, ok := errors.AsType[*store.TakenError](err); ok {
		return adviceOnName(e)
	}
	if e, ok := errors.AsType[*store.NotEmptyError](err); ok {
		return adviceOnRecords(e, db)
	}
	if e, ok := errors.AsType[*record.DamagedError](err); ok {
		return Advice{Text: e.Error(), Hint: "see which are: firefighters check --db " + cli.Quote(db)}
	}
	if e, ok := errors.AsType[*store.NotDeletedError](err); ok {
		return Advice{Text: e.Error() + "; nothing was changed", Hint: See("which there are", "deleted --tenant NAME", db)}
	}
	return Advice{}
}

// See returns what to type to see what is in a database.
func See(what, command, db string) string {
	return fmt.Sprintf("see %s: firefighters %s --db %s", what, command, cli.Quote(db))
}

// adviceOnName is about the name of a department that another one has, or nearly.
func adviceOnName(e *store.TakenError) Advice {
	a := Advice{Text: e.Error() + "; nothing was changed", Hint: "another name"}
	if e.Creating {
		a.Hint = "--tenant " + cli.Quote(e.Existing)
	}
	if e.Name != e.Existing {
		a.Hint += ", or the same with --new to have both"
	}
	return a
}

// adviceOnRecords is about a department that is not empty.
func adviceOnRecords(e *store.NotEmptyError, db string) Advice {
	a := Advice{Text: e.Error() + "; nothing was changed", Hint: fmt.Sprintf("firefighters purge --tenant %s --older-than 0s --db %s", cli.Quote(e.Name), cli.Quote(db))}
	if e.Records > 0 {
		a.Hint = "delete its records over the API, then: " + a.Hint
	}
	return a
}

// adviceOnLimits is about limits of the system, and paths that cannot be. SQLite
// reports them as if the file might not be opened.
func adviceOnLimits(err error) Advice {
	doing := ""
	if e, ok := errors.AsType[*backup.Error](err); ok {
		doing = e.Op + " " + osutil.InQuotes(e.Path) + ": "
	} else if e, ok := errors.AsType[*sqlite.FileError](err); ok {
		doing = e.Op + " database " + osutil.InQuotes(e.Path) + ": "
	}
	switch {
	case errors.Is(err, sqlite.ErrNoFiles), osutil.TooManyFiles(err):
		return Advice{Text: doing + sqlite.ErrNoFiles.Error(), Hint: "close other programs, or allow this one more, and then the same again: ulimit -n 4096"}
	case errors.Is(err, syscall.ENOTDIR):
		return Advice{Text: doing + "a part of the path is a file, not a folder", Hint: "name the right file"}
	case errors.Is(err, sqlite.ErrLongPath), osutil.NameTooLong(err):
		return Advice{Text: doing + sqlite.ErrLongPath.Error(), Hint: "a shorter one: a path of up to 200 bytes is never too long"}
	}
	return Advice{}
}

// adviceOnWriting is about a backup that could not be written.
func adviceOnWriting(e *backup.Error, db string) Advice {
	const otherName = "another name for the backup"
	name := osutil.InQuotes(e.Path)
	if sidecar, ok := errors.AsType[*backup.SidecarError](e); ok {
		return Advice{Text: name + " is, or was, a database in use: there is " + osutil.InQuotes(sidecar.Path), Hint: otherName}
	}
	switch {
	case errors.Is(e, backup.ErrNoFolder):
		return adviceOnFolder(e.Path)
	case errors.Is(e, backup.ErrIsDatabase):
		return Advice{Text: name + " is the database itself", Hint: "firefighters backup NEWFILE --db " + cli.Quote(db)}
	case errors.Is(e, sqlite.ErrNotRegular):
		return Advice{Text: name + " is not a file", Hint: otherName}
	case errors.Is(e, backup.ErrExists):
		return Advice{Text: name + " is there already", Hint: "another name, or --force to replace it"}
	case errors.Is(e, backup.ErrUnwritable):
		return Advice{Text: "the folder of " + name + " may not be written", Hint: "start as the user who owns it, or take another folder"}
	case errors.Is(e, osutil.ErrLink):
		return Advice{Text: "writing " + name + ": " + osutil.ErrLink.Error(), Hint: "name the folder that it leads to, or start as that user"}
	case errors.Is(e, sqlite.ErrFull):
		return Advice{Text: "writing " + name + ": " + sqlite.ErrFull.Error(), Hint: "make room there, or take another disk"}
	}
	return Advice{Text: e.Error()}
}

// adviceOnReading is about a backup that could not be read or is of no use.
func adviceOnReading(e *backup.Error) Advice {
	const other = "another backup: firefighters restore --help"
	name := fmt.Sprintf("the backup %s ", osutil.InQuotes(e.Path))
	switch {
	case errors.Is(e, backup.ErrIsDatabase):
		return Advice{Text: osutil.InQuotes(e.Path) + " is the database itself, not a backup of it", Hint: "firefighters restore --help"}
	case errors.As(e, new(*sqlite.SchemaError)):
		return Advice{Text: name + "is not as this program makes it: " + e.Err.Error() + "; nothing was changed", Hint: other, Restore: true}
	case errors.Is(e, backup.ErrEmpty):
		return Advice{Text: name + "holds no department and no records; nothing was changed", Hint: "another one; if it is a copy of a database file, save that database: firefighters backup NEWFILE --db FILE"}
	case errors.Is(e, sqlite.ErrNotRegular):
		return Advice{Text: osutil.InQuotes(e.Path) + " is not a file", Hint: other}
	case errors.Is(e, sqlite.ErrNotExist), errors.Is(e, sqlite.ErrNoFolder):
		return Advice{Text: "there is no backup at " + osutil.InQuotes(e.Path), Hint: "another file: firefighters restore --help"}
	case errors.Is(e, sqlite.ErrReadOnly):
		return Advice{Text: name + "cannot be read from a disk that is read-only; nothing was changed", Hint: readOnlyHint}
	case errors.Is(e, sqlite.ErrPermission):
		return Advice{Text: name + "may not be read; nothing was changed", Hint: "start as the user who owns it"}
	case errors.Is(e, sqlite.ErrCorrupt):
		return Advice{Text: name + "is damaged; nothing was changed", Hint: other, Restore: true}
	case errors.Is(e, sqlite.ErrForeign):
		return Advice{Text: name + "is not a database of this program; nothing was changed", Hint: other, Restore: true}
	}
	if file, ok := errors.AsType[*sqlite.FileError](e); ok {
		return adviceOnFile(file)
	}
	return Advice{Text: e.Error()}
}

// readOnlyHint is for a disk from which SQLite cannot even read a -wal.
const readOnlyHint = "copy the file, and its -wal if there is one, to a folder on another disk, and name it there"

// adviceOnFile is about a database file that cannot be used.
func adviceOnFile(e *sqlite.FileError) Advice {
	if newer, ok := errors.AsType[*sqlite.NewerError](e); ok {
		return Advice{Text: fmt.Sprintf("%s was made by a newer version of this program (schema %d, this one knows %d)", osutil.InQuotes(e.Path), newer.Version, newer.Known),
			Hint: "install the newer version; the file was left as it is"}
	}
	for _, about := range []func(*sqlite.FileError) Advice{adviceOnContent, adviceOnPlace, adviceOnUse, adviceOnDisk} {
		if a := about(e); a.Text != "" {
			return a
		}
	}
	return Advice{Text: e.Error()}
}

// adviceOnContent is about a file that is not what it should be.
func adviceOnContent(e *sqlite.FileError) Advice {
	restore, name := "firefighters restore FILE --db "+cli.Quote(e.Path), osutil.InQuotes(e.Path)
	switch {
	case errors.Is(e, sqlite.ErrNotBack):
		return Advice{"there is no database at " + name + ": " + sqlite.ErrNotBack.Error(), "bring it back: " + restore + "; " + orNew(e.Path), true}
	case errors.Is(e, sqlite.ErrNotExist):
		return Advice{"there is no database at " + name, "name the right file with --db, or bring back a backup: " + restore, true}
	case errors.Is(e, sqlite.ErrForeign):
		return Advice{name + " is not a database of this program", "give another file with --db (this one was left as it is), or, if it was one and is damaged: " + restore, true}
	case errors.Is(e, backup.ErrBadCopy):
		return Advice{"database " + name + " is damaged: a copy of it does not pass the check", "firefighters check --db " + cli.Quote(e.Path), true}
	case errors.Is(e, sqlite.ErrCorrupt):
		return Advice{"database " + name + " is damaged", "put a backup in its place (this file was left as it is): " + restore, true}
	}
	return Advice{}
}

// adviceOnPlace is about a path at which no database can be.
func adviceOnPlace(e *sqlite.FileError) Advice {
	name := osutil.InQuotes(e.Path)
	switch {
	case errors.Is(e, sqlite.ErrNoFolder):
		return adviceOnFolder(e.Path)
	case errors.Is(e, sqlite.ErrNotRegular):
		if info, err := os.Stat(e.Path); err == nil && info.IsDir() {
			return Advice{Text: name + " is a folder", Hint: "name the file in it: --db " + cli.Quote(filepath.Join(e.Path, "firefighters.db"))}
		}
		return Advice{Text: name + " is not a file", Hint: "name the right file with --db"}
	case errors.Is(e, osutil.ErrLink):
		return Advice{Text: e.Op + " " + name + ": " + osutil.ErrLink.Error(), Hint: "name the file that it leads to, or start as that user"}
	case errors.Is(e, sqlite.ErrLinked):
		return Advice{Text: "database " + name + " has another name as well (a hard link), by which it could be served twice and be damaged",
			Hint: "remove the other name, which this shows: find / -xdev -samefile " + cli.Quote(e.Path)}
	}
	return Advice{}
}

// adviceOnFolder is about a file in a folder that does not exist.
func adviceOnFolder(path string) Advice {
	return Advice{Text: fmt.Sprintf("the folder of %s does not exist", osutil.InQuotes(path)), Hint: "make it first: mkdir " + cli.Quote(filepath.Dir(path))}
}

// adviceOnUse is about a database that another program uses.
func adviceOnUse(e *sqlite.FileError) Advice {
	name := "database " + osutil.InQuotes(e.Path)
	switch {
	case errors.Is(e, backup.ErrRestoring):
		return Advice{Text: name + " is being restored", Hint: "again when that is done"}
	case errors.Is(e, backup.ErrOpen):
		return Advice{Text: name + " is in use by another program", Hint: "end that one first"}
	case errors.Is(e, backup.ErrRunning):
		return Advice{Text: "a backup of it is being made by another firefighters", Hint: "again when that is done"}
	case errors.Is(e, sqlite.ErrLost):
		return Advice{Text: name + " cannot be used: " + sqlite.ErrLost.Error(), Hint: "stop the service that has it open, which then says what to type"}
	case errors.Is(e, sqlite.ErrInUse):
		return Advice{Text: name + " is in use: another firefighters serves it", Hint: "stop that one first (the service: firefighters service stop), or give another file with --db"}
	case errors.Is(e, sqlite.ErrBusy):
		return Advice{Text: e.Op + " " + name + ": " + sqlite.ErrBusy.Error(), Hint: "the same again, when that program has finished or is closed"}
	}
	return Advice{}
}

// adviceOnDisk is about a file that the system or the disk does not let be
// read or written.
func adviceOnDisk(e *sqlite.FileError) Advice {
	doing := e.Op + " database " + osutil.InQuotes(e.Path) + ": "
	switch {
	case errors.Is(e, sqlite.ErrReadOnly):
		return Advice{Text: doing + sqlite.ErrReadOnly.Error(), Hint: readOnlyHint}
	case errors.Is(e, sqlite.ErrPermission):
		return Advice{Text: doing + sqlite.ErrPermission.Error(), Hint: "start as the user who owns both, or as an administrator (sudo), or give another file with --db"}
	case errors.Is(e, sqlite.ErrFull):
		return Advice{Text: doing + sqlite.ErrFull.Error(), Hint: "make room on the disk, then try again"}
	case errors.Is(e, sqlite.ErrIO):
		return Advice{Text: e.Error(), Hint: "look whether its disk fails, is full or is gone"}
	case e.Op == "locking":
		return adviceOnLock(e)
	}
	return Advice{}
}

// adviceOnLock is about a lock file that cannot be locked: the one of the
// server, or of backups.
func adviceOnLock(e *sqlite.FileError) Advice {
	lock, cause := e.Path+"-lock", e.Err
	if inner, ok := errors.AsType[*backup.LockError](e); ok {
		lock, cause = inner.Path, inner.Err
	}
	return Advice{Text: fmt.Sprintf("locking database %s by %s: %v", osutil.InQuotes(e.Path), osutil.InQuotes(lock), cause), Hint: "if no other firefighters serves it, delete " + cli.Quote(lock)}
}
