package imports

import (
	"io"
	"slices"
	"time"

	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
)

// WriteReport writes the whole file back with more columns, which say what becomes
// of each row, and why it is refused. cells returns those of a row. The format is
// sheet.CSV or sheet.XLSX.
func WriteReport(w io.Writer, format string, f *File, o *Outcome, header []string, cells func(Row) []string) error {
	extra := make([][]string, len(f.Table.Rows))
	for i, row := range o.All {
		extra[f.Mapped.People[i].Original] = cells(row)
	}
	return sheet.WriteTable(w, format, f.withDays(), header, func(i int) []string { return extra[i] })
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
			if len(day) == len(time.DateOnly) && day >= sheet.FirstDate && !t.Date1904 {
				cells[at].Kind = sheet.Date
			}
			t.Rows[i].Cells = cells
		}
	}
	return &t
}
