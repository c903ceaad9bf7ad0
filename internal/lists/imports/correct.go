package imports

import (
	"slices"
	"strings"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
)

// Corrections are the texts of corrected cells, by row number and column (from 0).
type Corrections map[int]map[int]string

// correct returns a corrected copy of a table, and the corrections that change a cell. If several
// rows have the same number, it corrects the first.
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
			if column < 0 || column >= len(t.Header) || text == oneLine(row.Cell(column).Text) ||
				text != "" && text == day(t, row.Cell(column)) {
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

// CellText returns the text of a cell on one line. row is an index into the table. A date of birth
// stored as a serial number is formatted as a date.
func (f *File) CellText(row, column int) string {
	cell := f.Table.Rows[row].Cell(column)
	if text := day(f.Table, cell); text != "" && f.Mapped.Columns[column].Field == "dateOfBirth" {
		return text
	}
	return oneLine(cell.Text)
}

// day returns the date for a number in a workbook, or an empty string.
func day(t *sheet.Table, cell sheet.Cell) string {
	if cell.Kind != sheet.Number {
		return ""
	}
	text, _ := t.Day(cell.Text)
	return text
}

func oneLine(text string) string {
	return strings.TrimSpace(strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(text))
}
