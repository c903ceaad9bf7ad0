package manage

import (
	"errors"
	"fmt"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/integrity"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

const checkHelp = `Usage: firefighters check [flags]

Checks the whole database: the file itself, the references in it, that its
tables, indexes, triggers and views are those of this program, the counts of each
department, and for each record its checksum and the columns that are computed
for sorting and searching. It may run while the service does.

  firefighters check --db firefighters.db

With --repair it computes the counts and these columns again. It also takes
back the latest time seen if that is ahead of the clock: keys that have expired
by that time only are then valid again. It leaves a record with a wrong checksum
alone, because nobody knows what was there.

Flags:
`

func (c Commands) check(env cli.Env, args []string) error {
	flags := env.Flags("check", checkHelp)
	db := cli.DBFlag(flags)
	repair := flags.Bool("repair", false, "repair the counts, the computed columns and the latest time seen")
	if err := env.Parse(flags, args, 0); err != nil {
		return err
	}
	return c.Database.With(env, *db, false, func(s *store.Store) error {
		bar := cli.NewProgress(env, "records", 0)
		found, err := integrity.Check(env.Context, s.DB(), integrity.Options{
			Repair:     *repair,
			Format:     c.Database.Format,
			ResetClock: s.ResetClock,
			Found:      func(finding string) { env.Notef("%s", finding) },
			Progress:   bar.Set,
		})
		bar.End()
		switch {
		case err != nil && env.Context.Err() != nil:
			return errors.New("stopped before everything was checked")
		case err != nil:
			return store.Failed("checking", *db, err)
		}
		return reportFindings(env, *db, found, *repair)
	})
}

func reportFindings(env cli.Env, db string, found integrity.Findings, repaired bool) error {
	repairs := found.Stale
	if found.Ahead {
		repairs++
	}
	if repaired && found.Broken+found.Foreign+found.Damaged == 0 && repairs > 0 {
		return env.Println(fmt.Sprintf("Repaired: %d. The database is sound.", repairs))
	}
	if found != (integrity.Findings{}) {
		return &unsoundError{db, found}
	}
	return env.Println("The database is sound.")
}

// unsoundError says what check has found in a database.
type unsoundError struct {
	db string
	integrity.Findings
}

func (e *unsoundError) Error() string {
	name := "the database " + osutil.InQuotes(e.db)
	switch {
	case e.Broken > 0:
		return name + " is damaged"
	case e.Foreign > 0:
		return name + " has tables, indexes, triggers or views that are not as this program makes them"
	case e.Damaged > 0:
		return cli.Count(e.Damaged, "record of "+name+" is damaged", "records of "+name+" are damaged") + ", by the disk or by another program"
	case e.Stale > 0:
		return fmt.Sprintf("%s was changed by another program, which left %s behind", name, cli.Count(e.Stale, "thing", "things"))
	}
	return "the latest time that " + name + " has seen is ahead of the clock of this machine"
}

// Advice is what people are told about what check has found.
func (e *unsoundError) Advice(string) database.Advice {
	a := database.Advice{Text: e.Error(), Hint: "firefighters check --repair --db " + cli.Quote(e.db)}
	switch {
	case e.Broken > 0:
		a.Hint, a.Restore = "put a backup in its place: firefighters restore FILE --db "+cli.Quote(e.db), true
	case e.Foreign > 0:
		a.Hint, a.Restore = "drop what you have added yourself; if you have not, put a backup in its place: firefighters restore FILE --db "+cli.Quote(e.db), true
	case e.Damaged > 0:
		a.Hint = "put a backup in its place, or correct what is damaged: PUT with all its fields makes a record whole"
	case e.Stale == 0:
		a.Hint = "set the clock; if it is right now: " + a.Hint
	}
	return a
}
