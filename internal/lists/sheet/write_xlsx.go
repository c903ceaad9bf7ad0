package sheet

import (
	"io"
	"slices"
	"strings"

	"github.com/firefighter-records/firefighters/internal/lists/internal/xlsx"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// ErrTooManyRows says that a workbook cannot hold all people.
var ErrTooManyRows = xlsx.ErrTooManyRows

// xlsxWriter writes people as a workbook, in which every cell is text but a date of
// birth that is a date alone.
type xlsxWriter struct{ *xlsx.Writer }

func startXLSX(w io.Writer, name string, date1904 bool, header []Cell) xlsxWriter {
	return xlsxWriter{xlsx.NewWriter(w, name, date1904, bookCells(header))}
}

func newXLSX(w io.Writer) Writer { return startXLSX(w, "People", false, textCells(members)) }

func (x xlsxWriter) Write(f *record.Firefighter) error {
	cells := bookCells(textCells(texts(f)))
	if date, ok := strings.CutSuffix(f.DateOfBirth, midnight); ok && date >= FirstDate {
		cells[slices.Index(members, "dateOfBirth")] = xlsx.Cell{Text: date, Kind: xlsx.Date}
	}
	return x.Writer.Write(cells)
}

func (x xlsxWriter) row(cells []Cell) error { return x.Writer.Write(bookCells(cells)) }

// bookCells returns cells for a workbook.
func bookCells(cells []Cell) []xlsx.Cell {
	all := make([]xlsx.Cell, len(cells))
	for i, cell := range cells {
		all[i] = xlsx.Cell{Text: bookText(cell.Text), Kind: xlsx.Kind(cell.Kind)}
	}
	return all
}

// bookText returns a text for a cell of a workbook, where no character needs a
// guard. But Read takes one off there too, so what looks like one gets another.
func bookText(text string) string {
	if strings.HasPrefix(text, "'") && clean(text) != text {
		return "'" + text
	}
	return text
}
