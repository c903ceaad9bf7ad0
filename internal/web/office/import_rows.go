package office

import (
	"strings"

	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// rowsShown is the number of rows of a list on a page.
const rowsShown = 200

// broughtRow is a row of a list, and what becomes of it.
type broughtRow struct {
	Row     int
	Name    string
	Link    string // address of the person; empty: there is none
	Result  string // one of the constants of package imports
	Values  string // of a row that says something new
	Changes []difference
	Reasons []string // why it is refused
}

// resultOrder is the order of the results on the page.
var resultOrder = []string{imports.Refused, imports.Changed, imports.Added, imports.Left}

// broughtRows returns the rows of a list for the page, those that need a look first, and
// how many have no room there.
func (v visit) broughtRows(rows []imports.Row) (shown []broughtRow, more int) {
	for _, result := range resultOrder {
		for i := range rows {
			if rows[i].Result == result && len(shown) < rowsShown {
				shown = append(shown, v.broughtRow(rows[i]))
			}
		}
	}
	return shown, len(rows) - len(shown)
}

func (v visit) broughtRow(row imports.Row) broughtRow {
	l := broughtRow{Row: row.Row, Name: short(row.Name), Result: row.Result}
	if row.ID != nil && row.Before != nil {
		l.Link = personPath(*row.ID)
	}
	for _, e := range row.Errors {
		l.Reasons = append(l.Reasons, v.refusal(e, row))
	}
	switch {
	case row.Result == imports.Changed && row.Before != nil && row.After != nil:
		l.Changes = v.differences(*row.Before, *row.After)
	case row.Result == imports.Added:
		l.Values = v.valuesOf(row.Fields)
	}
	return l
}

// valuesOf returns what is known about a person beside the name.
func (v visit) valuesOf(f record.Fields) string {
	var all []string
	shown := fieldValues(v.shown(f))
	for _, name := range fieldNames[record.NameFields:] {
		if shown[name] != "" {
			all = append(all, site.Isolate(shown[name]))
		}
	}
	return strings.Join(all, " · ")
}

// refusal says why a row is refused.
func (v visit) refusal(e record.FieldError, row imports.Row) string {
	if text, ok := v.words().Row(e, &row); ok {
		return text
	}
	if e.Code == mapping.CellError {
		return v.Text("import.reason.cell_error", v.fieldLabel(e.Field))
	}
	for _, key := range []string{"import.reason." + e.Field + "." + e.Code, "fault." + e.Field + "." + e.Code} {
		if text := v.Text(key); text != key {
			return text
		}
	}
	return e.Detail
}

// longest is the number of characters that a page shows of a text from a list. A
// cell may have megabytes.
const longest = 200

// short returns the beginning of a text that is too long for a page.
func short(text string) string {
	count := 0
	for i := range text {
		if count++; count > longest {
			return text[:i] + "…"
		}
	}
	return text
}

// quoted returns a text from a list for a sentence.
func quoted(text string) string { return site.Isolate(short(text)) }
