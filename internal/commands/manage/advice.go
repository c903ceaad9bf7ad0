package manage

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
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// advice is what people are told about an error.
type advice struct {
	text    string // what is wrong; empty if there is nothing to add to the error
	hint    string // what to type; may be empty
	restore bool   // a backup can take the place of the database
}

// advised is an error with the text of its advice.
type advised struct {
	error
	text string
}

func (a *advised) Error() string { return a.text }

func (a *advised) Unwrap() error { return a.error }

// Advise returns err with words for people and a hint what to type, as cli.Report
// prints it. If a backup can help it names the newest valid one of the database
// db: one beside it or, unless backupDir is empty, in backupDir. It returns
// errors that it does not know, and nil, as they are.
func (p Program) Advise(ctx context.Context, err error, db, backupDir string) error {
	a := adviceOn(err, db)
	if a.text == "" {
		return err
	}
	if a.restore {
		a = p.adviseRestore(ctx, err, a, db, backupDir)
	}
	err = &advised{err, a.text}
	if a.hint == "" {
		return err
	}
	return cli.WithHint(err, a.hint)
}

// adviseRestore adds the newest valid backup to an advice.
func (p Program) adviseRestore(ctx context.Context, err error, a advice, db, dir string) advice {
	newest := backup.NewestValid(ctx, p.Content, db, dir)
	if newest == nil {
		return a
	}
	a.hint = fmt.Sprintf("firefighters restore %s --db %s", cli.Quote(newest.Path), cli.Quote(db))
	switch {
	case errors.Is(err, store.ErrNotBack):
		a.hint += "; " + orNew(db)
	case errors.Is(err, store.ErrNotExist):
		a.hint = "name the right file with --db, or: " + a.hint
	}
	at := newest.Time.Format(time.RFC3339)
	if newest.Owner != "" {
		a.text += fmt.Sprintf("; there are backups of more than one database: the newest good one is of %s, of the department %q", at, newest.Owner)
	} else {
		a.text += "; the newest good backup is of " + at
	}
	return a
}

// orNew is what to type for an empty database in place of one that was lost.
func orNew(db string) string {
	return "or, for a new and empty one: firefighters serve --new --db " + cli.Quote(db)
}

// adviceOn returns the advice on the first error in the chain of err that it
// knows. db is the database that the command is about.
func adviceOn(err error, db string) advice {
	if a := adviceOnCommand(err, db); a.text != "" {
		return a
	}
	if e, ok := errors.AsType[*backup.RoomError](err); ok {
		return advice{text: e.Error(), hint: "make room there, or take another disk"}
	}
	if a := adviceOnLimits(err); a.text != "" {
		return a
	}
	if e, ok := errors.AsType[*backup.Error](err); ok {
		if e.Op == backup.OpRead {
			return adviceOnReading(e)
		}
		return adviceOnWriting(e, db)
	}
	if e, ok := errors.AsType[*store.FileError](err); ok {
		return adviceOnFile(e)
	}
	return advice{}
}

// adviceOnCommand is about the errors of this package, and those of the store
// that are about records.
func adviceOnCommand(err error, db string) advice {
	if e, ok := errors.AsType[*unsoundError](err); ok {
		return adviceOnFindings(e)
	}
	if e, ok := errors.AsType[*tracesError](err); ok {
		inner := adviceOn(e.err, db)
		return advice{text: (&tracesError{e.erased, errors.New(inner.text)}).Error(),
			hint: "when there is room and nobody is writing: firefighters purge --finish --db " + cli.Quote(db)}
	}
	if e, ok := errors.AsType[*swappedError](err); ok {
		text := adviceOn(e.error, db).text
		if errors.Is(e, backup.ErrExists) {
			text += ", and it is a database, not a backup"
		}
		return advice{text: text, hint: "to save that one: firefighters backup NEWFILE --db " + cli.Quote(e.target)}
	}
	if e, ok := errors.AsType[noKeyError](err); ok {
		return advice{text: e.Error(), hint: see("their ids", "keys list", db)}
	}
	if e, ok := errors.AsType[*store.NoTenantError](err); ok {
		return advice{text: e.Error(), hint: see("their names", "departments list", db)}
	}
	if e, ok := errors.AsType[*store.TakenError](err); ok {
		return adviceOnName(e)
	}
	if e, ok := errors.AsType[*store.NotEmptyError](err); ok {
		return adviceOnRecords(e, db)
	}
	if e, ok := errors.AsType[*store.DamagedError](err); ok {
		return advice{text: e.Error(), hint: "see which are: firefighters check --db " + cli.Quote(db)}
	}
	if e, ok := errors.AsType[*store.NotDeletedError](err); ok {
		return advice{text: e.Error() + "; nothing was changed", hint: see("which there are", "deleted --tenant NAME", db)}
	}
	return advice{}
}

// see is what to type to see what is in a database.
func see(what, command, db string) string {
	return fmt.Sprintf("see %s: firefighters %s --db %s", what, command, cli.Quote(db))
}

// adviceOnName is about the name of a department that another one has, or nearly.
func adviceOnName(e *store.TakenError) advice {
	a := advice{text: e.Error() + "; nothing was changed", hint: "another name"}
	if e.Creating {
		a.hint = "--tenant " + cli.Quote(e.Existing)
	}
	if e.Name != e.Existing {
		a.hint += ", or the same with --new to have both"
	}
	return a
}

// adviceOnRecords is about a department that is not empty.
func adviceOnRecords(e *store.NotEmptyError, db string) advice {
	a := advice{text: e.Error() + "; nothing was changed", hint: fmt.Sprintf("firefighters purge --tenant %s --older-than 0s --db %s", cli.Quote(e.Name), cli.Quote(db))}
	if e.Records > 0 {
		a.hint = "delete its records over the API, then: " + a.hint
	}
	return a
}

func adviceOnFindings(e *unsoundError) advice {
	a := advice{text: e.Error(), hint: "firefighters check --repair --db " + cli.Quote(e.db)}
	switch {
	case e.Broken > 0:
		a.hint, a.restore = "put a backup in its place: firefighters restore FILE --db "+cli.Quote(e.db), true
	case e.Foreign > 0:
		a.hint, a.restore = "drop what you have added yourself; if you have not, put a backup in its place: firefighters restore FILE --db "+cli.Quote(e.db), true
	case e.Damaged > 0:
		a.hint = "put a backup in its place, or correct what is damaged: PUT with all its fields makes a record whole"
	case e.Stale == 0:
		a.hint = "set the clock; if it is right now: " + a.hint
	}
	return a
}

// adviceOnLimits is about limits of the system, and paths that cannot be. SQLite
// reports them as if the file might not be opened.
func adviceOnLimits(err error) advice {
	doing := ""
	if e, ok := errors.AsType[*backup.Error](err); ok {
		doing = e.Op + " " + osutil.InQuotes(e.Path) + ": "
	} else if e, ok := errors.AsType[*store.FileError](err); ok {
		doing = e.Op + " database " + osutil.InQuotes(e.Path) + ": "
	}
	switch {
	case errors.Is(err, store.ErrNoFiles), osutil.TooManyFiles(err):
		return advice{text: doing + store.ErrNoFiles.Error(), hint: "close other programs, or allow this one more, and then the same again: ulimit -n 4096"}
	case errors.Is(err, syscall.ENOTDIR):
		return advice{text: doing + "a part of the path is a file, not a folder", hint: "name the right file"}
	case errors.Is(err, store.ErrLongPath), osutil.NameTooLong(err):
		return advice{text: doing + store.ErrLongPath.Error(), hint: "a shorter one: a path of up to 200 bytes is never too long"}
	}
	return advice{}
}

// adviceOnWriting is about a backup that could not be written.
func adviceOnWriting(e *backup.Error, db string) advice {
	const otherName = "another name for the backup"
	name := osutil.InQuotes(e.Path)
	if sidecar, ok := errors.AsType[*backup.SidecarError](e); ok {
		return advice{text: name + " is, or was, a database in use: there is " + osutil.InQuotes(sidecar.Path), hint: otherName}
	}
	switch {
	case errors.Is(e, backup.ErrNoFolder):
		return adviceOnFolder(e.Path)
	case errors.Is(e, backup.ErrIsDatabase):
		return advice{text: name + " is the database itself", hint: "firefighters backup NEWFILE --db " + cli.Quote(db)}
	case errors.Is(e, store.ErrNotRegular):
		return advice{text: name + " is not a file", hint: otherName}
	case errors.Is(e, backup.ErrExists):
		return advice{text: name + " is there already", hint: "another name, or --force to replace it"}
	case errors.Is(e, backup.ErrUnwritable):
		return advice{text: "the folder of " + name + " may not be written", hint: "start as the user who owns it, or take another folder"}
	case errors.Is(e, osutil.ErrLink):
		return advice{text: "writing " + name + ": " + osutil.ErrLink.Error(), hint: "name the folder that it leads to, or start as that user"}
	case errors.Is(e, store.ErrFull):
		return advice{text: "writing " + name + ": " + store.ErrFull.Error(), hint: "make room there, or take another disk"}
	}
	return advice{text: e.Error()}
}

// adviceOnReading is about a backup that could not be read or is of no use.
func adviceOnReading(e *backup.Error) advice {
	const other = "another backup: firefighters restore --help"
	name := fmt.Sprintf("the backup %s ", osutil.InQuotes(e.Path))
	switch {
	case errors.Is(e, backup.ErrIsDatabase):
		return advice{text: osutil.InQuotes(e.Path) + " is the database itself, not a backup of it", hint: "firefighters restore --help"}
	case errors.As(e, new(*store.SchemaError)):
		return advice{text: name + "is not as this program makes it: " + e.Err.Error() + "; nothing was changed", hint: other, restore: true}
	case errors.Is(e, backup.ErrEmpty):
		return advice{text: name + "holds no department and no records; nothing was changed", hint: "another one; if it is a copy of a database file, save that database: firefighters backup NEWFILE --db FILE"}
	case errors.Is(e, store.ErrNotRegular):
		return advice{text: osutil.InQuotes(e.Path) + " is not a file", hint: other}
	case errors.Is(e, store.ErrNotExist), errors.Is(e, store.ErrNoFolder):
		return advice{text: "there is no backup at " + osutil.InQuotes(e.Path), hint: "another file: firefighters restore --help"}
	case errors.Is(e, store.ErrReadOnly):
		return advice{text: name + "cannot be read from a disk that is read-only; nothing was changed", hint: readOnlyHint}
	case errors.Is(e, store.ErrPermission):
		return advice{text: name + "may not be read; nothing was changed", hint: "start as the user who owns it"}
	case errors.Is(e, store.ErrCorrupt):
		return advice{text: name + "is damaged; nothing was changed", hint: other, restore: true}
	case errors.Is(e, store.ErrForeign):
		return advice{text: name + "is not a database of this program; nothing was changed", hint: other, restore: true}
	}
	if file, ok := errors.AsType[*store.FileError](e); ok {
		return adviceOnFile(file)
	}
	return advice{text: e.Error()}
}

// readOnlyHint is for a disk from which SQLite cannot even read a -wal.
const readOnlyHint = "copy the file, and its -wal if there is one, to a folder on another disk, and name it there"

// adviceOnFile is about a database file that cannot be used.
func adviceOnFile(e *store.FileError) advice {
	if newer, ok := errors.AsType[*store.NewerError](e); ok {
		return advice{text: fmt.Sprintf("%s was made by a newer version of this program (schema %d, this one knows %d)", osutil.InQuotes(e.Path), newer.Version, newer.Known),
			hint: "install the newer version; the file was left as it is"}
	}
	for _, about := range []func(*store.FileError) advice{adviceOnContent, adviceOnPlace, adviceOnUse, adviceOnDisk} {
		if a := about(e); a.text != "" {
			return a
		}
	}
	return advice{text: e.Error()}
}

// adviceOnContent is about a file that is not what it should be.
func adviceOnContent(e *store.FileError) advice {
	restore, name := "firefighters restore FILE --db "+cli.Quote(e.Path), osutil.InQuotes(e.Path)
	switch {
	case errors.Is(e, store.ErrNotBack):
		return advice{"there is no database at " + name + ": " + store.ErrNotBack.Error(), "bring it back: " + restore + "; " + orNew(e.Path), true}
	case errors.Is(e, store.ErrNotExist):
		return advice{"there is no database at " + name, "name the right file with --db, or bring back a backup: " + restore, true}
	case errors.Is(e, store.ErrForeign):
		return advice{name + " is not a database of this program", "give another file with --db (this one was left as it is), or, if it was one and is damaged: " + restore, true}
	case errors.Is(e, backup.ErrBadCopy):
		return advice{"database " + name + " is damaged: a copy of it does not pass the check", "firefighters check --db " + cli.Quote(e.Path), true}
	case errors.Is(e, store.ErrCorrupt):
		return advice{"database " + name + " is damaged", "put a backup in its place (this file was left as it is): " + restore, true}
	}
	return advice{}
}

// adviceOnPlace is about a path at which no database can be.
func adviceOnPlace(e *store.FileError) advice {
	name := osutil.InQuotes(e.Path)
	switch {
	case errors.Is(e, store.ErrNoFolder):
		return adviceOnFolder(e.Path)
	case errors.Is(e, store.ErrNotRegular):
		if info, err := os.Stat(e.Path); err == nil && info.IsDir() {
			return advice{text: name + " is a folder", hint: "name the file in it: --db " + cli.Quote(filepath.Join(e.Path, "firefighters.db"))}
		}
		return advice{text: name + " is not a file", hint: "name the right file with --db"}
	case errors.Is(e, osutil.ErrLink):
		return advice{text: e.Op + " " + name + ": " + osutil.ErrLink.Error(), hint: "name the file that it leads to, or start as that user"}
	case errors.Is(e, store.ErrLinked):
		return advice{text: "database " + name + " has another name as well (a hard link), by which it could be served twice and be damaged",
			hint: "remove the other name, which this shows: find / -xdev -samefile " + cli.Quote(e.Path)}
	}
	return advice{}
}

// adviceOnFolder is about a file in a folder that does not exist.
func adviceOnFolder(path string) advice {
	return advice{text: fmt.Sprintf("the folder of %s does not exist", osutil.InQuotes(path)), hint: "make it first: mkdir " + cli.Quote(filepath.Dir(path))}
}

// adviceOnUse is about a database that another program uses.
func adviceOnUse(e *store.FileError) advice {
	name := "database " + osutil.InQuotes(e.Path)
	switch {
	case errors.Is(e, backup.ErrRestoring):
		return advice{text: name + " is being restored", hint: "again when that is done"}
	case errors.Is(e, backup.ErrOpen):
		return advice{text: name + " is in use by another program", hint: "end that one first"}
	case errors.Is(e, backup.ErrRunning):
		return advice{text: "a backup of it is being made by another firefighters", hint: "again when that is done"}
	case errors.Is(e, store.ErrLost):
		return advice{text: name + " cannot be used: " + store.ErrLost.Error(), hint: "stop the service that has it open, which then says what to type"}
	case errors.Is(e, store.ErrInUse):
		return advice{text: name + " is in use: another firefighters serves it", hint: "stop that one first (the service: firefighters service stop), or give another file with --db"}
	case errors.Is(e, store.ErrBusy):
		return advice{text: e.Op + " " + name + ": " + store.ErrBusy.Error(), hint: "the same again, when that program has finished or is closed"}
	}
	return advice{}
}

// adviceOnDisk is about a file that the system or the disk does not let be
// read or written.
func adviceOnDisk(e *store.FileError) advice {
	doing := e.Op + " database " + osutil.InQuotes(e.Path) + ": "
	switch {
	case errors.Is(e, store.ErrReadOnly):
		return advice{text: doing + store.ErrReadOnly.Error(), hint: readOnlyHint}
	case errors.Is(e, store.ErrPermission):
		return advice{text: doing + store.ErrPermission.Error(), hint: "start as the user who owns both, or as an administrator (sudo), or give another file with --db"}
	case errors.Is(e, store.ErrFull):
		return advice{text: doing + store.ErrFull.Error(), hint: "make room on the disk, then try again"}
	case errors.Is(e, store.ErrIO):
		return advice{text: e.Error(), hint: "look whether its disk fails, is full or is gone"}
	case e.Op == "locking":
		return adviceOnLock(e)
	}
	return advice{}
}

// adviceOnLock is about a lock file that cannot be locked: the one of the
// server, or of backups.
func adviceOnLock(e *store.FileError) advice {
	lock, cause := e.Path+"-lock", e.Err
	if inner, ok := errors.AsType[*backup.LockError](e); ok {
		lock, cause = inner.Path, inner.Err
	}
	return advice{text: fmt.Sprintf("locking database %s by %s: %v", osutil.InQuotes(e.Path), osutil.InQuotes(lock), cause), hint: "if no other firefighters serves it, delete " + cli.Quote(lock)}
}
