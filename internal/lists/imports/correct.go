package imports

import (
	"slices"
	"strings"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
)

// Corrections are cells that somebody has corrected after the file was read: the text of
// a cell by its column, from 0, and these by the number of the row.
type Corrections map[int]map[int]string

// correct returns a table with the corrections, and those that change a cell. The table
// itself stays as it is. Where several rows have one number, the first is corrected.
func (c Corrections) correct(t *sheet.Table) (*sheet.Table, Corrections) {
	changed := Corrections{}
	if len(c) == 0 {
		return t, changed
	}
	corrected := *t
	corrected.Rows = slices.Clone(t.Rows)
	done := map[int]bool{}
	for i := range corrected.Rows {
		row := &corrected.Rows[i]
		if done[row.Number] || c[row.Number] == nil {
			continue
		}
		done[row.Number] = true
		cells := slices.Clone(row.Cells)
		for column, text := range c[row.Number] {
			text = strings.TrimSpace(text)
			if column < 0 || column >= len(t.Header) || text == oneLine(row.Cell(column).Text) || text == day(t, row.Cell(column)) {
				continue
			}
			cells = append(cells, make([]sheet.Cell, max(0, column+1-len(cells)))...)
			cells[column] = sheet.Cell{Text: text}
			changed.Set(row.Number, column, text)
		}
		row.Cells = cells
	}
	return &corrected, changed
}

// Set sets the text of a cell.
func (c Corrections) Set(row, column int, text string) {
	if c[row] == nil {
		c[row] = map[int]string{}
	}
	c[row][column] = text
}

// CellText returns what stands in a cell of a row, by its position, in one line: a day
// where a workbook has the serial number of a date of birth.
func (f *File) CellText(row, column int) string {
	cell := f.Table.Rows[row].Cell(column)
	if text := day(f.Table, cell); text != "" && f.Mapped.Columns[column].Field == "dateOfBirth" {
		return text
	}
	return oneLine(cell.Text)
}

// day returns the day that a number of a workbook is, empty for anything else.
func day(t *sheet.Table, cell sheet.Cell) string {
	if cell.Kind != sheet.Number {
		return ""
	}
	text, _ := t.Day(cell.Text)
	return text
}

// oneLine returns a text as a field of a form can have it.
func oneLine(text string) string {
	return strings.TrimSpace(strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(text))
}
