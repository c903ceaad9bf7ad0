package manage

import (
	"fmt"
	"strings"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

const departmentsHelp = `Usage: firefighters departments list|rename|remove [flags]

Lists departments, renames one, and removes one that has no records. A new
department comes with its first key (firefighters keys create --tenant NAME) or
with its first import.

  firefighters departments list
  firefighters departments rename default "Engine 7"
  firefighters departments remove "Ladder 1"

Each has more to say: firefighters departments remove --help
`

func (c Commands) departments() []cli.Command {
	return []cli.Command{
		{Name: "list", Also: "ls show", Run: c.departmentsList},
		{Name: "rename", Also: "mv move", Run: c.departmentsRename},
		{Name: "remove", Also: "rm delete del", Run: c.departmentsRemove},
	}
}

const departmentsListHelp = `Usage: firefighters departments list [flags]

Prints a line for each department, in the order in which they were made: its
name, how many records it has, how many deleted ones, how many active keys
(sessions of browsers are not counted), and when it was made.

  firefighters departments list

Flags:
`

func (c Commands) departmentsList(env cli.Env, args []string) error {
	flags := env.Flags("departments list", departmentsListHelp)
	db := cli.DBFlag(flags)
	asJSON := flags.Bool("json", false, "a line of JSON for each department: name, records, deleted, activeKeys, createdAt")
	if err := env.Parse(flags, args, 0); err != nil {
		return err
	}
	return c.Database.With(env, *db, false, func(s *store.Store) error {
		list := cli.NewList(*asJSON, "NAME", "RECORDS", "DELETED", "ACTIVE KEYS", "CREATED")
		err := s.Tenants(func(d store.TenantInfo) {
			list.Add(departmentLine{d.Name, d.Records, d.Deleted, d.ActiveKeys, store.Moment(d.CreatedAt)},
				d.Name, fmt.Sprint(d.Records), fmt.Sprint(d.Deleted), fmt.Sprint(d.ActiveKeys), cli.FormatTime(d.CreatedAt))
		})
		if err != nil {
			return store.Failed("listing the departments of", *db, err)
		}
		return list.Print(env)
	})
}

// departmentLine is a department in JSON.
type departmentLine struct {
	Name       string  `json:"name"`
	Records    int64   `json:"records"`
	Deleted    int64   `json:"deleted"`
	ActiveKeys int64   `json:"activeKeys"`
	CreatedAt  *string `json:"createdAt"`
}

const departmentsRenameHelp = `Usage: firefighters departments rename OLD NEW [flags]

Changes the name of a department. Its records and its keys stay as they are. A
name that differs from another department's only in case, accents or spaces is
refused without --new.

  firefighters departments rename default "Engine 7"

Flags:
`

func (c Commands) departmentsRename(env cli.Env, args []string) error {
	flags := env.Flags("departments rename", departmentsRenameHelp)
	db := cli.DBFlag(flags)
	isNew := flags.Bool("new", false, "take the name also if that of another department is nearly the same")
	if err := env.Parse(flags, args, 2); err != nil {
		return err
	}
	if flags.NArg() < 2 {
		return cli.Wrong(flags, "say which department, and its new name")
	}
	old := flags.Arg(0)
	name, err := record.NormalizeName(flags.Arg(1))
	if err != nil {
		return cli.Wrong(flags, "the new name "+err.Error())
	}
	return c.Database.WithTenant(env, *db, old, func(s *store.Store, tenant record.TenantID) error {
		if err := s.RenameTenant(tenant, name, *isNew); err != nil {
			return store.Failed("renaming a department in", *db, err)
		}
		env.Notef("The department %q is now %q.", strings.TrimSpace(old), name)
		return nil
	})
}

const departmentsRemoveHelp = `Usage: firefighters departments remove NAME [flags]

Removes a department that has no records, deleted ones included, with its keys
and its history. It asks first if it has active keys or sessions; --yes answers.

  firefighters departments remove "Ladder 1"

Deleted records go by: firefighters purge --tenant NAME --older-than 0s

Flags:
`

func (c Commands) departmentsRemove(env cli.Env, args []string) error {
	flags := env.Flags("departments remove", departmentsRemoveHelp)
	db := cli.DBFlag(flags)
	yes := flags.Bool("yes", false, "do not ask")
	name, err := env.ParseOne(flags, args, "say which department to remove")
	if err != nil {
		return err
	}
	name = strings.TrimSpace(name)
	return c.Database.WithTenant(env, *db, name, func(s *store.Store, tenant record.TenantID) error {
		if err := s.HasNoRecords(tenant); err != nil {
			return store.Failed("reading", *db, err)
		}
		if !*yes {
			if err := confirmRemoval(env, s, *db, name); err != nil {
				return err
			}
		}
		keys, err := s.RemoveTenant(tenant)
		if err != nil {
			return store.Failed("removing a department from", *db, err)
		}
		env.Notef("Removed the department %q. Keys that went with it: %d.", name, keys)
		return nil
	})
}

// confirmRemoval asks whether to remove a department, if it has active keys, phones or
// sessions.
func confirmRemoval(env cli.Env, s *store.Store, db, name string) error {
	active, now := 0, s.Clock().Now()
	err := s.ListKeys(name, func(k store.Key, _ string) {
		if k.State(now) == store.StateActive && (k.IsSession() || k.OpenedBy == 0) { // without calendars of phones
			active++
		}
	})
	if err != nil || active == 0 {
		return store.Failed("reading", db, err)
	}
	return env.Confirm(fmt.Sprintf("Remove the department %q and its active keys, phones and sessions of browsers (%d)?", name, active))
}
