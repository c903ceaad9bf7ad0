package manage

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/integrity"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

const checkHelp = `Usage: firefighters check [flags]

Checks the whole database: the file itself, the references in it, that its
tables, indexes, triggers and views are those of this program, the counts of each
department, and for each record its checksum and the columns that are computed
for sorting and searching. It may run while the service does.

  firefighters check --db firefighters.db

With --backup-dir it checks the newest backup of the database in that folder in
the same way, without changing it. Of an encrypted one it checks the header, the
length and the SHA-256. With --identity it decrypts that into a private folder,
checks it there, and removes it again.

  firefighters check --backup-dir /mnt/usb/firefighters
  firefighters check --backup-dir /mnt/usb/firefighters --identity key.txt
  firefighters check --db /mnt/usb/monday.db.age --identity key.txt

With --repair it first rebuilds the indexes of the file. It also takes back the
latest time seen if that is ahead of the clock: keys that have expired by that
time only are then valid again. The service computes the counts and these
columns again when it starts, and once a day. A record with a wrong checksum
stays as it is, because no one knows what was there.

Flags:
`

func (c Commands) check(env cli.Env, args []string) error {
	flags := env.Flags("check", checkHelp)
	db := cli.DBFlag(flags)
	repair := flags.Bool("repair", false, "first rebuild the indexes, and take back a latest time seen that is ahead of the clock")
	identity := database.IdentityFlag(flags)
	dir := flags.String("backup-dir", "", "check the newest backup in this `folder` instead of the database")
	flags.SetAnnotation("backup-dir", cli.TypedOnly, nil) // the variable is for serve
	if err := env.Parse(flags, args, 0); err != nil {
		return err
	}
	switch {
	case *repair && (*identity != "" || *dir != ""):
		return cli.Wrong(flags, "--repair is for a database, and --identity and --backup-dir are for a backup")
	case *dir != "":
		return c.checkNewest(env, *db, *dir, *identity)
	case *identity != "":
		return c.checkEncrypted(env, *db, *identity)
	}
	return c.checkDatabase(env, *db, *repair)
}

// checkNewest checks the newest backup of a database in a folder.
func (c Commands) checkNewest(env cli.Env, db, dir, identity string) error {
	if _, err := os.ReadDir(dir); err != nil {
		return cli.WithHint(fmt.Errorf("the folder of backups cannot be read: %w", err), "connect its disk, or name another folder: --backup-dir DIR")
	}
	newest, err := backup.Newest(c.Database, db, dir)
	if err != nil {
		return cli.WithHint(fmt.Errorf("in %s %w, for %s", osutil.InQuotes(dir), err, osutil.InQuotes(db)), "name the right folder with --backup-dir, and the right database with --db")
	}
	if newest.Encrypted && identity != "" {
		return c.checkEncrypted(env, newest.Path, identity)
	}
	found, err := newest.Verify(env.Context, c.Database, func(finding string) { env.Notef("%s", finding) })
	file := osutil.InQuotes(newest.Path)
	switch {
	case err != nil && env.Context.Err() != nil:
		return errors.New("stopped before everything was checked")
	case err != nil:
		return c.adviseUnsound(env, err, newest, db, dir)
	case found.Damaged > 0:
		return cli.WithHint(fmt.Errorf("the newest backup %s has damaged records: %d", file, found.Damaged), "see which: firefighters check --db "+cli.Quote(db))
	case newest.Encrypted:
		env.Note("the backup is encrypted. Its header, its length and its SHA-256 are right. Only the key tells more.", "the same with --identity KEYFILE")
	}
	return env.Println(fmt.Sprintf("The newest backup %s is sound.", file))
}

// adviseUnsound says why the newest backup is of no use, and which one is.
func (c Commands) adviseUnsound(env cli.Env, err error, newest backup.File, db, dir string) error {
	err = fmt.Errorf("the newest backup %s is not sound: %s", osutil.InQuotes(newest.Path), backup.Reason(err))
	if good := backup.NewestValid(env.Context, c.Database, db, dir); good != nil && good.Path != newest.Path {
		err = fmt.Errorf("%w; the newest good one is of %s", err, good.Time.Format(time.RFC3339))
	}
	return cli.WithHint(err, "make a new backup, and have the disk of "+cli.Quote(dir)+" examined: firefighters backup FILE --db "+cli.Quote(db))
}

// checkEncrypted checks an encrypted backup.
func (c Commands) checkEncrypted(env cli.Env, file, identity string) error {
	key, err := database.ReadIdentity(env, identity)
	if err != nil {
		return err
	}
	var found error
	err = backup.WithDecrypted(env.Context, c.Database, file, key, func(plain string) error {
		found = c.checkDatabase(env, plain, false)
		return nil
	})
	if err != nil {
		return c.Database.Advise(env.Context, err, file, "")
	}
	return found
}

func (c Commands) checkDatabase(env cli.Env, db string, repair bool) error {
	if repair { // before it is opened: a small file with a damaged index is not
		err := backup.Inspect(c.Database, db)
		if err == nil {
			err = sqlite.RebuildIndexes(osutil.Resolve(db))
		}
		if err != nil {
			return c.Database.Advise(env.Context, err, db, "")
		}
	}
	return c.Database.With(env, db, false, func(s *store.Store) error {
		// Nothing else leads back from a time far ahead without a loss of later changes.
		if repair && s.Clock().Behind() > integrity.ClockTolerance {
			if err := s.ResetClock(); err != nil {
				return store.Failed("repairing", db, err)
			}
		}
		bar := cli.NewProgress(env, "records")
		found, err := integrity.Check(env.Context, s.DB(), integrity.Options{
			Format:   c.Database.Files,
			Found:    func(finding string) { env.Notef("%s", finding) },
			Progress: bar.Set,
		})
		bar.End()
		switch {
		case err != nil && env.Context.Err() != nil:
			return errors.New("stopped before everything was checked")
		case err != nil:
			return store.Failed("checking", db, err)
		case found != (integrity.Findings{}):
			return unsound(db, found)
		}
		return env.Println("The database is sound.")
	})
}

// unsound says what check has found in a database.
func unsound(db string, found integrity.Findings) database.Advice {
	name, file := "the database "+osutil.InQuotes(db), cli.Quote(db)
	switch {
	case found.Broken > 0:
		return database.Advice{Text: name + " is damaged", Hint: "put a backup in its place: firefighters restore FILE --db " + file, Restore: true}
	case found.Foreign > 0:
		return database.Advice{Text: name + " has tables, indexes, triggers or views that are not as this program makes them",
			Hint: "drop what you have added yourself; if you have not, put a backup in its place: firefighters restore FILE --db " + file, Restore: true}
	case found.Damaged > 0:
		return database.Advice{Text: cli.Count(found.Damaged, "record of "+name+" is damaged", "records of "+name+" are damaged") + ", by the disk or by another program",
			Hint: "put a backup in its place, or correct what is damaged: PUT with all its fields makes a record whole"}
	case found.Stale > 0:
		return database.Advice{Text: fmt.Sprintf("%s was changed by another program, which left %s behind", name, cli.Count(found.Stale, "thing", "things")),
			Hint: "the service corrects that when it starts, and once a day: firefighters serve --db " + file}
	}
	return database.Advice{Text: "the latest time that " + name + " has seen is ahead of the clock of this machine", Hint: "set the clock; if it is right now: firefighters check --repair --db " + file}
}
