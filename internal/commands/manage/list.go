package manage

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

func (c Commands) listCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "list",
		Short:      "List the people of a department",
		GroupID:    cli.GroupPeople,
		SuggestFor: []string{"search", "people", "person", "find", "ls", "show"},
		Long: `List the people of a department by last name: id, name, e-mail address,
phone number and date of birth.

Like the search of the office page, --search finds people by parts of the name,
the e-mail address or the phone number.`,
		Example: `  firefighters list
  firefighters list --search "ana čović"
  firefighters list --deleted`,
	}
	db, department := cli.AddDB(cmd), cli.AddDepartment(cmd)
	search := cmd.Flags().String("search", "", "list only people who match this `text`")
	deleted := cmd.Flags().Bool("deleted", false, "list deleted records in the order of their deletion")
	asJSON := cmd.Flags().Bool("json", false,
		"print each record as a line of JSON, as the API returns it; with --deleted also deletedAt and damaged")
	cmd.MarkFlagsMutuallyExclusive("search", "deleted")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		query, err := record.Query{SortBy: record.ByLastName}.Parse(url.Values{"search": {*search}}.Encode())
		if err != nil {
			return cli.Usage(fmt.Sprintf("--search: %v", err), "")
		}
		return c.list(cli.EnvOf(cmd), *db, *department, query, *deleted, *asJSON)
	}
	return cmd
}

// deletedCommand returns the former name of list --deleted.
func (c Commands) deletedCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "deleted", Short: "List deleted records", Long: "The same as firefighters list --deleted.", Hidden: true}
	db, department := cli.AddDB(cmd), cli.AddDepartment(cmd)
	asJSON := cmd.Flags().Bool("json", false, "print each record as a line of JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return c.list(cli.EnvOf(cmd), *db, *department, record.Query{}, true, *asJSON)
	}
	return cmd
}

// list prints the people who match a query, or the deleted records.
func (c Commands) list(env cli.Env, db, department string, query record.Query, deleted, asJSON bool) error {
	return c.Database.WithTenant(env, db, department, func(s *store.Store, tenant record.TenantID) error {
		progress := env.StartProgress("Reading the records")
		var list *cli.List
		var err error
		if deleted {
			list, err = listDeleted(env.Context, s, tenant, asJSON)
		} else {
			list, err = listPeople(env.Context, s, tenant, query, asJSON)
		}
		progress.End()
		if err != nil {
			return store.Failed("reading", db, err)
		}
		return list.Print(env)
	})
}

func listPeople(ctx context.Context, s *store.Store, tenant record.TenantID, query record.Query, asJSON bool) (*cli.List, error) {
	list := cli.NewList(asJSON, "ID", "NAME", "E-MAIL", "PHONE", "BORN")
	err := s.Each(tenant, query, func(f *record.Firefighter) error {
		list.Add(json.RawMessage(f.AppendJSON(nil)), f.ID, f.FirstName+" "+f.LastName,
			cmp.Or(f.Email, "-"), cmp.Or(f.PhoneNumber, "-"), cmp.Or(f.BirthText(), "-"))
		return ctx.Err()
	})
	return list, err
}

// anyTime is later than every deletion.
var anyTime = time.UnixMilli(math.MaxInt64)

func listDeleted(ctx context.Context, s *store.Store, tenant record.TenantID, asJSON bool) (*cli.List, error) {
	records, err := s.Deleted(tenant, anyTime)
	list := cli.NewList(asJSON, "ID", "DELETED", "RECORD")
	for _, r := range records {
		text, line := r.Summary(), bytes.TrimSuffix(r.AppendJSON(nil), []byte("}"))
		at, _ := json.Marshal(store.Moment(r.DeletedAt))
		line = fmt.Appendf(line, `,"deletedAt":%s,"damaged":%t}`, at, r.Damaged)
		if r.Damaged {
			text += ", (damaged)"
		}
		list.Add(json.RawMessage(line), r.ID, cli.FormatTime(r.DeletedAt), text)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return list, err
}
