package sheet

import (
	"bufio"
	"io"
	"strings"

	"github.com/firefighter-records/firefighters/internal/people/record"
)

// byteOrderMark tells Excel that a CSV is UTF-8.
const byteOrderMark = "\ufeff"

// guarded are the characters with which a cell may not begin in a CSV: a
// spreadsheet would take it for a formula, or drop the character. An apostrophe
// before them guards it, and Read takes that off. So a cell that really begins
// with an apostrophe needs another one.
const guarded = "=+-@'\t\r"

// csvWriter writes people as RFC 4180.
type csvWriter struct {
	out       *bufio.Writer
	delimiter byte
}

// startCSV begins a CSV. Errors of the writer are kept until its end.
func startCSV(w io.Writer, delimiter byte, header []Cell) *csvWriter {
	c := &csvWriter{bufio.NewWriterSize(w, 64<<10), delimiter}
	c.out.WriteString(byteOrderMark)
	c.row(header)
	return c
}

func newCSV(w io.Writer) Writer { return startCSV(w, ',', textCells(members)) }

func (c *csvWriter) Write(f *record.Firefighter) error { return c.row(textCells(texts(f))) }

func (c *csvWriter) Close() error { return c.out.Flush() }

func (c *csvWriter) row(cells []Cell) error {
	for i, cell := range cells {
		if i > 0 {
			c.out.WriteByte(c.delimiter)
		}
		c.cell(cell.Text)
	}
	_, err := c.out.WriteString("\r\n")
	return err
}

func (c *csvWriter) cell(text string) {
	if text != "" && strings.IndexByte(guarded, text[0]) >= 0 {
		text = "'" + text
	}
	if strings.IndexByte(text, c.delimiter) < 0 && !strings.ContainsAny(text, "\"\r\n") {
		c.out.WriteString(text)
		return
	}
	c.out.WriteByte('"')
	c.out.WriteString(strings.ReplaceAll(text, `"`, `""`))
	c.out.WriteByte('"')
}
