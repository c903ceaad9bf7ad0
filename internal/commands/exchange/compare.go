package exchange

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

const compareHelp = `Usage: firefighters compare FILE --tenant NAME [flags]

Compares somebody's list, such as that of the insurer or of the town, with the
people of a department: who is only in theirs, who is only in ours, who is
probably the same, and where the two differ, field by field. It reads the file
as import does, and changes nothing. The exit code is 1 if a row could not be
compared.

  firefighters compare insurer.xlsx --tenant "Engine 7"
  firefighters compare insurer.xlsx --tenant "Engine 7" --report differences.xlsx

Only fields that theirs has a value for are compared.

Flags:
`

// comparing is a comparison that a command does.
type comparing struct{ *list }

func (c Commands) compare(env cli.Env, args []string) error {
	l := comparing{newList(env, "compare", compareHelp, "write what was found to this `file` (.csv or .xlsx), a row for each finding")}
	if err := l.parse(args); err != nil {
		return err
	}
	return c.Database.WithTenant(env, *l.db, l.tenant, l.with)
}

// with compares the list with a department of the store.
func (c comparing) with(s *store.Store, tenant record.TenantID) error {
	f, err := imports.Read(c.env.Context, c.content, c.options, s.Clock().Now())
	if err != nil {
		return c.explain(err)
	}
	f.Release()
	found, err := f.Compare(c.env.Context, s, tenant)
	if err != nil {
		return c.explain(store.Failed("reading", *c.db, err))
	}
	if err := c.print(f, found); err != nil {
		return err
	}
	if err := c.writeFindings(found); err != nil {
		return err
	}
	if n := len(found.Refused); n > 0 {
		return cli.WithHint(fmt.Errorf("%d of %s could not be compared", n, rows(len(found.Outcome.All))), "correct these rows, and compare again")
	}
	return nil
}

func (c comparing) print(f *imports.File, found *imports.Comparison) error {
	if c.asJSON {
		return c.env.PrintJSON(found)
	}
	var t text
	t.describe(c.options.Name, found.Outcome)
	t.notes(found.Outcome.Warnings)
	t.table(fmt.Sprintf("Only theirs: %d", len(found.OnlyTheirs)), lines(found.OnlyTheirs, func(r *imports.Row) []string { return []string{details(r.Fields)} }))
	t.table(fmt.Sprintf("Only ours: %d", len(found.OnlyOurs)), ourLines(found.OnlyOurs))
	t.table(fmt.Sprintf("Probably the same: %d", len(found.Probably)), lines(found.Probably, probable))
	t.table(fmt.Sprintf("Different: %d", len(found.Differ)), differentLines(found.Differ))
	t.table(fmt.Sprintf("Refused: %d", len(found.Refused)), lines(found.Refused, func(r *imports.Row) []string { return []string{why(r)} }))
	t.line("\nOnly theirs: %d. Only ours: %d. Different: %d. The same: %d. Refused: %d.",
		len(found.OnlyTheirs), len(found.OnlyOurs), len(found.Differ), found.Same, len(found.Refused))
	if len(found.Probably) > 0 {
		t.line("Probably the same as one of ours, so that they are in neither of the first two lists: %d.", len(found.Probably))
	}
	if found.Unclear > 0 {
		t.line("Of ours only refused rows could mean, so they are in none of these lists: %d.", found.Unclear)
	}
	if f.Unsure != nil {
		t.line("The encoding is not certain. To compare the list:\n%s", strings.Join(c.encodings(f.Unsure, ""), "\n"))
	}
	return c.env.Println(strings.TrimSpace(t.String()))
}

// lines has a line for each row, with what about says of it.
func lines(rows []*imports.Row, about func(*imports.Row) []string) (all [][]string) {
	for _, r := range rows {
		all = append(all, rowCells(r, about(r)...))
	}
	return all
}

func ourLines(ours []record.Firefighter) (lines [][]string) {
	for _, f := range ours {
		lines = append(lines, []string{f.FirstName + " " + f.LastName, details(f.Fields)})
	}
	return lines
}

// probable says why a row is perhaps one of ours, and what differs.
func probable(r *imports.Row) []string {
	all := []string{imports.English.Why(r.Like[0].Why)}
	for _, c := range r.Changes() {
		all = append(all, fmt.Sprintf("%s: ours %s, theirs %s", c.Field, cmp.Or(c.Ours, "nothing"), c.Theirs))
	}
	return all
}

// differentLines has a line for each field that differs.
func differentLines(differ []*imports.Row) (lines [][]string) {
	for _, r := range differ {
		for _, c := range r.Changes() {
			lines = append(lines, rowCells(r, c.Field, "ours "+cmp.Or(c.Ours, "nothing"), "theirs "+c.Theirs))
		}
	}
	return lines
}

// findingWords are those of the file of --report.
var findingWords = imports.FindingWords{
	Header: []string{"finding", "row", "id", "name", "field", "ours", "theirs", "reason"},
	Finding: map[string]string{imports.OnlyTheirs: "only theirs", imports.OnlyOurs: "only ours", imports.Probably: "probably the same",
		imports.Differ: "different", imports.NotSure: "refused"},
	Values:  details,
	Changes: (*imports.Row).Changes,
	Why:     why,
}

// why returns why a row is not sure, or refused.
func why(r *imports.Row) string {
	if r.Result == imports.Perhaps {
		return imports.English.Why(r.Like[0].Why)
	}
	return reasons(r.Errors)
}

// writeFindings writes the file of --report, if there is one.
func (c comparing) writeFindings(found *imports.Comparison) error {
	if c.report.path == "" {
		return nil
	}
	return c.writeFile(func(w io.Writer) error { return found.WriteFindings(w, c.report.format, findingWords) })
}
