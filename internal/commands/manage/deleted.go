package manage

import (
	"math"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/store"
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
