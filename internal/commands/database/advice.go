package database

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// Advice is an error in words for people, with what they can type.
type Advice struct {
	Text    string // what is wrong; empty if there is nothing to add to the error
	Hint    string // what to type; may be empty
	Restore bool   // a backup can take the place of the database
	cause   error
}

func (a Advice) Error() string { return a.Text }

// Unwrap returns the error that the advice is about.
func (a Advice) Unwrap() error { return a.cause }

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
	a.cause = err
	if a.Hint == "" {
		return a
	}
	return cli.WithHint(a, a.Hint)
}

// adviseRestore adds the newest valid backup to an advice.
func (s Schema) adviseRestore(ctx context.Context, err error, a Advice, db, dir string) Advice {
	newest := backup.NewestValid(ctx, s, db, dir)
	if newest == nil {
		return a
	}
	identity := ""
	if newest.Encrypted {
		identity = " --identity KEYFILE"
	}
	a.Hint = fmt.Sprintf("firefighters restore %s%s --db %s", cli.Quote(newest.Path), identity, cli.Quote(db))
	switch {
	case errors.Is(err, sqlite.ErrNotBack):
		a.Hint += "; " + OrNew(db)
	case errors.Is(err, sqlite.ErrNotExist):
		a.Hint = "name the right file with --db, or: " + a.Hint
	}
	a.Text += "; the newest good backup is of " + newest.Time.Format(time.RFC3339)
	return a
}

// OrNew is what to type to go on without what was lost.
func OrNew(db string) string {
	return "or, to go on without what was lost: firefighters serve --new --db " + cli.Quote(db)
}

// AdviceOn returns the advice on the first error in the chain of err that it
// knows. db is the database that the command is about.
func AdviceOn(err error, db string) Advice {
	if a := adviceOnCommand(err, db); a.Text != "" {
		return a
	}
	if e, ok := errors.AsType[*backup.RoomError](err); ok {
		return Advice{Text: e.Error(), Hint: roomHint}
	}
	if e, ok := errors.AsType[*backup.Error](err); ok {
		if e.Op == backup.OpRead {
			return adviceOnReading(e)
		}
		return adviceBy(writingRules, e, e.Op, e.Path)
	}
	if e, ok := errors.AsType[*sqlite.FileError](err); ok {
		return adviceOnFile(e)
	}
	return Advice{}
}

// adviceOnCommand is about the errors of commands, and those of the store that are
// about records.
func adviceOnCommand(err error, db string) Advice {
	if a, ok := errors.AsType[Advice](err); ok {
		return a
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
		a.Hint = "write --tenant " + cli.Quote(e.Existing) + " if you mean that one"
	}
	if e.Name != e.Existing {
		a.Hint += ", or add --new to have both"
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

// rule is what to type after an error, with {name} in the place of a path in quotes, {path}
// of the same as a shell takes it, and so on, as adviceBy fills it. Without a text, the text
// is the error itself.
type rule struct {
	err        error
	text, hint string
	restore    bool // as in Advice
}

// adviceBy returns the advice of the first rule for err, which says what failed on a
// path. Without a rule it is the text of the error.
func adviceBy(rules []rule, err error, op, path string) Advice {
	for _, r := range rules {
		if errors.Is(err, r.err) {
			fill := strings.NewReplacer("{name}", osutil.InQuotes(path), "{path}", cli.Quote(path), "{folder}", cli.Quote(filepath.Dir(path)),
				"{op}", op, "{rule}", r.err.Error(), "{restore}", "firefighters restore FILE --db "+cli.Quote(path), "{new}", OrNew(path))
			return Advice{Text: cmp.Or(fill.Replace(r.text), err.Error()), Hint: fill.Replace(r.hint), Restore: r.restore}
		}
	}
	return Advice{Text: err.Error()}
}

const (
	causeText              = "{op} database {name}: {rule}"
	folderText, folderHint = "the folder of {name} does not exist", "make it first: mkdir {folder}"
	roomHint               = "make room there, or take another disk"
	otherBackup            = "another backup: firefighters restore --help"

	// readOnlyHint is for a disk from which SQLite cannot even read a -wal.
	readOnlyHint = "copy the file, and its -wal if there is one, to a folder on another disk, and name it there"
)

// writingRules are about a backup that could not be written.
var writingRules = []rule{
	{err: backup.ErrNoFolder, text: folderText, hint: folderHint},
	{err: backup.ErrExists, text: "{name} is there already", hint: "another name, or --force to replace it"},
	{err: backup.ErrUnwritable, hint: "start as the user who owns it, or take another folder"},
	{err: sqlite.ErrFull, hint: roomHint},
}

// readingRules are about a backup that could not be read or is of no use.
var readingRules = []rule{
	{err: backup.ErrEncrypted, text: "the backup {name} is encrypted; nothing was changed",
		hint: "the same with --identity KEYFILE, a file with the secret key from the safe"},
	{err: backup.ErrEmpty, text: "the backup {name} holds no department and no records; nothing was changed",
		hint: "another one; if it is a copy of a database file, save that database: firefighters backup NEWFILE --db FILE"},
	{err: sqlite.ErrNotRegular, text: "{name} is not a file", hint: otherBackup},
	{err: sqlite.ErrNotExist, text: "there is no backup at {name}", hint: otherBackup},
	{err: sqlite.ErrNoFolder, text: "there is no backup at {name}", hint: otherBackup},
	{err: sqlite.ErrReadOnly, text: "the backup {name} cannot be read from a disk that is read-only; nothing was changed", hint: readOnlyHint},
	{err: sqlite.ErrCorrupt, text: "the backup {name} is damaged; nothing was changed", hint: otherBackup, restore: true},
	{err: sqlite.ErrUnreleased, text: "the backup {name} was created by an unreleased version of this program; nothing was changed",
		hint: "restore it with that version, export the people, and import them here"},
	{err: sqlite.ErrForeign, text: "the backup {name} is not a database of this program; nothing was changed", hint: otherBackup, restore: true},
}

// fileRules are about a database file that cannot be used.
var fileRules = []rule{
	// It is not what it should be.
	{err: sqlite.ErrNotBack, text: "database {name} is not complete: {rule}", hint: "restore it: {restore}; {new}", restore: true},
	{err: sqlite.ErrNotExist, text: "there is no database at {name}", hint: "name the right file with --db, or bring back a backup: {restore}", restore: true},
	{err: sqlite.ErrForeign, text: "{name} is not a database of this program",
		hint: "give another file with --db (this one was left as it is), or, if it was one and is damaged: {restore}", restore: true},
	{err: sqlite.ErrUnreleased, text: "{name} was created by an unreleased version of this program",
		hint: "export the people with that version (firefighters export -o people.xlsx), and import them into a new database here"},
	{err: sqlite.ErrCorrupt, text: "database {name} is damaged", hint: "put a backup in its place (this file was left as it is): {restore}", restore: true},

	// No database can be there.
	{err: sqlite.ErrNoFolder, text: folderText, hint: folderHint},
	{err: sqlite.ErrNotRegular, text: "{name} is not a file", hint: "name a file with --db"},
	{err: sqlite.ErrLinked, text: "database {name} has another name as well (a hard link), by which it could be served twice and be damaged",
		hint: "remove the other name, which this shows: find / -xdev -samefile {path}"},
	{err: sqlite.ErrMounted, text: "database {name} is itself a mount point: through another path it could be served twice and be damaged",
		hint: "mount the folder instead of the file (in Docker: -v with a folder)"},

	// Another program uses it.
	{err: backup.ErrRestoring, hint: "again when that is done"},
	{err: backup.ErrOpen, hint: "end that one first"},
	{err: sqlite.ErrLockFile, hint: "if no other firefighters uses it, delete {path}-lock and {path}-backup-lock"},
	{err: sqlite.ErrLost, text: causeText, hint: "stop the service that has it open, which then says what to type"},
	{err: sqlite.ErrInUse, text: "database {name} is in use: another firefighters serves it",
		hint: "stop that one first (the service: firefighters service stop), or give another file with --db"},
	{err: sqlite.ErrBusy, text: causeText, hint: "the same again, when that program has finished or is closed"},

	// The system or the disk does not let it be read or written.
	{err: sqlite.ErrReadOnly, text: causeText, hint: readOnlyHint},
	{err: sqlite.ErrPermission, text: causeText, hint: "start as the user who owns both, or as an administrator (sudo), or give another file with --db"},
	{err: sqlite.ErrFull, text: causeText, hint: "make room on the disk, then try again"},
}

// adviceOnReading is about a backup that could not be read or is of no use.
func adviceOnReading(e *backup.Error) Advice {
	if errors.As(e, new(*sqlite.SchemaError)) {
		return Advice{Text: "the backup " + osutil.InQuotes(e.Path) + " is not as this program makes it: " + e.Err.Error() + "; nothing was changed", Hint: otherBackup, Restore: true}
	}
	if wrong, ok := errors.AsType[*backup.WrongKeyError](e); ok {
		a := Advice{Text: "the key of --identity does not open the backup " + osutil.InQuotes(e.Path) + "; nothing was changed", Hint: "the key that the backup was encrypted for"}
		if len(wrong.To) > 0 {
			a.Hint = "the key of " + strings.Join(wrong.To, " or of ")
		}
		return a
	}
	a := adviceBy(readingRules, e, e.Op, e.Path)
	if file, ok := errors.AsType[*sqlite.FileError](e); ok && a.Hint == "" {
		return adviceOnFile(file)
	}
	return a
}

// adviceOnFile is about a database file that cannot be used.
func adviceOnFile(e *sqlite.FileError) Advice {
	name := osutil.InQuotes(e.Path)
	if newer, ok := errors.AsType[*sqlite.NewerError](e); ok {
		return Advice{Text: fmt.Sprintf("%s was made by a newer version of this program (schema %d, this one knows %d)", name, newer.Version, newer.Known),
			Hint: "install the newer version; the file was left as it is"}
	}
	if errors.Is(e, sqlite.ErrForeign) && backup.IsEncrypted(e.Path) {
		return Advice{Text: name + " is an encrypted backup, not a database",
			Hint: "firefighters check --identity KEYFILE --db " + cli.Quote(e.Path) + ", or firefighters restore " + cli.Quote(e.Path) + " --identity KEYFILE"}
	}
	return adviceBy(fileRules, e, e.Op, e.Path)
}
