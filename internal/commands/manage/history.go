package manage

import (
	"fmt"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

const historyHelp = `Usage: firefighters history --tenant NAME [flags]

Shows who changed which record of a department, when, and what was there
before, the oldest change first. It may run while the service does.

  firefighters history --tenant "Engine 7" --since 30d
  firefighters history --tenant "Engine 7" --id 01a1f83c-64f7-795d-bc35-4c6516093415 --json

Flags:
`

// historyOptions say which changes to show, and how.
type historyOptions struct {
	db, tenant string
	id         string // empty: of all records
	since      string
	asJSON     bool
}

func (c Commands) history(env cli.Env, args []string) error {
	var o historyOptions
	flags := env.Flags("history", historyHelp)
	db, name := cli.DBFlag(flags), cli.TenantFlag(flags, "(required)")
	flags.StringVar(&o.id, "id", "", "only the record with this id")
	flags.StringVar(&o.since, "since", "", "only from then on: 30d or 12h ago, a day (UTC) as 2027-01-31, or a time as 2027-01-31T08:00:00Z")
	flags.BoolVar(&o.asJSON, "json", false, "a line of JSON for each change: at, action, id, key, label, before")
	if err := env.Parse(flags, args, 0); err != nil {
		return err
	}
	o.db, o.tenant = *db, *name
	if err := o.check(); err != nil {
		return cli.Wrong(flags, err.Error())
	}
	if err := requireTenant(flags); err != nil {
		return err
	}
	return c.Database.With(env, o.db, false, func(s *store.Store) error { return o.show(env, s) })
}

// check checks the flags, and makes the id canonical.
func (o *historyOptions) check() error {
	if o.id != "" {
		id, err := store.ParseRecordID(o.id)
		if err != nil {
			return fmt.Errorf("--id must be the id of a record, not %q", o.id)
		}
		o.id = id
	}
	_, err := o.from(time.Now())
	return err
}

// from returns the time from which on to show changes.
func (o historyOptions) from(now time.Time) (time.Time, error) {
	since, err := cli.ParseSince(o.since, now)
	if err != nil {
		return since, cli.WrongTime("since", "30d or 2027-01-31", o.since, err)
	}
	return since, nil
}

func (o historyOptions) show(env cli.Env, s *store.Store) error {
	tenant, err := s.Tenant(o.tenant)
	if err != nil {
		return store.Failed("reading", o.db, err)
	}
	since, err := o.from(s.Clock().Now())
	if err != nil {
		return err
	}
	list := cli.NewList(o.asJSON, "AT", "ACTION", "ID", "KEY", "LABEL", "BEFORE")
	err = s.History(tenant, o.id, since, func(e store.Entry) {
		key, label := "-", "-"
		if e.Key != nil {
			key = fmt.Sprint(*e.Key)
		}
		if e.Label != nil && *e.Label != "" {
			label = *e.Label
		}
		list.Add(e, e.At, e.Action, e.ID, key, label, e.Summary())
	})
	if err != nil {
		return store.Failed("reading", o.db, err)
	}
	return list.Print(env)
}
