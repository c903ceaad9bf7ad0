package manage

import (
	"fmt"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

const historyHelp = `Usage: firefighters history --tenant NAME [flags]

Shows who changed which record of a department, when, and what was there
before, the oldest change first. It may run while the service does.

  firefighters history --tenant "Engine 7" --since 30d
  firefighters history --tenant "Engine 7" --id 01a1f83c-64f7-795d-bc35-4c6516093415 --json

Flags:
`

func (c Commands) history(env cli.Env, args []string) error {
	flags := env.Flags("history", historyHelp)
	db, name := cli.DBFlag(flags), cli.TenantFlag(flags, "(required)")
	id := flags.String("id", "", "only the record with this id")
	since := flags.String("since", "", "only from then on: 30d or 12h ago, a day (UTC) as 2027-01-31, or a time as 2027-01-31T08:00:00Z")
	asJSON := flags.Bool("json", false, "a line of JSON for each change: at, action, id, key, label, before")
	if err := env.Parse(flags, args, 0); err != nil {
		return err
	}
	if *id != "" {
		canonical, err := record.ParseID(*id)
		if err != nil {
			return cli.Wrong(flags, fmt.Sprintf("--id must be the id of a record, not %q", *id))
		}
		*id = canonical
	}
	from, err := cli.ParseSince(*since, time.Now())
	if err != nil {
		return cli.Wrong(flags, cli.WrongTime("since", "30d or 2027-01-31", *since).Error())
	}
	if err := requireTenant(flags); err != nil {
		return err
	}
	return c.Database.WithTenant(env, *db, *name, func(s *store.Store, tenant record.TenantID) error {
		list := cli.NewList(*asJSON, "AT", "ACTION", "ID", "KEY", "LABEL", "BEFORE")
		err := s.History(tenant, *id, from, func(e store.Entry) {
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
			return store.Failed("reading", *db, err)
		}
		return list.Print(env)
	})
}
