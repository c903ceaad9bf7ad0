package manage

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/guard"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

func (c Commands) backupCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "backup FILE",
		Short:      "Back up the database, even while it is served",
		GroupID:    cli.GroupBackup,
		SuggestFor: []string{"save", "dump"},
		Long: `Write a consistent copy of the database to FILE, even while it is served. FILE
appears only when the copy is complete, checked and on disk. It must contain a
dot or a slash.

To restore it: firefighters restore FILE`,
		Example: `  firefighters backup /mnt/usb/monday.db
  firefighters backup /mnt/usb/monday.db.age --backup-encrypt-to age1…
  firefighters backup list`,
	}
	db := cli.AddDB(cmd)
	force := cmd.Flags().Bool("force", false, "replace FILE if it exists")
	var encrypt database.Recipients
	encrypt.AddFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := encrypt.Check(cmd); err != nil {
			return err
		}
		// A misspelt subcommand must not write all personal data to a file.
		if !strings.ContainsAny(args[0], "./"+string(filepath.Separator)) {
			typed := strings.TrimPrefix(cli.CommandLine(cmd), cmd.CommandPath()+" ")
			return cli.Usage(fmt.Sprintf("FILE must contain a dot or a slash, not %q", args[0]),
				cmd.CommandPath()+" ./"+typed+"\nto list backups: firefighters backup list")
		}
		return c.backup(cli.EnvOf(cmd), backup.Job{Format: c.Database.Format, Source: *db, Target: args[0], Force: *force, EncryptTo: encrypt.To})
	}
	cmd.AddCommand(c.backupListCommand(), c.deletePlainCommand())
	return cmd
}

// waitForOther is how long a backup waits for another one, such as the server's at its start.
const waitForOther = 10 * time.Second

func (c Commands) backup(env cli.Env, job backup.Job) error {
	if err := guard.Refuse(osutil.Resolve(job.Source)); err != nil {
		return err
	}
	if err := backup.Inspect(c.Database.Format, job.Source); err != nil {
		return err
	}
	began, progress := time.Now(), env.StartProgress("Backing up")
	job.Progress = progress.Set
	saved, err := job.Run(env.Context)
	for errors.Is(err, backup.ErrRunning) && time.Since(began) < waitForOther && env.Context.Err() == nil {
		time.Sleep(100 * time.Millisecond)
		saved, err = job.Run(env.Context)
	}
	progress.End()
	if err != nil && env.Context.Err() != nil {
		return cli.Unfinished("Stopped. No backup was written.", "")
	}
	if err != nil {
		return err
	}
	err = env.Println(fmt.Sprintf("Saved %s in %s (%s, %.1f seconds).",
		database.Describe(saved.Summary), cli.Quote(job.Target), cli.FormatBytes(saved.Bytes), time.Since(began).Seconds()))
	warnOfDamage(env, saved, job.Source)
	if dir := filepath.Dir(job.Target); osutil.SharedFolder(dir) && len(job.EncryptTo) == 0 {
		env.Warn("every user of this computer may read or delete the backups in "+cli.Quote(dir),
			"encrypt them with --backup-encrypt-to; see firefighters backup-key")
	}
	if saved.Foreign != nil {
		env.Warn(fmt.Sprintf("restore will reject this backup: %v", saved.Foreign), "firefighters check --db "+cli.Quote(job.Source))
	}
	return err
}

// warnOfDamage warns of damaged records in a backup, which the database db has as well.
func warnOfDamage(env cli.Env, saved backup.Copy, db string) {
	if saved.Damaged > 0 {
		env.Warn("the backup contains "+cli.Count(saved.Damaged, "damaged record", "damaged records"), "firefighters check --db "+cli.Quote(db))
	}
}

type backupLine struct {
	File       string  `json:"file"`
	MadeAt     *string `json:"madeAt"`
	Bytes      int64   `json:"bytes"`
	Encrypted  bool    `json:"encrypted"`
	VerifiedAt *string `json:"verifiedAt"` // null if not verified since its creation
}

func (c Commands) backupListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "list",
		Short:      "List the backups created by the server",
		SuggestFor: []string{"ls", "show"},
		Long: `List the backups of the database that the server has created, newest first. Other
files, such as those of firefighters backup FILE, are not listed. Every backup is
checked when it is created. VERIFIED shows when the server last checked it again.`,
		Example: `  firefighters backup list
  firefighters backup list --backup-dir /mnt/usb/firefighters --json`,
	}
	db := cli.AddDB(cmd)
	folder := c.addBackupDir(cmd, db)
	asJSON := cmd.Flags().Bool("json", false, "print each backup as a line of JSON: file, madeAt, bytes, encrypted, verifiedAt")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		dir, err := folder()
		if err != nil {
			return err
		}
		return c.listBackups(cli.EnvOf(cmd), *db, dir, *asJSON)
	}
	return cmd
}

// addBackupDir adds the flag --backup-dir and returns a function for the folder of the server's backups.
func (c Commands) addBackupDir(cmd *cobra.Command, db *string) (folder func() (string, error)) {
	dir := cmd.Flags().String("backup-dir", "", "`folder` of the server's backups (default: from the server's settings)")
	cmd.MarkFlagDirname("backup-dir")
	return func() (string, error) {
		found := cmp.Or(*dir, c.backups(cli.EnvOf(cmd), *db, "").Dir)
		switch {
		case found == "" && !osutil.Exists(*db):
			return "", &sqlite.FileError{Op: "reading", Path: *db, Err: sqlite.ErrNotExist}
		case found == "":
			return "", cli.Usage("the folder of the backups is not known", cli.CommandLine(cmd)+" --backup-dir DIR")
		}
		return found, nil
	}
}

func (c Commands) deletePlainCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "delete-plain",
		Short: "Delete the unencrypted backups created by the server",
		Long: `Delete the backups that the server created before its backups were encrypted.
delete-plain names them and asks for confirmation. It deletes none unless the
newest backup is encrypted and its header and length are right.`,
		Example: `  firefighters backup delete-plain
  firefighters backup delete-plain --backup-dir /mnt/usb/firefighters --yes`,
	}
	db := cli.AddDB(cmd)
	folder := c.addBackupDir(cmd, db)
	yes := cmd.Flags().Bool("yes", false, "do not ask")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		env := cli.EnvOf(cmd)
		dir, err := folder()
		if err != nil {
			return err
		}
		if err := backup.Inspect(c.Database.Format, *db); err != nil {
			return err
		}
		if _, err := os.ReadDir(dir); err != nil {
			return folderError(dir, err)
		}
		plain := backup.PlainIn(*db, dir)
		for _, f := range plain {
			env.Notef("%s", cli.Quote(f.Path))
		}
		if len(plain) > 0 && !*yes {
			if err := env.Confirm(fmt.Sprintf("Delete %s?", database.CountPlain(len(plain)))); err != nil {
				return err
			}
		}
		deleted, err := backup.DeletePlain(env.Context, c.Database.Format, *db, dir, plain)
		if err != nil {
			return err
		}
		return env.Println(fmt.Sprintf("Deleted %s.", database.CountPlain(deleted)))
	}
	return cmd
}

// backups returns the backup settings of the server for a database. If they are unknown, or dir is
// another folder, it returns only dir.
func (c Commands) backups(env cli.Env, db, dir string) backup.Options {
	matches := func(settings backup.Options, known bool) bool {
		return known && settings.Dir != "" && (dir == "" || osutil.SameFile(dir, settings.Dir))
	}
	if noted, known := backup.NotedSettings(db); matches(noted, known) {
		return noted
	}
	if installed, known := c.Service.Backups(env, db); matches(installed, known) {
		return installed
	}
	return backup.Options{Dir: dir}
}

// folderError returns the error for an unreadable backup folder.
func folderError(dir string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the folder %s does not exist", osutil.InQuotes(dir))
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return fmt.Errorf("the folder %s cannot be read: %w", osutil.InQuotes(dir), err)
}

func (c Commands) listBackups(env cli.Env, db, dir string, asJSON bool) error {
	all, err := backup.List(db, dir)
	switch {
	case err != nil:
		return folderError(dir, err)
	case len(all) == 0:
		env.Notef("There are no backups of %s made by the server in %s.", osutil.InQuotes(db), osutil.InQuotes(dir))
		return nil
	}
	list := cli.NewList(asJSON, "CREATED", "AGE", "SIZE", "FILE", "ENCRYPTED", "VERIFIED")
	for _, f := range all {
		at, encrypted, verified := f.Time.UnixMilli(), "no", int64(0)
		if f.Encrypted {
			encrypted = "yes"
		}
		if f.Verified != nil {
			verified = f.Verified.UnixMilli()
		}
		list.Add(backupLine{f.Path, store.Moment(at), f.Bytes, f.Encrypted, store.Moment(verified)},
			cli.FormatTime(at), cli.FormatSpan(time.Since(f.Time)), cli.FormatBytes(f.Bytes), f.Name(), encrypted, cli.FormatTime(verified))
	}
	if !asJSON {
		env.Notef("Backups in %s:\n", cli.Quote(dir))
	}
	return list.Print(env)
}
