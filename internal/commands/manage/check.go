package manage

import (
	"errors"
	"fmt"

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

An encrypted backup is decrypted for that into a private folder, and removed again:

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
	if err := env.Parse(flags, args, 0); err != nil {
		return err
	}
	if *identity == "" {
		return c.checkDatabase(env, *db, *repair)
	}
	if *repair {
		return cli.Wrong(flags, "--repair is for a database, and --identity for a backup")
	}
	return c.checkEncrypted(env, *db, *identity)
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
	switch {
	case errors.Is(err, backup.ErrDrilling):
		return errors.New("another check of this backup is under way")
	case err != nil:
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
