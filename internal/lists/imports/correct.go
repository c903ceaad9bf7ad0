package imports

import (
	"slices"
	"strings"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
)

// Corrections are cells that somebody has corrected after the file was read: the text of
// a cell by its column, from 0, and these by the number of the row.
type Corrections map[int]map[int]string

// correct puts the corrections into a table, and returns those that change a cell. Where
// several rows have one number, it corrects the first.
func (c Corrections) correct(t *sheet.Table) Corrections {
	changed := Corrections{}
	for i := range t.Rows {
		row := &t.Rows[i]
		if _, done := changed[row.Number]; done || c[row.Number] == nil {
			continue
		}
		changed[row.Number] = map[int]string{}
		cells := slices.Clone(row.Cells) // they may be a part of a longer list
		for column, text := range c[row.Number] {
			text = strings.TrimSpace(text)
			if column < 0 || column >= len(t.Header) || text == oneLine(row.Cell(column).Text) || text == day(t, row.Cell(column)) {
				continue
			}
			cells = append(cells, make([]sheet.Cell, max(0, column+1-len(cells)))...)
			cells[column] = sheet.Cell{Text: text}
			changed[row.Number][column] = text
		}
		row.Cells = cells
	}
	for number, cells := range changed {
		if len(cells) == 0 {
			delete(changed, number)
		}
	}
	return changed
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
