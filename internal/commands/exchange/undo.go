package exchange

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

const undoHelp = `Usage: firefighters import undo NUMBER --tenant NAME [flags]

Takes an import back. People whom it added are deleted, and can be brought back:
firefighters undelete. People whom it changed are as before. Those who have
changed since are left as they are, and listed. The number is the first on its
line of: firefighters import list --tenant NAME

  firefighters import undo 7 --tenant "Engine 7"

Flags:
`

func (c Commands) undoImport(env cli.Env, args []string) error {
	flags := env.Flags("import undo", undoHelp)
	db, name := cli.DBFlag(flags), cli.TenantFlag(flags, "(required)")
	arg, err := env.ParseOne(flags, args, "say which import to take back, by its number")
	if err != nil {
		return err
	}
	number, err := strconv.ParseInt(arg, 10, 64)
	if err != nil || number < 1 {
		return cli.WrongArgument(flags, 0, fmt.Sprintf("%q is not the number of an import", arg), see(*name, *db))
	}
	if *name, err = requireTenant(flags, *name); err != nil {
		return err
	}
	return c.Database.WithTenant(env, *db, *name, func(s *store.Store, tenant record.TenantID) error {
		back, err := s.TakeBack(tenant, 0, number)
		if err != nil {
			return undoFailed(err, number, *name, *db)
		}
		return printTakenBack(env, number, back)
	})
}

// undoFailed adds to an error what to type.
func undoFailed(err error, number int64, tenant, db string) error {
	if before, ok := errors.AsType[*store.TakenBackError](err); ok {
		return cli.WithHint(fmt.Errorf("import %d was taken back before, at %s", number, cli.FormatTime(before.At.UnixMilli())), see(tenant, db))
	}
	if errors.Is(err, store.ErrNotFound) {
		return cli.WithHint(fmt.Errorf("the department %q has no import %d", tenant, number), see(tenant, db))
	}
	return store.Failed("writing to", db, err)
}

// see is what to type to see the imports of a department.
func see(tenant, db string) string {
	if strings.TrimSpace(tenant) == "" {
		return "see their numbers: firefighters import list --tenant NAME --db " + cli.Quote(db)
	}
	return fmt.Sprintf("see their numbers: firefighters import list --tenant %s --db %s", cli.Quote(tenant), cli.Quote(db))
}

// since says what has become of somebody after an import, by the action of the
// last change.
var since = map[string]string{"replace": "changed since", "delete": "deleted since", "undelete": "brought back since", "purge": "erased since"}

func printTakenBack(env cli.Env, number int64, back store.TakenBack) error {
	var t text
	t.line("Took back import %d: %s deleted, %d as before the import.", number, people(back.Deleted), back.Restored)
	var lines [][]string
	for _, p := range back.Left {
		what, ok := since[p.Action]
		if !ok {
			what = p.Action
		}
		lines = append(lines, []string{p.ID, cmp.Or(p.Name, "-"), what})
	}
	t.table(fmt.Sprintf("Left as they are, because they have changed since: %d", len(lines)), lines)
	return env.Println(strings.TrimSpace(t.String()))
}

const listHelp = `Usage: firefighters import list --tenant NAME [flags]

Prints a line for each import of a department, the newest first: its number,
when it was, how many people it added and changed, when it was taken back, who
did it, and the name of the file.

  firefighters import list --tenant "Engine 7"

Flags:
`

func (c Commands) listImports(env cli.Env, args []string) error {
	flags := env.Flags("import list", listHelp)
	db, name := cli.DBFlag(flags), cli.TenantFlag(flags, "(required)")
	asJSON := flags.Bool("json", false, "a line of JSON for each import: number, at, file, added, changed, takenBackAt, key, label")
	if err := env.Parse(flags, args, 0); err != nil {
		return err
	}
	tenantName, err := requireTenant(flags, *name)
	if err != nil {
		return err
	}
	return c.Database.WithTenant(env, *db, tenantName, func(s *store.Store, tenant record.TenantID) error {
		all, err := s.Imports(tenant)
		if err != nil {
			return store.Failed("reading", *db, err)
		}
		return printImports(env, all, *asJSON)
	})
}

func printImports(env cli.Env, all []store.Import, asJSON bool) error {
	list := cli.NewList(asJSON, "NUMBER", "AT", "ADDED", "CHANGED", "TAKEN BACK", "BY", "FILE")
	for _, i := range all {
		takenBack, by := "-", "-"
		if !i.TakenBackAt.IsZero() {
			takenBack = cli.FormatTime(i.TakenBackAt.UnixMilli())
		}
		if i.Key != 0 {
			by = cmp.Or(i.Label, fmt.Sprint("key ", i.Key))
		}
		list.Add(imports.EntryOf(i), fmt.Sprint(i.Number), cli.FormatTime(i.At.UnixMilli()), fmt.Sprint(i.Added), fmt.Sprint(i.Changed), takenBack, by, cmp.Or(shown(i.File), "-"))
	}
	return list.Print(env)
}
