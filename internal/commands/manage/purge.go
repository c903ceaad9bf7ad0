package manage

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

const purgeHelp = `Usage: firefighters purge --tenant NAME (ID... | --older-than AGE) [flags]
       firefighters purge --finish [flags]

Erases deleted records for good, with their history: only a backup brings them
back. It asks first; --yes answers. What is in backups stays there until those
are deleted. So does what is in the file that an upgrade or a restore has kept
beside the database. At the end it rewrites the file, so that no trace is left
in it. That needs as much free room as the file is large. With a large file it
takes seconds, and a running service may answer 503 to writes meanwhile. If that
fails, --finish does it later.

  firefighters purge --tenant "Engine 7" 01a1f83c-64f7-795d-bc35-4c6516093415
  firefighters purge --tenant "Engine 7" --older-than 7y --yes

Flags:
`

// purgeOptions say which deleted records to erase: those with the ids, or those
// that are older.
type purgeOptions struct {
	db, tenant string
	ids        []string
	olderThan  string
	yes        bool // do not ask
	finish     bool // only rewrite the file
}

func (c Commands) purge(env cli.Env, args []string) error {
	flags := env.Flags("purge", purgeHelp)
	db, name := cli.DBFlag(flags), cli.TenantFlag(flags, "(required)")
	olderThan := flags.String("older-than", "", "those deleted longer ago than that, as 7y, 26w or 90d")
	yes := flags.Bool("yes", false, "do not ask")
	finish := flags.Bool("finish", false, "erase nothing, and only rewrite the file")
	if err := env.Parse(flags, args, cli.AnyNumber); err != nil {
		return err
	}
	ids, err := recordIDs(flags)
	if err != nil {
		return err
	}
	o := purgeOptions{*db, *name, ids, *olderThan, *yes, *finish}
	if err := o.check(); err != nil {
		return cli.Wrong(flags, err.Error())
	}
	if o.finish {
		return c.Database.With(env, *db, false, func(s *store.Store) error { return o.rewrite(env, s, 0) })
	}
	if err := requireTenant(flags); err != nil {
		return err
	}
	return c.Database.With(env, *db, false, func(s *store.Store) error { return o.purge(env, s) })
}

// check checks that there are ids or an age, and the age. --finish goes with
// neither.
func (o purgeOptions) check() error {
	switch {
	case o.finish && (len(o.ids) > 0 || o.olderThan != ""):
		return errors.New("--finish erases no records: leave out their ids and --older-than")
	case o.finish:
		return nil
	case (len(o.ids) > 0) == (o.olderThan != ""):
		return errors.New("say which, by their ids or by --older-than")
	}
	_, err := o.until(time.Now())
	return err
}

// until returns the time before which the records to erase were deleted.
func (o purgeOptions) until(now time.Time) (time.Time, error) {
	if o.olderThan == "" {
		return anyTime, nil
	}
	until, err := cli.ParseAge(o.olderThan, now)
	if err != nil {
		return until, cli.WrongTime("older-than", "7y, 26w or 90d", o.olderThan, err)
	}
	return until, nil
}

func (o purgeOptions) purge(env cli.Env, s *store.Store) error {
	tenant, err := s.Tenant(o.tenant)
	if err != nil {
		return store.Failed("reading", o.db, err)
	}
	until, err := o.until(s.Clock().Earlier())
	if err != nil {
		return err
	}
	records, err := s.Deleted(tenant, until)
	if err != nil {
		return store.Failed("reading", o.db, err)
	}
	if len(o.ids) > 0 {
		missing, chosen := slices.Clone(o.ids), records[:0]
		for _, r := range records {
			if i := slices.Index(missing, r.ID); i >= 0 {
				missing, chosen = slices.Delete(missing, i, i+1), append(chosen, r)
			}
		}
		if len(missing) > 0 {
			return &store.NotDeletedError{ID: missing[0]}
		}
		records = chosen
	}
	if err := o.confirm(env, len(records)); err != nil {
		return err
	}
	erased, err := s.Purge(tenant, records)
	if err != nil {
		return store.Failed("erasing from", o.db, err)
	}
	return o.rewrite(env, s, erased)
}

func (o purgeOptions) confirm(env cli.Env, count int) error {
	if count == 0 || o.yes {
		return nil
	}
	return env.Confirm(fmt.Sprintf("Erase %s of %q for good?", cli.Count(count, "deleted record", "deleted records"), strings.TrimSpace(o.tenant)))
}

// rewrite rewrites the file, also if nothing was erased: the last purge may not
// have had the room for it.
func (o purgeOptions) rewrite(env cli.Env, s *store.Store, erased int) error {
	if err := s.Vacuum(); err != nil {
		return &tracesError{erased, store.Failed("rewriting", o.db, err)}
	}
	switch {
	case o.finish:
		env.Notef("Rewrote the file: no trace of erased records is left in it.")
	case erased == 0:
		env.Notef("There is nothing to erase.")
	default:
		env.Notef("Erased: %d.", erased)
	}
	return nil
}

// tracesError says that the file may hold traces of erased records.
type tracesError struct {
	erased int
	err    error // of rewriting the file
}

func (e *tracesError) Error() string {
	what := "traces of erased records"
	if e.erased > 0 {
		what = cli.Count(e.erased, "record is erased, but traces of it", "records are erased, but traces of them")
	}
	return fmt.Sprintf("%s may be left in the file: %v", what, e.err)
}

func (e *tracesError) Unwrap() error { return e.err }

// Advice says why the file could not be rewritten, and how that is tried again.
func (e *tracesError) Advice(db string) database.Advice {
	cause := errors.New(database.AdviceOn(e.err, db).Text)
	return database.Advice{Text: (&tracesError{e.erased, cause}).Error(),
		Hint: "when there is room and nobody is writing: firefighters purge --finish --db " + cli.Quote(db)}
}
