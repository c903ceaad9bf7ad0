package manage

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/backup"
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
says who, and the list erased-ids.txt in the folder of the backup.

With --with-settings FILE is one that backup --with-settings has made on another
PC. Its settings and the authority of its certificate are put in place, too, for
service install. Everybody must sign in again. Without --db it goes to the folder
of the service, which may not be installed yet.

  firefighters restore --with-settings move.tar

Flags:
`

func (c Commands) restore(env cli.Env, args []string) error {
	flags := env.Flags("restore", restoreHelp)
	db := cli.DBFlag(flags)
	identity := database.IdentityFlag(flags)
	keepErased := flags.Bool("keep-erased", false, "bring back also who was erased since the backup")
	all := flags.Bool("with-settings", false, "with the settings and the authority of another PC, which backup --with-settings has put into FILE")
	file, err := env.ParseOne(flags, args, "say which backup to restore")
	if err != nil {
		return err
	}
	key, err := database.ReadIdentity(env, *identity)
	if err != nil {
		return err
	}
	progress, end := cli.CopyProgress(env)
	if *all {
		defer end()
		return c.restoreAll(env, backup.Restore{Content: c.Database, File: file, Key: key, Database: *db, KeepErased: *keepErased, Progress: progress}, flags.Changed("db"))
	}
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
	return reportRestored(env, file, *db, done)
}

// reportRestored says what was done, and where the old database is.
func reportRestored(env cli.Env, file, db string, done backup.Restored) error {
	err := env.Println(fmt.Sprintf("Restored %s from %s: %s, as it was at %s.",
		cli.Quote(db), cli.Quote(file), done.Text, cli.FormatTime(done.AsOf.UnixMilli())))
	warnOfDamage(env, done.Copy, db)
	if done.Raw {
		env.Warn(cli.Quote(file)+" is a copy of a database file and not a backup: what was written last may be missing.", "")
	}
	if done.Kept != "" {
		env.Notef("What was there is kept as %s.", cli.Quote(done.Kept))
	}
	reportErased(env, db, done)
	reportKeys(env, db, done)
	return err
}

// reportErased says whether the restore has brought back nobody who was erased.
func reportErased(env cli.Env, db string, done backup.Restored) {
	again := "erase them again: firefighters purge --db " + cli.Quote(db)
	switch {
	case done.Erased > 0:
		env.Notef("Records that were erased since the backup and stay erased: %d.", done.Erased)
	case done.ErasedUnknown != nil && !errors.Is(done.ErasedUnknown, sqlite.ErrNotExist):
		env.Warn("people who were erased since the backup are back. If there were any, "+again, "")
	}
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
	case done.Unread != nil:
		env.Warn("keys that were revoked since the backup are valid again. See: firefighters keys list --db "+cli.Quote(db), "")
	}
}
