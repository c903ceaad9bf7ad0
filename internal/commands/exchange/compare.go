package exchange

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// compare prints the differences between the file and the department.
func (i *importing) compare(s *store.Store, tenant record.TenantID) error {
	bar := i.env.StartProgress("Comparing people")
	defer bar.End()
	if err := i.readCountry(s, tenant); err != nil {
		return err
	}
	f, err := i.list.Map(i.env.Context, i.options, s.Clock().Now())
	if err != nil {
		return err
	}
	f.Release()
	found, err := f.Compare(i.env.Context, s, tenant)
	bar.End()
	if err != nil {
		return store.Failed("reading", *i.db, err)
	}
	printErr := i.printComparison(found)
	err = i.writeReport(func(w io.Writer) error {
		return found.WriteReport(w, i.report.format, findingHeader, groupTitles, findingWords)
	})
	if err != nil {
		return err
	}
	if n := len(found.Rows(imports.NotSure)); n > 0 {
		return fmt.Errorf("%d of %s could not be compared", n, rows(len(found.Outcome.All)))
	}
	return printErr
}

func (i *importing) printComparison(found *imports.Comparison) error {
	if i.asJSON {
		return i.env.PrintJSON(found)
	}
	var t text
	t.describe(i.options.Name, found.Outcome)
	t.notes(found.Outcome)
	var counts []string
	for _, group := range found.Groups {
		title := fmt.Sprintf("%s: %d", groupTitles[group.Name], len(group.Rows))
		t.table(title, findingLines(group))
		counts = append(counts, title)
	}
	t.line("\n%s. The same: %d.", strings.Join(counts, ". "), found.Same)
	if n := found.Outcome.SpellingOnly; n > 0 {
		t.line("Of those, spelled differently: %d.", n)
	}
	if found.Unclear > 0 {
		t.line("Not compared, because only refused rows could be these people: %d.", found.Unclear)
	}
	i.questions(&t, found.Outcome)
	return i.env.Print(strings.TrimSpace(t.String()) + "\n")
}

var groupTitles = map[string]string{imports.OnlyTheirs: "Only theirs", imports.OnlyOurs: "Only ours",
	imports.Probably: "Probably the same", imports.Differ: "Different", imports.NotSure: "Refused"}

var findingHeader = []string{"finding", "row", "id", "name", "field", "ours", "theirs", "reason"}

var findingWords = imports.FindingWords{Values: values, Changes: changes, Why: func(r *imports.Row) string {
	if r.Result == imports.Perhaps {
		return imports.English.Why(r, r.Like[0])
	}
	return details(r.Errors)
}}

func findingLines(group imports.Group) (lines [][]string) {
	for _, f := range group.Findings(findingWords) {
		line := []string{f.Name}
		if f.Ours == nil {
			line = rowCells(f.Row)
		}
		switch change := f.Change; {
		case change.Field != "":
			line = append(line, change.Field, "ours "+cmp.Or(change.Ours, "nothing"), "theirs "+change.Theirs)
		case group.Name == imports.OnlyTheirs, group.Name == imports.OnlyOurs:
			line = append(line, change.Ours+change.Theirs)
		}
		if f.Why != "" {
			line = append(line, f.Why)
		}
		lines = append(lines, line)
	}
	return lines
}
