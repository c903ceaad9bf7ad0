package sheet

import (
	"cmp"
	"fmt"
	"io"
)

// WriteTable writes a table with more columns at its end, in the format CSV or
// XLSX. Read returns the same texts for it, and the same kinds of cells where both
// are workbooks. header has the names of the additional columns, and extra returns
// their texts for a row by its position in Rows.
func WriteTable(w io.Writer, format string, t *Table, header []string, extra func(row int) []string) error {
	width := t.width()
	head := wider(textCells(t.Header), width, header)
	var file interface {
		row([]Cell) error
		Close() error
	}
	switch format {
	case CSV:
		file = startCSV(w, cmp.Or(t.Delimiter, ",")[0], head)
	case XLSX:
		file = startXLSX(w, cmp.Or(t.Sheet, "People"), t.Date1904, head)
	default:
		return fmt.Errorf("a table is not written as %q", format)
	}
	for i, row := range t.Rows {
		if err := file.row(wider(row.Cells, width, extra(i))); err != nil {
			return err
		}
	}
	return file.Close()
}

// width returns the number of columns: those of the header, or of a longer row.
func (t *Table) width() int {
	width := len(t.Header)
	for _, row := range t.Rows {
		width = max(width, len(row.Cells))
	}
	return width
}

// wider returns cells with empty ones up to a width, and more texts after them.
func wider(cells []Cell, width int, more []string) []Cell {
	all := make([]Cell, width, width+len(more))
	copy(all, cells)
	return append(all, textCells(more)...)
}

func textCells(texts []string) []Cell {
	cells := make([]Cell, len(texts))
	for i, text := range texts {
		cells[i].Text = text
	}
	return cells
}
