package manage

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/guard"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

func (c Commands) restoreCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "restore FILE",
		Short:      "Replace the database with a backup",
		GroupID:    cli.GroupBackup,
		SuggestFor: []string{"recover"},
		Long: `Check a backup and replace the database with it. The database may be damaged or
missing. No server may be running on it. The old database is kept next to the new
one, as DB.before-restore- and the time. A restore 30 days later deletes it.

Changes made after the backup are lost, with two exceptions. Keys revoked since
then stay revoked. Records permanently deleted (purge) since then stay deleted:
they are listed in the old database, and in erased-ids.txt next to the backup.
restore warns if it can read neither.`,
		Example: `  firefighters restore /mnt/usb/monday.db
  firefighters restore /mnt/usb/monday.db.age --identity key.txt`,
	}
	db := cli.AddDB(cmd)
	identity := database.IdentityFlag(cmd)
	keepErased := cmd.Flags().Bool("keep-erased", false, "also restore records that were permanently deleted since the backup")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		env, file := cli.EnvOf(cmd), args[0]
		key, err := database.ReadIdentity(env, *identity)
		if err != nil {
			return err
		}
		again := cli.CommandLine(cmd, "db") + " --db " + cli.Quote(*db)
		return c.restore(env, backup.Restore{Format: c.Database.Format, File: file, Key: key, Database: *db, KeepErased: *keepErased}, again)
	}
	return cmd
}

// restore runs a restore. again is the command line.
func (c Commands) restore(env cli.Env, r backup.Restore, again string) error {
	isLastState := guard.HasLastState(osutil.Resolve(r.Database), r.File)
	progress := env.StartProgress("Restoring")
	r.Progress = progress.Set
	done, err := r.Run(env.Context)
	progress.End()
	folder := filepath.Dir(r.File)
	switch {
	case err != nil && env.Context.Err() != nil:
		return cli.Unfinished("Stopped. Nothing was changed.", "")
	case err != nil:
		advised := c.Database.Advise(env.Context, err, r.Database, folder) // may recommend another backup in the folder
		if errors.Is(err, sqlite.ErrInUse) {
			return cli.WithHint(advised, "stop the server first; if it is the service: "+cli.AsAdministrator("firefighters service stop"))
		}
		return advised
	}
	if r.KeepErased && osutil.Exists(filepath.Join(folder, backup.ErasedName)) {
		if err := backup.NoteErased(r.Database, folder); err != nil {
			env.Warn(fmt.Sprintf("the list of deleted records next to the backup could not be written: %v", err), "")
		}
	}
	if isLastState { // nothing was permanently deleted and no key was revoked since
		done.ErasedUnknown, done.RevokedUnknown = nil, false
	}
	return reportRestored(env, r, done, again)
}

// reportRestored prints the result and warns of lost changes. again is the command line.
func reportRestored(env cli.Env, r backup.Restore, done backup.Restored, again string) error {
	db, created := cli.Quote(r.Database), errors.Is(done.Unread, sqlite.ErrNotExist)
	err := env.Println(fmt.Sprintf("Restored %s from %s: %s, as it was at %s.",
		db, cli.Quote(r.File), database.Describe(done.Summary), cli.FormatTime(done.Source.Time.UnixMilli())))
	warnOfDamage(env, done.Copy, r.Database)
	if done.Raw {
		env.Warn(cli.Quote(r.File)+" is a copy of a database file, not a backup: the latest changes may be missing", "")
	}
	if done.Kept != "" {
		env.Notef("The old database is kept as %s.", cli.Quote(done.Kept))
	}
	for _, path := range done.Dropped {
		env.Notef("Deleted %s, which an earlier restore had kept.", cli.Quote(path))
	}
	if done.Erased > 0 {
		env.Notef("Records permanently deleted since the backup stay deleted (%d).", done.Erased)
	}
	if done.ErasedUnknown != nil {
		reason := "neither the old database nor " + backup.ErasedName + " lists them"
		if !errors.Is(done.ErasedUnknown, fs.ErrNotExist) {
			reason = fmt.Sprintf("the old database does not list them, and %s cannot be read: %v", backup.ErasedName, done.ErasedUnknown)
		}
		// A restore keeps people who are in the existing database, so the database must be moved first.
		env.Warn("people who were permanently deleted after this backup may be back: "+reason, fmt.Sprintf(
			"copy the newest %s next to the backup, move %s away, and restore again: %s\n", backup.ErasedName, db, again)+
			"or delete these people again on the office page, then: firefighters purge ID --db "+db)
	}
	if done.Revoked > 0 {
		env.Notef("Keys revoked since the backup stay revoked (%d).", done.Revoked)
	}
	noteSettings(env, r.Database)
	switch {
	case created && done.Kept == "":
		env.Notef("Created the database %s with the keys of the backup. See: %s", db, keysListLine(r.Database))
	case done.RevokedUnknown:
		env.Warn("keys that were revoked since the backup may be valid again", keysListLine(r.Database))
	}
	return err
}

// noteSettings reports that the settings of the page do not apply after a restore.
func noteSettings(env cli.Env, db string) {
	c, err := sqlite.Peek(osutil.Resolve(db))
	if err != nil {
		return
	}
	defer c.Close()
	s, err := store.ReadSettings(c)
	if err == nil && s.IsBound() {
		env.Notef("Until an admin confirms Settings on the page, backups go to the folder of the service, and other devices cannot connect.")
	}
}
