package manage

import (
	"slices"

	"github.com/spf13/pflag"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

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
		id, err := store.ParseRecordID(arg)
		if err != nil {
			return nil, cli.WrongArgument(flags, i, err.Error(), database.See("which there are", "deleted --tenant NAME", flags.Lookup("db").Value.String()))
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
