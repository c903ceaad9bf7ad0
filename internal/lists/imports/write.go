package imports

import (
	"io"
	"slices"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
)

// WriteReport writes the whole file back with two more columns: what becomes of
// each row, and why it is refused. The format is sheet.CSV or sheet.XLSX.
func WriteReport(w io.Writer, format string, f *File, r *Report) error {
	extra := make([][]string, len(f.Table.Rows))
	for i, row := range r.All {
		extra[f.Mapped.People[i].Original] = []string{row.Result, reason(row)}
	}
	return sheet.WriteTable(w, format, f.withDays(), []string{"result", "reason"}, func(i int) []string { return extra[i] })
}

// withDays returns the table with dates of birth that people can read, and that a
// CSV can hold: days where a workbook has their serial numbers.
func (f *File) withDays() *sheet.Table {
	at := slices.IndexFunc(f.Mapped.Columns, func(c mapping.Column) bool { return c.Field == "dateOfBirth" })
	t := *f.Table
	t.Rows = slices.Clone(t.Rows)
	for i, row := range t.Rows {
		if at < 0 || at >= len(row.Cells) || row.Cells[at].Kind != sheet.Number {
			continue
		}
		if day, ok := t.Day(row.Cells[at].Text); ok {
			cells := slices.Clone(row.Cells)
			cells[at] = sheet.Cell{Text: day}
			if len(day) == len(time.DateOnly) && day >= firstDate && !t.Date1904 {
				cells[at].Kind = sheet.Date
			}
			t.Rows[i].Cells = cells
		}
	}
	return &t
}

// firstDate is the first day that can be a cell of the kind sheet.Date.
const firstDate = "1900-03-01"

// reason returns everything that is wrong with a row.
func reason(row Row) string {
	var details []string
	for _, e := range row.Errors {
		details = append(details, e.Detail)
	}
	return strings.Join(details, " ")
}
