package manage

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

func (c Commands) departmentsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "departments",
		Short:      "List, change or remove departments",
		GroupID:    cli.GroupAccess,
		SuggestFor: []string{"department", "tenants", "tenant"},
		Long: `List, change or remove departments. To create one, create its first key
(firefighters keys create) or import its people (firefighters import).`,
		Example: `  firefighters departments list
  firefighters departments rename default "Engine 7"
  firefighters departments set "Engine 7" --country HR`,
	}
	cmd.AddCommand(c.departmentsListCommand(), c.departmentsRenameCommand(), c.departmentsSetCommand(), c.departmentsRemoveCommand())
	return cmd
}

type departmentLine struct {
	Name       string  `json:"name"`
	Country    string  `json:"country"` // empty: unknown
	Records    int64   `json:"records"`
	Deleted    int64   `json:"deleted"`
	ActiveKeys int64   `json:"activeKeys"`
	CreatedAt  *string `json:"createdAt"`
}

func (c Commands) departmentsListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "list",
		Short:      "List departments",
		SuggestFor: []string{"ls", "show"},
		Long: `List departments with their country and their numbers of records, deleted
records and active keys. Browser sessions are not counted.`,
		Example: `  firefighters departments list`,
	}
	db := cli.AddDB(cmd)
	asJSON := cmd.Flags().Bool("json", false,
		"print each department as a line of JSON: name, country, records, deleted, activeKeys, createdAt")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		env := cli.EnvOf(cmd)
		return c.Database.With(env, *db, false, func(s *store.Store) error {
			list := cli.NewList(*asJSON, "NAME", "COUNTRY", "RECORDS", "DELETED", "ACTIVE KEYS", "CREATED")
			err := s.Tenants(func(d store.TenantInfo) {
				list.Add(departmentLine{d.Name, d.Country, d.Records, d.Deleted, d.ActiveKeys, store.Moment(d.CreatedAt)},
					d.Name, cmp.Or(d.Country, "-"), fmt.Sprint(d.Records), fmt.Sprint(d.Deleted), fmt.Sprint(d.ActiveKeys),
					cli.FormatTime(d.CreatedAt))
			})
			if err != nil {
				return store.Failed("listing the departments of", *db, err)
			}
			return list.Print(env)
		})
	}
	return cmd
}

func (c Commands) departmentsRenameCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "rename OLD NEW",
		Short:      "Rename a department",
		SuggestFor: []string{"mv", "move"},
		Long:       "Rename a department. Its records and keys do not change.",
		Example:    `  firefighters departments rename default "Engine 7"`,
	}
	db := cli.AddDB(cmd)
	isNew := cmd.Flags().Bool("new", false, "accept a name that differs from another only in case, accents or spaces")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		env, old := cli.EnvOf(cmd), args[0]
		name, err := record.NormalizeName(args[1])
		if err != nil {
			return cli.Usage(fmt.Sprintf("the new name %v", err), "")
		}
		return c.Database.WithTenant(env, *db, old, func(s *store.Store, tenant record.TenantID) error {
			if err := s.RenameTenant(tenant, name, *isNew); err != nil {
				return store.Failed("renaming a department in", *db, err)
			}
			env.Notef("Renamed the department %q to %q.", strings.TrimSpace(old), name)
			return nil
		})
	}
	return cmd
}

func (c Commands) departmentsSetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "set NAME",
		Short:      "Set the country of a department",
		SuggestFor: []string{"change", "edit", "update"},
		Long: `Set the country of a department. Imports use it to compare phone numbers with
and without a calling code, and to propose the order of day and month.`,
		Example: `  firefighters departments set "Engine 7" --country HR`,
	}
	db := cli.AddDB(cmd)
	text := cmd.Flags().String("country", "", "`code` of the country, such as HR; \"\" if it is unknown")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		env := cli.EnvOf(cmd)
		country, err := record.NormalizeCountry(*text)
		if !cmd.Flags().Changed("country") {
			return cli.UsageErrorf(cmd, "--country is missing")
		}
		if err != nil {
			return cli.Usage(fmt.Sprintf("--country %v", err), "")
		}
		return c.Database.WithTenant(env, *db, args[0], func(s *store.Store, tenant record.TenantID) error {
			if err := s.SetCountry(tenant, country); err != nil {
				return store.Failed("changing a department in", *db, err)
			}
			env.Notef("The country of the department %q is now %s.", strings.TrimSpace(args[0]), cmp.Or(country, "unknown"))
			return nil
		})
	}
	return cmd
}

func (c Commands) departmentsRemoveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "remove NAME",
		Short:      "Remove a department without records",
		SuggestFor: []string{"rm", "delete", "del"},
		Long: `Remove a department with its keys and its history. It must not have any records,
not even deleted ones: see firefighters purge. If the department has active keys
or sessions, the command asks for confirmation.`,
		Example: `  firefighters departments remove "Ladder 1"`,
	}
	db := cli.AddDB(cmd)
	yes := cmd.Flags().Bool("yes", false, "do not ask")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		env, name := cli.EnvOf(cmd), strings.TrimSpace(args[0])
		return c.Database.WithTenant(env, *db, name, func(s *store.Store, tenant record.TenantID) error {
			if err := s.HasNoRecords(tenant); err != nil {
				return store.Failed("reading", *db, err)
			}
			if !*yes {
				if err := confirmRemoval(env, s, *db, name); err != nil {
					return err
				}
			}
			noteErased(env, *db, c.backups(env, *db, "").Dir) // the history of the department lists them
			keys, err := s.RemoveTenant(tenant)
			if err != nil {
				return store.Failed("removing a department from", *db, err)
			}
			env.Notef("Removed the department %q and %s.", name, cli.Count(keys, "key", "keys"))
			if err := rewrite(env, s, *db); err != nil {
				return tracesLeft(env, "traces of the department may be left in the file", *db, err)
			}
			return nil
		})
	}
	return cmd
}

// confirmRemoval asks for confirmation if a department has active keys, phones or sessions.
func confirmRemoval(env cli.Env, s *store.Store, db, name string) error {
	active, now := 0, s.Clock().Now()
	err := s.ListKeys(name, func(k store.Key, _ string) {
		if k.State(now) == store.StateActive && (k.IsSession() || k.OpenedBy == 0) { // not the calendar key of a phone
			active++
		}
	})
	if err != nil || active == 0 {
		return store.Failed("reading", db, err)
	}
	users := cli.Count(active, "active key or session", "active keys and sessions")
	return env.Confirm(fmt.Sprintf("Remove the department %q with its %s?", name, users))
}
