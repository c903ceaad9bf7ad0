package manage

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

func (c Commands) historyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "history",
		Short:      "Show who changed which record, and when",
		GroupID:    cli.GroupPeople,
		SuggestFor: []string{"changes", "audit"},
		Long: `Show the changes to the records of a department, oldest first: who changed which
record, when, and the record before the change.`,
		Example: `  firefighters history --since 30d
  firefighters history --id 01a1f83c-64f7-795d-bc35-4c6516093415 --json`,
	}
	db, department := cli.AddDB(cmd), cli.AddDepartment(cmd)
	id := cmd.Flags().String("id", "", "show only changes to the record with this `id`")
	since := cmd.Flags().String("since", "", "show only changes since this `time`: 30d or 12h ago, 2027-01-31 (UTC) or 2027-01-31T08:00:00Z")
	asJSON := cmd.Flags().Bool("json", false, "print each change as a line of JSON: at, action, id, key, label, before")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		env, only := cli.EnvOf(cmd), ""
		if *id != "" {
			var err error
			if only, err = record.ParseID(*id); err != nil {
				return cli.Usage(fmt.Sprintf("--id: %v", err), "")
			}
		}
		from, err := cli.ParseSince(*since, time.Now())
		if err != nil {
			return cli.Usage(cli.WrongTime("since", "30d or 2027-01-31", *since).Error(), "")
		}
		return c.Database.WithTenant(env, *db, *department, func(s *store.Store, tenant record.TenantID) error {
			list := cli.NewList(*asJSON, "AT", "ACTION", "ID", "KEY", "LABEL", "BEFORE")
			progress := env.StartProgress("Reading the history")
			err := s.History(tenant, only, from, func(e store.Entry) error {
				key, label := "-", "-"
				if e.Key != nil {
					key = fmt.Sprint(*e.Key)
				}
				if e.Label != nil && *e.Label != "" {
					label = *e.Label
				}
				list.Add(e, e.At, e.Action, e.ID, key, label, e.Summary())
				return env.Context.Err()
			})
			progress.End()
			if err != nil {
				return store.Failed("reading", *db, err)
			}
			return list.Print(env)
		})
	}
	return cmd
}
