package exchange

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

func (c Commands) importUndoCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "undo NUMBER",
		Short:      "Undo an import",
		SuggestFor: []string{"revert", "delete", "remove"},
		Long: `Undo an import. NUMBER is its number in: firefighters import list

People who were added by the import are deleted. People who were changed by it
get their previous values back. People who have changed since then stay
unchanged and are listed.`,
		Example: `  firefighters import undo 7`,
	}
	db, department := cli.AddDB(cmd), cli.AddDepartment(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		number, err := strconv.ParseInt(args[0], 10, 64)
		if err != nil || number < 1 {
			return cli.UsageErrorf(cmd, "%q is not the number of an import", args[0])
		}
		return c.Database.WithTenant(cli.EnvOf(cmd), *db, *department, func(s *store.Store, tenant record.TenantID) error {
			return undo(cmd, s, tenant, number)
		})
	}
	return cmd
}

func undo(cmd *cobra.Command, s *store.Store, tenant record.TenantID, number int64) error {
	env := cli.EnvOf(cmd)
	bar := env.StartProgress("Undoing the import")
	undone, err := s.UndoImport(tenant, 0, number, func(done, total int) error {
		bar.Set(done, total)
		return env.Context.Err()
	})
	bar.End()
	previous, wasUndone := errors.AsType[*store.UndoneError](err)
	hint := "see the imports: " + related(cmd, "import list")
	switch {
	case wasUndone:
		return cli.WithHint(fmt.Errorf("import %d was already undone at %s", number, cli.FormatTime(previous.At.UnixMilli())), hint)
	case errors.Is(err, store.ErrNotFound):
		return cli.WithHint(fmt.Errorf("there is no import %d", number), hint)
	case errors.Is(err, context.Canceled):
		return cli.Unfinished("Stopped. Nothing was changed.", "")
	case err != nil:
		return store.Failed("writing to", cmd.Flag("db").Value.String(), err)
	}
	return printUndone(env, number, undone)
}

// since maps the last action on a record since an import to its text.
var since = map[string]string{"replace": "changed since", "delete": "deleted since",
	"undelete": "restored since", "purge": "permanently deleted since"}

func printUndone(env cli.Env, number int64, undone store.Undone) error {
	var t text
	t.line("Undid import %d: %s deleted, %d changed back.", number, people(undone.Deleted), undone.Restored)
	var lines [][]string
	for _, p := range undone.Left {
		lines = append(lines, []string{p.ID, cmp.Or(p.Name, "-"), cmp.Or(since[p.Action], p.Action)})
	}
	t.table(fmt.Sprintf("Unchanged, because they have changed since: %d", len(lines)), lines)
	return env.Println(strings.TrimSpace(t.String()))
}

func (c Commands) importListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "list",
		Short:      "List imports, newest first",
		SuggestFor: []string{"ls", "show"},
		Example:    `  firefighters import list`,
	}
	db, department := cli.AddDB(cmd), cli.AddDepartment(cmd)
	asJSON := cmd.Flags().Bool("json", false, "print a line of JSON for each import")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		env := cli.EnvOf(cmd)
		return c.Database.WithTenant(env, *db, *department, func(s *store.Store, tenant record.TenantID) error {
			all, err := s.Imports(tenant)
			if err != nil {
				return store.Failed("reading", *db, err)
			}
			list := cli.NewList(*asJSON, "NUMBER", "AT", "ADDED", "CHANGED", "UNDONE", "BY", "FILE")
			for _, i := range all {
				undone, by := "-", "-"
				if !i.UndoneAt.IsZero() {
					undone = cli.FormatTime(i.UndoneAt.UnixMilli())
				}
				if i.Key != 0 {
					by = cmp.Or(i.Label, fmt.Sprint("key ", i.Key))
				}
				list.Add(imports.EntryOf(i), fmt.Sprint(i.Number), cli.FormatTime(i.At.UnixMilli()),
					fmt.Sprint(i.Added), fmt.Sprint(i.Changed), undone, by, cmp.Or(shown(i.File), "-"))
			}
			return list.Print(env)
		})
	}
	return cmd
}
