package manage

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

const deletedHelp = `Usage: firefighters deleted --tenant NAME [flags]

Lists the deleted records of a department, those deleted first at the top: the
id, when it was deleted, and what it was.

  firefighters deleted --tenant "Engine 7"

Flags:
`

// anyTime is after every deletion.
var anyTime = time.UnixMilli(math.MaxInt64)

func (c Commands) deleted(env cli.Env, args []string) error {
	flags := env.Flags("deleted", deletedHelp)
	db, name := cli.DBFlag(flags), cli.TenantFlag(flags, "(required)")
	if err := env.Parse(flags, args, 0); err != nil {
		return err
	}
	if err := requireTenant(flags); err != nil {
		return err
	}
	return c.Database.WithTenant(env, *db, *name, func(s *store.Store, tenant record.TenantID) error {
		records, err := s.Deleted(tenant, anyTime)
		if err != nil {
			return store.Failed("reading", *db, err)
		}
		list := cli.NewList(false, "ID", "DELETED", "RECORD")
		for _, r := range records {
			summary := r.Summary()
			if r.Damaged {
				summary += ", (damaged)"
			}
			list.Add(nil, r.ID, cli.FormatTime(r.DeletedAt), summary)
		}
		return list.Print(env)
	})
}

const undeleteHelp = `Usage: firefighters undelete --tenant NAME ID... [flags]

Brings deleted records back, as they were: all of them, or none if one cannot
be brought back. Their ids are the first on their lines of: firefighters deleted

  firefighters undelete --tenant "Engine 7" 01a1f83c-64f7-795d-bc35-4c6516093415

Flags:
`

func (c Commands) undelete(env cli.Env, args []string) error {
	flags := env.Flags("undelete", undeleteHelp)
	db, name := cli.DBFlag(flags), cli.TenantFlag(flags, "(required)")
	if err := env.Parse(flags, args, cli.AnyNumber); err != nil {
		return err
	}
	ids, err := recordIDs(flags)
	switch {
	case err != nil:
		return err
	case len(ids) == 0:
		return cli.Usage("undelete: say which, by their ids", database.See("which there are", "deleted --tenant NAME", *db))
	}
	if err := requireTenant(flags); err != nil {
		return err
	}
	return c.Database.WithTenant(env, *db, *name, func(s *store.Store, tenant record.TenantID) error {
		if err := s.Undelete(tenant, 0, ids); err != nil {
			return store.Failed("writing to", *db, err)
		}
		env.Notef("Brought back: %d.", len(ids))
		return nil
	})
}

// recordIDs reads the arguments, which are ids of records. It returns each once.
func recordIDs(flags *pflag.FlagSet) (ids []string, err error) {
	for i, arg := range flags.Args() {
		id, err := record.ParseID(arg)
		if err != nil {
			return nil, cli.WrongArgument(flags, i, err.Error(), database.See("which there are", "deleted --tenant NAME", flags.Lookup("db").Value.String()))
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

const purgeHelp = `Usage: firefighters purge --tenant NAME (ID... | --older-than AGE) [flags]

Permanently deletes deleted records, with their history: only a restore with
--keep-erased brings them back. It asks first; --yes answers. Backups keep them
until they are deleted, and so do the files that an upgrade or a restore has
kept beside the database: it names these files, each with the day by which it
is gone. At the end it rewrites the database file, so that no trace is left in
it, also if there was nothing to erase. That needs as much free room as the
file is large. With a large file it takes seconds, and a running service may
answer 503 to writes meanwhile.

  firefighters purge --tenant "Engine 7" 01a1f83c-64f7-795d-bc35-4c6516093415
  firefighters purge --tenant "Engine 7" --older-than 7y --yes

Flags:
`

func (c Commands) purge(env cli.Env, args []string) error {
	flags := env.Flags("purge", purgeHelp)
	db, name := cli.DBFlag(flags), cli.TenantFlag(flags, "(required)")
	age := flags.String("older-than", "", "those deleted longer ago than that, as 7y, 26w or 90d")
	yes := flags.Bool("yes", false, "do not ask")
	of := backup.Options{Every: 24 * time.Hour, Keep: 90}
	flags.StringVar(&of.Dir, "backup-dir", "", "the `folder` of the backups that may hold them; by default that of the installed service")
	if err := env.Parse(flags, args, cli.AnyNumber); err != nil {
		return err
	}
	ids, err := recordIDs(flags)
	switch {
	case err != nil:
		return err
	case (len(ids) > 0) == (*age != ""):
		return cli.Wrong(flags, "say which, by their ids or by --older-than")
	}
	until, err := before(*age, time.Now())
	if err != nil {
		return cli.Wrong(flags, cli.WrongTime("older-than", "7y, 26w or 90d", *age).Error())
	}
	if err := requireTenant(flags); err != nil {
		return err
	}
	return c.Database.WithTenant(env, *db, *name, func(s *store.Store, tenant record.TenantID) error {
		records, err := s.Deleted(tenant, until)
		if err != nil {
			return store.Failed("reading", *db, err)
		}
		if records, err = choose(records, ids); err != nil {
			return err
		}
		if len(records) > 0 && !*yes {
			if err := env.Confirm(fmt.Sprintf("Erase %s of %q for good?", cli.Count(len(records), "deleted record", "deleted records"), strings.TrimSpace(*name))); err != nil {
				return err
			}
		}
		return erase(env, s, tenant, *name, records, c.search(env, *db, of))
	})
}

// search returns where the backups of a database are: as the flags say or, without a
// folder, as the installed service has them.
func (c Commands) search(env cli.Env, db string, of backup.Options) backup.Search {
	if installed, known := c.Service.Backups(env, db); known && (of.Dir == "" || osutil.SameFile(of.Dir, installed.Dir)) {
		of = installed
	}
	return backup.Search{Content: c.Database, Database: db, Options: of}
}

// erase erases records, removes their traces from the file, and says which backups still
// hold them.
func erase(env cli.Env, s *store.Store, tenant record.TenantID, name string, records []record.Stored, backups backup.Search) error {
	db := backups.Database
	erased, err := s.Purge(tenant, 0, records)
	if err != nil {
		return store.Failed("erasing from", db, err)
	}
	noteErased(env, backups)
	if err := s.Vacuum(); err != nil {
		return traces(erased, store.Failed("rewriting", db, err), name, db)
	}
	if erased == 0 { // the last purge may not have had the room to rewrite the file
		env.Notef("There is nothing to erase.")
		return nil
	}
	env.Notef("Erased: %d.", erased)
	holders, err := findHolders(env, backups, records)
	if err == nil {
		reportHolders(env, holders)
	}
	return err
}

// noteErased brings the list of erased records beside the backups up to date. The service
// does so with its next backup, but the department may have been removed by then, with its
// history.
func noteErased(env cli.Env, of backup.Search) {
	if !osutil.Exists(of.Options.Dir) {
		return
	}
	if err := backup.NoteErased(of.Content, of.Database, of.Options.Dir); err != nil {
		env.Warn("the list of erased records beside the backups could not be written: "+err.Error(), "")
	}
}

// findHolders finds the backups that still hold one of some records.
func findHolders(env cli.Env, search backup.Search, records []record.Stored) (backup.Holders, error) {
	search.Holds = func(c *sqlite.Conn) (holds bool, err error) {
		for _, r := range records {
			if holds, err = store.HoldsRecord(c, r.ID); holds || err != nil {
				break
			}
		}
		return holds, err
	}
	for _, r := range records {
		if made := time.UnixMilli(r.CreatedAt); search.From.IsZero() || made.Before(search.From) {
			search.From = made
		}
	}
	return search.Run(env.Context)
}

// reportHolders names the files that still hold what was erased, each with the day on which
// it is deleted. Without any it says nothing.
func reportHolders(env cli.Env, found backup.Holders) {
	if found.Away {
		env.Warn("the folder for backups cannot be read, and its backups may hold what was erased", "connect its disk")
	}
	if len(found.Files)+len(found.Unread) > 0 {
		heading, list := backupsInText(found)
		env.Notef("%s:\n\n%s", heading, strings.TrimSuffix(list.String(), "\n"))
	}
}

// backupsInText returns the backups that hold the person, with a heading.
func backupsInText(b backup.Holders) (heading string, list *cli.List) {
	heading, list = "Backups that hold it, if they go on as they are set, and copies beside the database", cli.NewList(false, "FILE", "MADE", "GONE BY")
	switch {
	case b.NotSet:
		heading = "Copies beside the database that hold it. No folder for backups is known: see --backup-dir"
	case b.Away:
		heading = "Copies beside the database that hold it. The folder for backups cannot be read: is its disk connected?"
	}
	for _, f := range b.Files {
		until, name := "not by itself", f.Name()
		if !f.Until.IsZero() {
			until = f.Until.Format(time.DateOnly)
		}
		if f.Encrypted {
			name += " (encrypted, by its date)"
		}
		list.Add(nil, name, cli.FormatTime(f.Time.UnixMilli()), until)
	}
	for _, f := range b.Unread {
		list.Add(nil, f.Name(), cli.FormatTime(f.Time.UnixMilli()), "cannot be read, and may hold it")
	}
	return heading, list
}

// before returns the time that is an age before now, without an age one after every
// deletion.
func before(age string, now time.Time) (time.Time, error) {
	if age == "" {
		return anyTime, nil
	}
	return cli.ParseAge(age, now)
}

// choose returns the records with these ids, without ids all. It is an error if one is
// missing.
func choose(records []record.Stored, ids []string) (chosen []record.Stored, err error) {
	if len(ids) == 0 {
		return records, nil
	}
	for _, id := range ids {
		at := slices.IndexFunc(records, func(r record.Stored) bool { return r.ID == id })
		if at < 0 {
			return nil, &store.NotDeletedError{ID: id}
		}
		chosen = append(chosen, records[at])
	}
	return chosen, nil
}

// traces says that a file that could not be rewritten may hold traces of erased records. The
// hint is a purge that erases no one, which rewrites it.
func traces(erased int, err error, tenant, db string) database.Advice {
	what := "traces of erased records"
	if erased > 0 {
		what = cli.Count(erased, "record is erased, but traces of it", "records are erased, but traces of them")
	}
	return database.Advice{Text: fmt.Sprintf("%s may be left in the file: %s", what, database.AdviceOn(err, db).Text),
		Hint: fmt.Sprintf("when there is room and nobody is writing: firefighters purge --tenant %s --older-than 100y --db %s", cli.Quote(tenant), cli.Quote(db))}
}
