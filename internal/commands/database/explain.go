package database

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// Advice is an error with text for people.
type Advice struct {
	Text    string
	Hint    string // a command or other advice; may be empty
	Restore bool   // restoring a backup would help
	cause   error
}

func (a Advice) Error() string { return a.Text }

// Unwrap returns the error that the advice explains.
func (a Advice) Unwrap() error { return a.cause }

// Explain converts the error of a command to text for people. It returns unknown errors, and errors
// with a hint, unchanged.
func (s Schema) Explain(cmd *cobra.Command, err error) error {
	value := func(name string) string {
		if f := cmd.Flags().Lookup(name); f != nil {
			return f.Value.String()
		}
		return ""
	}
	if hint := onService(cmd, err); hint != "" && cli.HintOf(err) == "" {
		return cli.WithHint(err, hint)
	}
	serve := ""
	if cmd.Flags().Lookup(recipientsFlag) != nil {
		serve = cli.CommandLine(cmd)
	}
	return s.advise(cmd.Context(), err, value("db"), value("backup-dir"), serve)
}

// onService returns the hint for an error about the installed service, "" for other errors.
func onService(cmd *cobra.Command, err error) string {
	switch {
	case errors.Is(err, managers.ErrNotPermitted):
		return cli.AsAdministrator(cli.Typed() + strings.TrimPrefix(cli.CommandLine(cmd), cmd.Root().Name()))
	case errors.Is(err, managers.ErrNotInstalled):
		return cli.AsAdministrator(cli.Typed() + " service install")
	case errors.Is(err, managers.ErrUnsupported):
		return "start this program by other means: firefighters serve --db FILE --backup-dir DIR"
	case errors.Is(err, managers.ErrForeign):
		return "stop that service, remove the file and try again"
	}
	return ""
}

// Advise is Explain for the database db, whose backups are next to it and in backupDir, which may be
// empty. If restoring would help, the hint has the newest valid backup.
func (s Schema) Advise(ctx context.Context, err error, db, backupDir string) error {
	return s.advise(ctx, err, db, backupDir, "")
}

// advise is Advise for a command line that serves the database, "" for other commands.
func (s Schema) advise(ctx context.Context, err error, db, backupDir, serve string) error {
	if err == nil || cli.HintOf(err) != "" {
		return err
	}
	if e, ok := errors.AsType[*store.SeveralTenantsError](err); ok {
		return cli.Usage(e.Error(), "name one, such as --department "+cli.Quote(e.Names[0]))
	}
	a := adviceOn(err, db)
	if a.Text == "" {
		return err
	}
	if a.Restore {
		a = s.adviseRestore(ctx, err, a, db, backupDir, serve)
	}
	if a.cause == nil {
		a.cause = err
	}
	if a.Hint == "" {
		return a
	}
	return cli.WithHint(a, a.Hint)
}

// adviseRestore adds the newest valid backup to an advice.
func (s Schema) adviseRestore(ctx context.Context, err error, a Advice, db, dir, serve string) Advice {
	if dir == "" {
		noted, _ := backup.NotedSettings(db)
		dir = noted.Dir
	}
	newest := backup.NewestValid(ctx, s.Format, db, dir)
	if newest == nil {
		return a
	}
	a.Hint = RestoreLine(newest.Path, db)
	switch {
	case errors.Is(err, sqlite.ErrNotBack):
		a.Hint += "; " + OrNew(db)
	case errors.Is(err, backup.ErrMissing):
		if serve == "" {
			serve = "firefighters serve --db " + cli.Quote(db)
			if dir != "" {
				serve += " --backup-dir " + cli.Quote(dir)
			}
		}
		if !strings.Contains(serve, recipientsFlag) {
			serve += EncryptFlag(newest)
		}
		a.Hint += "\nafter that: " + serve + "\nto create an empty database: " + serve + " --new"
	}
	a.Text += "; the newest valid backup was made at " + newest.Time.Format(time.RFC3339)
	return a
}

// RestoreLine returns the command that restores a backup or another copy of a database.
func RestoreLine(file, db string) string {
	identity := ""
	if backup.IsEncrypted(file) {
		identity = " --identity KEYFILE"
	}
	return fmt.Sprintf("firefighters restore %s%s --db %s", cli.Quote(file), identity, cli.Quote(db))
}

// EncryptFlag returns the flag, after a space, that makes a server encrypt its backups to the recipients
// of newest. It returns "" if newest is nil or not encrypted.
func EncryptFlag(newest *backup.File) string {
	if newest == nil || !newest.Encrypted {
		return ""
	}
	return " --" + recipientsFlag + " " + cmp.Or(strings.Join(backup.RecipientsOf(newest.Path), ","), "RECIPIENT")
}

// OrNew returns the end of a hint: how to continue without the lost changes.
func OrNew(db string) string {
	return "or, to continue without the lost changes: firefighters serve --new --db " + cli.Quote(db)
}

// adviceOn returns the advice on err, empty for an unknown error. db is the database of the command.
func adviceOn(err error, db string) Advice {
	if a, ok := errors.AsType[Advice](err); ok {
		return a
	}
	if e, ok := errors.AsType[*store.NoTenantError](err); ok {
		return onTenant(e, db)
	}
	if e, ok := errors.AsType[*store.TakenError](err); ok {
		a := Advice{Text: e.Error()}
		if e.Name != e.Existing {
			a.Hint = "to use this name anyway, add --new"
		}
		return a
	}
	if e, ok := errors.AsType[*store.NotEmptyError](err); ok {
		a := Advice{Text: e.Error(), Hint: "firefighters purge --older-than 0s --department " + cli.Quote(e.Name) + " --db " + cli.Quote(db)}
		if e.Records > 0 {
			a.Hint = "delete its records on the office page, then: " + a.Hint
		}
		return a
	}
	if e, ok := errors.AsType[*record.DamagedError](err); ok {
		return Advice{Text: e.Error(), Hint: "firefighters check --db " + cli.Quote(db)}
	}
	if e, ok := errors.AsType[*store.NotDeletedError](err); ok {
		return Advice{Text: e.Error() + "; nothing was changed", Hint: "firefighters list --deleted --db " + cli.Quote(db)}
	}
	if e, ok := errors.AsType[*backup.Error](err); ok && e.Op == backup.OpRead {
		return onReading(e)
	} else if ok {
		return onWriting(e)
	}
	if e, ok := errors.AsType[*sqlite.FileError](err); ok {
		return onFile(e)
	}
	return Advice{}
}

// onTenant explains that a department does not exist.
func onTenant(e *store.NoTenantError, db string) Advice {
	a := Advice{Text: e.Error(), Hint: "firefighters departments list --db " + cli.Quote(db)}
	if similar := cli.Nearest(e.Name, e.Names); similar != "" {
		a.Hint = "--department " + cli.Quote(similar)
	} else if e.Name == "" {
		a.Hint = "firefighters keys create --db " + cli.Quote(db)
	}
	if e.CanCreate {
		a.Hint += "\nto create the department, add --new"
	}
	return a
}

// onWriting explains that a backup cannot be written.
func onWriting(e *backup.Error) Advice {
	switch {
	case errors.Is(e, backup.ErrNoFolder):
		return noFolder(e.Path)
	case errors.Is(e, backup.ErrExists):
		return Advice{Text: osutil.InQuotes(e.Path) + " already exists", Hint: "to replace it, add --force"}
	}
	return Advice{Text: e.Error()}
}

func noFolder(path string) Advice {
	return Advice{Text: "the folder of " + osutil.InQuotes(path) + " does not exist", Hint: "mkdir " + cli.Quote(filepath.Dir(path))}
}

// onReading explains that a backup cannot be read or restored.
func onReading(e *backup.Error) Advice {
	name := osutil.InQuotes(e.Path)
	if wrong, ok := errors.AsType[*backup.WrongKeyError](e); ok {
		a := Advice{Text: "the key of --identity does not open the backup " + name}
		if len(wrong.To) > 0 {
			a.Hint = "use the key of " + strings.Join(wrong.To, " or ")
		}
		return a
	}
	is := func(target error) bool { return errors.Is(e, target) }
	switch {
	case errors.As(e, new(*sqlite.SchemaError)):
		return Advice{Text: "the backup " + name + " was modified: " + e.Err.Error(), Restore: true}
	case is(backup.ErrEncrypted):
		return Advice{Text: "the backup " + name + " is encrypted", Hint: "add --identity KEYFILE, the file with the secret key"}
	case is(backup.ErrEmpty):
		return Advice{Text: "the backup " + name + " has no department",
			Hint: "if it is a copy of a database file, make a backup of that database instead: firefighters backup NEWFILE --db FILE"}
	case is(sqlite.ErrNotRegular):
		return Advice{Text: name + " is not a file"}
	case is(sqlite.ErrNotExist), is(sqlite.ErrNoFolder):
		return Advice{Text: "there is no backup " + name}
	case is(sqlite.ErrReadOnly):
		return Advice{Text: "the backup " + name + " cannot be read from a read-only disk", Hint: readOnlyHint}
	case is(sqlite.ErrCorrupt):
		return Advice{Text: "the backup " + name + " is damaged", Restore: true}
	case is(sqlite.ErrUnreleased):
		return Advice{Text: "the backup " + name + " was created by an unreleased version of this program",
			Hint: "restore it with that version, export the people, and import them here"}
	case is(sqlite.ErrForeign):
		return Advice{Text: "the backup " + name + " is not a database of this program", Restore: true}
	}
	if file, ok := errors.AsType[*sqlite.FileError](e); ok {
		return onFile(file)
	}
	return Advice{Text: e.Error()}
}

// readOnlyHint is for SQLite, which cannot read a -wal file on a read-only disk.
const readOnlyHint = "copy the file, and its -wal if there is one, to another disk"

// onFile explains that a database file cannot be used.
func onFile(e *sqlite.FileError) Advice {
	name, path := osutil.InQuotes(e.Path), cli.Quote(e.Path)
	restore := "firefighters restore FILE --db " + path
	if newer, ok := errors.AsType[*sqlite.NewerError](e); ok {
		return Advice{Text: fmt.Sprintf("%s was written by a newer version of this program (schema %d; this version supports %d)",
			name, newer.Version, newer.Known),
			Hint: "install the newer version"}
	}
	is := func(target error) bool { return errors.Is(e, target) }
	switch {
	case is(sqlite.ErrNotBack):
		return Advice{Text: "the database " + name + " is incomplete: " + sqlite.ErrNotBack.Error(),
			Hint: restore + "; " + OrNew(e.Path), Restore: true}
	case is(backup.ErrMissing):
		state := "there is no database " + name
		if osutil.Exists(e.Path) {
			state = "the database " + name + " is empty"
		}
		return Advice{Text: state + ", but " + backup.ErrMissing.Error(), Hint: restore, Restore: true}
	case is(sqlite.ErrNotExist):
		return Advice{Text: "there is no database " + name, Hint: "name another file with --db", Restore: true}
	case is(sqlite.ErrForeign) && backup.IsEncrypted(e.Path):
		return Advice{Text: name + " is an encrypted backup, not a database",
			Hint: "to check it: firefighters check --identity KEYFILE --db " + path + "\nto restore it: firefighters restore " + path + " --identity KEYFILE"}
	case is(sqlite.ErrForeign):
		return Advice{Text: name + " is not a database of this program",
			Hint: "name another file with --db; if it was a database and is damaged: " + restore, Restore: true}
	case is(sqlite.ErrUnreleased):
		return Advice{Text: name + " was created by an unreleased version of this program",
			Hint: "export the people with that version, and import them into a new database"}
	case is(sqlite.ErrCorrupt):
		return Advice{Text: "the database " + name + " is damaged", Hint: restore, Restore: true}
	}
	return onAccess(e)
}

// onAccess explains that the path, another program, the system or the disk prevents the use of a file.
func onAccess(e *sqlite.FileError) Advice {
	name, path := osutil.InQuotes(e.Path), cli.Quote(e.Path)
	is := func(target error) bool { return errors.Is(e, target) }
	// Errors of the system and SQLite repeat the file name or have internal details.
	because := func(cause, hint string) Advice {
		return Advice{Text: fmt.Sprintf("%s database %s: %s", e.Op, name, cause), Hint: hint}
	}
	switch {
	case is(sqlite.ErrNoFolder):
		return noFolder(e.Path)
	case is(sqlite.ErrNotRegular):
		return Advice{Text: name + " is not a file"}
	case is(backup.ErrLongName):
		return Advice{Text: e.Error(), Hint: "use a shorter name"}
	case is(sqlite.ErrLinked):
		return Advice{Text: "the database " + name + " also has another name (a hard link): serving it under both names would damage it",
			Hint: "find the other name and remove it: find / -xdev -samefile " + path}
	case is(sqlite.ErrMounted):
		return Advice{Text: "the database " + name + " is itself a mount point: serving it under another path as well would damage it",
			Hint: "mount its folder instead (in Docker: -v with a folder)"}
	case is(sqlite.ErrLockFile):
		return Advice{Text: e.Error(), Hint: fmt.Sprintf("if no firefighters is running, delete %s-lock and %[1]s-backup-lock", path)}
	case is(sqlite.ErrLost):
		return Advice{Text: e.Error(), Hint: "stop the service, which then prints what to do"}
	case is(sqlite.ErrInUse):
		return Advice{Text: "the database " + name + " is in use: another firefighters serves it",
			Hint: "to open its page: firefighters open --db " + path}
	case is(sqlite.ErrBusy):
		return because(sqlite.ErrBusy.Error(), "")
	case is(sqlite.ErrReadOnly):
		return because("the disk is read-only", readOnlyHint)
	case is(sqlite.ErrPermission):
		const asOwner = "run it as the owner of the file, or as an administrator"
		if file := sqlite.Unwritable(e.Path); file != "" && osutil.Writable(filepath.Dir(e.Path)) {
			return because("no permission to read and write "+osutil.InQuotes(file), asOwner+"\nif you are the owner: chmod 600 "+cli.Quote(file))
		}
		return because("no permission to read and write the file or its folder", asOwner)
	case is(sqlite.ErrFull):
		return because(sqlite.ErrFull.Error(), "")
	}
	return Advice{Text: e.Error()}
}

// Cause is osutil.Cause, and also removes the operation and the path of a sqlite.FileError.
func Cause(err error) error {
	if e, ok := errors.AsType[*sqlite.FileError](err); ok {
		return e.Err
	}
	return osutil.Cause(err)
}
