package manage

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/integrity"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

func (c Commands) checkCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "check",
		Short:      "Check the database, or its newest backup",
		GroupID:    cli.GroupBackup,
		SuggestFor: []string{"verify", "fsck", "drill", "repair"},
		Long: `Check the whole database, even while it is served: the file, its tables, and every
record.

With --backup-dir, check the newest backup that the server has created in that
folder instead. With --identity, check the newest encrypted one, decrypted.
Without it, only the header and length of an encrypted one are checked, and the
SHA-256 of the last one of the server.

With --repair, first rebuild the indexes, and rewrite a file that may contain
traces of permanently deleted records. The database stores the latest time it
has seen. If the clock was ahead once, --repair corrects that time: keys that
expired only because of it are then valid again. Damaged records are not repaired.`,
		Example: `  firefighters check
  firefighters check --backup-dir /mnt/usb/firefighters --identity key.txt
  firefighters check --db /mnt/usb/monday.db.age --identity key.txt`,
	}
	db := cli.AddDB(cmd)
	repair := cmd.Flags().Bool("repair", false, "first rebuild the indexes, and undo the effect of a clock that was ahead")
	identity := database.IdentityFlag(cmd)
	dir := cmd.Flags().String("backup-dir", "", "check the newest backup created by the server in this `folder` instead")
	cmd.MarkFlagDirname("backup-dir")
	cmd.MarkFlagsMutuallyExclusive("repair", "identity")
	cmd.MarkFlagsMutuallyExclusive("repair", "backup-dir")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		env := cli.EnvOf(cmd)
		switch {
		case *dir != "":
			return c.checkNewest(env, *db, *dir, *identity)
		case *identity != "":
			return c.checkEncrypted(env, *db, *identity)
		}
		return c.checkDatabase(env, *db, *repair)
	}
	return cmd
}

func (c Commands) checkNewest(env cli.Env, db, dir, identity string) error {
	if _, err := os.ReadDir(dir); err != nil {
		return folderError(dir, err)
	}
	newest, err := backup.Newest(db, dir, identity != "")
	if errors.Is(err, backup.ErrNone) {
		return fmt.Errorf("there are no backups of %s made by the server in %s", osutil.InQuotes(db), osutil.InQuotes(dir))
	}
	if err != nil {
		return fmt.Errorf("looking for a backup of %s in %s: %w", osutil.InQuotes(db), osutil.InQuotes(dir), err)
	}
	if newest.Encrypted {
		defer database.WarnOfPlain(env, db, dir)
	}
	if identity != "" {
		return c.checkEncrypted(env, newest.Path, identity)
	}
	var findings findings
	progress := env.StartProgress("Checking the newest backup")
	found, err := newest.Verify(env.Context, c.Database.Format, findings.add)
	progress.End()
	findings.print(env)
	file := osutil.InQuotes(newest.Path)
	switch {
	case err != nil && env.Context.Err() != nil:
		return errStopped
	case err != nil:
		return c.unsoundBackup(env, err, newest, db, dir)
	case found.Damaged > 0:
		err = fmt.Errorf("the newest backup %s contains %s", file, cli.Count(found.Damaged, "damaged record", "damaged records"))
		return cli.WithHint(err, "firefighters check --db "+cli.Quote(db))
	case newest.Encrypted:
		env.Note("the backup is encrypted. Its header and length are right; the rest can only be checked with its key.",
			"repeat the command with --identity KEYFILE")
	}
	return env.Println(fmt.Sprintf("The newest backup %s is sound.", file))
}

// errStopped is the outcome of a check that the user stopped.
var errStopped = cli.Unfinished("Stopped. Not everything was checked.", "")

// findings are lines to print after the progress.
type findings []string

func (f *findings) add(finding string) { *f = append(*f, finding) }

func (f findings) print(env cli.Env) {
	for _, finding := range f {
		env.Notef("%s", finding)
	}
}

// unsoundBackup returns the error for an invalid newest backup, with the newest valid one.
func (c Commands) unsoundBackup(env cli.Env, err error, newest backup.File, db, dir string) error {
	text := fmt.Sprintf("the newest backup is not sound: %v", err)
	if errors.Is(err, backup.ErrUnsound) {
		text = fmt.Sprintf("the newest backup %s is not sound", osutil.InQuotes(newest.Path))
	}
	if good := backup.NewestValid(env.Context, c.Database.Format, db, dir); good != nil && good.Path != newest.Path {
		text += "; the newest valid backup is from " + good.Time.Format(time.RFC3339)
	}
	return cli.WithHint(errors.New(text), "create a new backup, if possible on another disk: firefighters backup FILE --db "+cli.Quote(db))
}

func (c Commands) checkEncrypted(env cli.Env, file, identity string) error {
	key, err := database.ReadIdentity(env, identity)
	if err != nil {
		return err
	}
	return reportCheck(env, file, func(report func(string)) (backup.Copy, error) {
		return backup.VerifyDecrypted(env.Context, c.Database.Format, file, key, report)
	})
}

// checkOld checks a database with an older schema version, which opening it would upgrade.
func (c Commands) checkOld(env cli.Env, db string) error {
	env.Notef("The database has the schema of an older version. The next start upgrades it.")
	return reportCheck(env, db, func(func(string)) (backup.Copy, error) { return backup.CheckInUse(env.Context, c.Database.Format, db) })
}

func reportCheck(env cli.Env, file string, check func(report func(string)) (backup.Copy, error)) error {
	var findings findings
	progress := env.StartProgress("Checking")
	found, err := check(findings.add)
	progress.End()
	findings.print(env)
	switch {
	case err != nil && env.Context.Err() != nil:
		return errStopped
	case errors.Is(err, backup.ErrUnsound):
		return fmt.Errorf("%s is not sound", osutil.InQuotes(file))
	case err != nil:
		return err
	case found.Damaged > 0:
		return fmt.Errorf("%s contains %s", osutil.InQuotes(file), cli.Count(found.Damaged, "damaged record", "damaged records"))
	}
	return env.Println("The database is sound.")
}

func (c Commands) checkDatabase(env cli.Env, db string, repair bool) error {
	if repair { // before opening, which fails for a small file with a damaged index
		if err := backup.Inspect(c.Database.Format, db); err != nil {
			return err
		}
		if err := sqlite.RebuildIndexes(osutil.Resolve(db)); err != nil {
			return err
		}
	}
	if version := c.Database.Format.HeaderVersion(osutil.Resolve(db)); !repair && 0 < version && version < c.Database.Format.Version {
		return c.checkOld(env, db)
	}
	return c.Database.With(env, db, false, func(s *store.Store) error {
		// Nothing else corrects a time far ahead without losing later changes.
		if repair && s.Clock().Behind() > integrity.ClockTolerance {
			if err := s.ResetClock(); err != nil {
				return store.Failed("repairing", db, err)
			}
		}
		if _, traces, err := s.Erasures(); repair && traces && err == nil {
			if err := rewrite(env, s, db); err != nil {
				return err
			}
		}
		var findings findings
		progress := env.StartProgress("Checking records")
		options := integrity.Options{Format: c.Database.Format, Found: findings.add, Progress: progress.Set}
		found, err := integrity.Check(env.Context, s.DB(), options)
		progress.End()
		_, traces, traceErr := s.Erasures()
		findings.print(env)
		switch {
		case err != nil && env.Context.Err() != nil:
			return errStopped
		case err != nil:
			return store.Failed("checking", db, err)
		case found != (integrity.Findings{}):
			return unsound(db, found)
		case traceErr != nil:
			return store.Failed("checking", db, traceErr)
		case traces:
			return cli.WithHint(errors.New("traces of permanently deleted data may be left in the file"), rewriteLine(db))
		}
		return env.Println("The database is sound.")
	})
}

// unsound returns the error for a database with findings.
func unsound(db string, found integrity.Findings) error {
	name, file := "the database "+osutil.InQuotes(db), cli.Quote(db)
	switch {
	case found.Broken > 0:
		return database.Advice{Text: name + " is damaged", Hint: "firefighters restore FILE --db " + file, Restore: true}
	case found.Foreign > 0:
		return database.Advice{Text: name + " has tables, indexes, triggers or views that another program has changed",
			Hint: "undo the change or restore a backup: firefighters restore FILE --db " + file, Restore: true}
	case found.Damaged > 0:
		what := cli.Count(found.Damaged, "record of "+name+" is damaged", "records of "+name+" are damaged")
		return cli.WithHint(errors.New(what+", by the disk or by another program"),
			"restore a backup, or replace each damaged record with PUT")
	case found.Stale > 0:
		err := fmt.Errorf("%s was changed by another program and has %s", name, cli.Count(found.Stale, "inconsistency", "inconsistencies"))
		return cli.WithHint(err, "the server corrects them at startup: firefighters serve --db "+file)
	}
	return cli.WithHint(fmt.Errorf("%s has seen a time that is ahead of the clock of this computer", name),
		"set the clock, or if it is right: firefighters check --repair --db "+file)
}
