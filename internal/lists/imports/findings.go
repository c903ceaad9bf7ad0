package imports

import (
	"io"
	"strconv"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// What a comparison can find: its groups, as its JSON names them.
const (
	OnlyTheirs = "onlyTheirs"
	OnlyOurs   = "onlyOurs"
	Probably   = "probably"
	Differ     = "differ"
	NotSure    = "refused"
)

// FindingWords are the words of a file of findings.
type FindingWords struct {
	Header  []string                   // finding, row, id, name, field, ours, theirs, reason
	Finding map[string]string          // by what was found
	Values  func(record.Fields) string // of a person, beside the name
	Changes func(*Row) []FieldChange   // how a row and the person of ours differ
	Why     func(*Row) string          // why a row is perhaps somebody, or cannot be compared
}

// WriteFindings writes what was found to a file, a row for each finding. The format is
// sheet.CSV or sheet.XLSX.
func (c *Comparison) WriteFindings(to io.Writer, format string, words FindingWords) error {
	var all [][]string
	add := func(what string, r *Row, change FieldChange, why string) {
		id := ""
		if r.ID != nil {
			id = *r.ID
		}
		all = append(all, []string{words.Finding[what], strconv.Itoa(r.Row), id, r.Name, change.Field, change.Ours, change.Theirs, why})
	}
	for _, r := range c.OnlyTheirs {
		add(OnlyTheirs, r, FieldChange{Theirs: words.Values(r.Fields)}, "")
	}
	for _, f := range c.OnlyOurs {
		all = append(all, []string{words.Finding[OnlyOurs], "", f.ID, f.FirstName + " " + f.LastName, "", words.Values(f.Fields), "", ""})
	}
	for _, r := range c.Probably {
		changes := words.Changes(r)
		if len(changes) == 0 {
			changes = []FieldChange{{}}
		}
		for _, change := range changes {
			add(Probably, r, change, words.Why(r))
		}
	}
	for _, r := range c.Differ {
		for _, change := range words.Changes(r) {
			add(Differ, r, change, "")
		}
	}
	for _, r := range c.Refused {
		add(NotSure, r, FieldChange{}, words.Why(r))
	}
	table := &sheet.Table{Rows: make([]sheet.Row, len(all))}
	return sheet.WriteTable(to, format, table, words.Header, func(i int) []string { return all[i] })
}
