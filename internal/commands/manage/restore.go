package manage

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/guard"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

const restoreHelp = `Usage: firefighters restore FILE [flags]

Replaces the database by a backup. The database may be damaged or missing. No
server may run on it. The backup is checked first. What was there is kept beside
the database, as DB.before-restore- and the time, until you delete it.

  firefighters restore /mnt/usb/firefighters-monday.db --db /var/lib/firefighters/firefighters.db
  firefighters restore /mnt/usb/monday.db.age --identity key.txt

What was written after the backup is not in it. Keys that were made after it are
unknown. Keys that were revoked after it stay revoked, if the old database can
still be read. Who was erased (purge) after it stays erased: the old database
says who, and the list erased-ids.txt in the folder of the backup. If
neither does, restore warns: the old database may be missing, damaged, another
one, or older than the backup.

Flags:
`

func (c Commands) restore(env cli.Env, args []string) error {
	flags := env.Flags("restore", restoreHelp)
	db := cli.DBFlag(flags)
	identity := database.IdentityFlag(flags)
	keepErased := flags.Bool("keep-erased", false, "bring back also who was erased since the backup")
	file, err := env.ParseOne(flags, args, "say which backup to restore")
	if err != nil {
		return err
	}
	key, err := database.ReadIdentity(env, *identity)
	if err != nil {
		return err
	}
	isLastState := guard.HasLastState(osutil.Resolve(*db), file)
	progress, end := cli.CopyProgress(env)
	again := cli.TypedLine(flags, 1, "db")
	done, err := backup.Restore{Content: c.Database, File: file, Key: key, Database: *db, KeepErased: *keepErased, Progress: progress}.Run(env.Context)
	end()
	if err == nil && *keepErased && osutil.Exists(filepath.Join(filepath.Dir(file), backup.ErasedName)) {
		if err := backup.NoteErased(c.Database, *db, filepath.Dir(file)); err != nil {
			env.Warn("the list of erased records beside the backup could not be written: "+err.Error(), "")
		}
	}
	switch {
	case err != nil && env.Context.Err() != nil:
		return errors.New("stopped; nothing was changed")
	case err != nil:
		return c.Database.Advise(env.Context, err, *db, filepath.Dir(file))
	}
	if isLastState { // nobody was erased and no key was revoked since
		done.ErasedUnknown, done.RevokedUnknown = nil, false
	}
	return reportRestored(env, file, *db, done, again)
}

// reportRestored prints the result, and where the old database is. again is the command
// line without --db.
func reportRestored(env cli.Env, file, db string, done backup.Restored, again string) error {
	err := env.Println(fmt.Sprintf("Restored %s from %s: %s, as it was at %s.",
		cli.Quote(db), cli.Quote(file), done.Text, cli.FormatTime(done.Source.Time.UnixMilli())))
	warnOfDamage(env, done.Copy, db)
	if done.Raw {
		env.Warn(cli.Quote(file)+" is a copy of a database file and not a backup: what was written last may be missing.", "")
	}
	if done.Kept != "" {
		env.Notef("What was there is kept as %s.", cli.Quote(done.Kept))
	}
	reportErased(env, db, done, again+" --db "+cli.Quote(db))
	reportKeys(env, db, done)
	return err
}

// reportErased prints how many records stay erased, and warns if others may be back.
func reportErased(env cli.Env, db string, done backup.Restored, again string) {
	if done.Erased > 0 {
		env.Notef("Records that were erased since the backup and stay erased: %d.", done.Erased)
	}
	if done.ErasedUnknown == nil {
		return
	}
	reason := "neither the old database nor " + backup.ErasedName + " lists them."
	if !errors.Is(done.ErasedUnknown, fs.ErrNotExist) {
		reason = fmt.Sprintf("the old database does not list them, and %s cannot be read: %v", backup.ErasedName, done.ErasedUnknown)
	}
	env.Warn("people who were permanently deleted after this backup may be back: "+reason, deleteAgain(db, again))
}

// deleteAgain returns the commands that permanently delete people who may be back. A restore
// does not delete people whom the old database has, so the restored database must go first.
func deleteAgain(db, again string) string {
	on := " --db " + cli.Quote(db)
	return fmt.Sprintf("copy the newest %s next to the backup, move %s away, and restore again: %s\n", backup.ErasedName, cli.Quote(db), again) +
		"without " + backup.ErasedName + ", delete these people on the office page, then see the names of the departments: firefighters departments list" + on + "\n" +
		"list their ids: firefighters deleted --tenant NAME" + on + "\n" +
		"permanently delete them by their ids: firefighters purge --tenant NAME ID" + on
}

func reportKeys(env cli.Env, db string, done backup.Restored) {
	missing := errors.Is(done.Unread, sqlite.ErrNotExist)
	if missing {
		env.Notef("Made the database %s.", cli.Quote(db))
	}
	if done.Revoked > 0 {
		env.Notef("Keys that were revoked since the backup and stay revoked: %d.", done.Revoked)
	}
	switch {
	case missing && done.Kept == "":
		env.Notef("Its keys are those of the backup. See: firefighters keys list --db %s", cli.Quote(db))
	case done.RevokedUnknown:
		env.Warn("keys that were revoked since the backup are valid again. See: firefighters keys list --db "+cli.Quote(db), "")
	}
}
