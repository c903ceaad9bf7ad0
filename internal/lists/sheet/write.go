package sheet

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/firefighter-records/firefighters/internal/lists/internal/xlsx"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// Writer writes people into a file.
type Writer interface {
	Write(f *record.Firefighter) error
	Close() error // ends the file; it does not close what the file is written to
}

// format is what is known of a format: how a file of it is sent and named, and
// who writes it.
type format struct {
	media   string
	endings []string // of the names of its files
	writer  func(w io.Writer, times bool) Writer
}

var formats = map[string]format{
	XLSX:  {"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", []string{".xlsx"}, newXLSX},
	CSV:   {"text/csv; charset=utf-8", []string{".csv"}, newCSV},
	VCard: {"text/vcard; charset=utf-8", []string{".vcf", ".vcard"}, newVCard},
	JSONL: {"application/x-ndjson", []string{".jsonl", ".ndjson"}, newJSONL},
}

// Formats are all of them, in the order in which they are offered.
var Formats = []string{XLSX, CSV, VCard, JSONL}

// WriteAll writes the people that each hands out in one of Formats, the times of records,
// too, if times is set, until ctx ends. It needs memory for some rows only.
func WriteAll(ctx context.Context, w io.Writer, format string, times bool, each func(func(*record.Firefighter) error) error) error {
	to := formats[format].writer(w, times)
	err := each(func(f *record.Firefighter) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return to.Write(f)
	})
	if err != nil {
		return err
	}
	return to.Close()
}

// ContentType returns the media type of a format.
func ContentType(format string) string { return formats[format].media }

// FormatOf returns the format that the ending of a file's name says, empty for an
// unknown one.
func FormatOf(file string) string {
	ending := strings.ToLower(filepath.Ext(file))
	for name, f := range formats {
		if slices.Contains(f.endings, ending) {
			return name
		}
	}
	return ""
}

// members are the names of a record's members in JSON, in its order.
var members = slices.Concat([]string{"id"}, record.FieldNames(), []string{"invitationStatus", "userId"})

// timeMembers are those that a record has on request, after the others.
var timeMembers = []string{"createdAt", "updatedAt"}

// header returns the header of an export.
func header(times bool) []Cell {
	if times {
		return textCells(slices.Concat(members, timeMembers))
	}
	return textCells(members)
}

var birthMember = slices.Index(members, "dateOfBirth")

// texts returns the members of a record, with times if that is set. What has no value is
// empty.
func texts(f *record.Firefighter, times bool) []string {
	all := []string{f.ID}
	for _, value := range f.Each {
		all = append(all, *value)
	}
	all = append(all, platformText(f.InvitationStatus), platformText(f.UserID))
	if times {
		all = append(all, timeText(f.CreatedAt), timeText(f.UpdatedAt))
	}
	return all
}

// timeText returns a time in milliseconds as JSON has it.
func timeText(at int64) string { return time.UnixMilli(at).UTC().Format(record.InMillis) }

// platformText returns the text of a column that the platform writes. Broken UTF-8,
// which only those can hold, becomes U+FFFD, as in JSON.
func platformText(column *string) string {
	if column == nil {
		return ""
	}
	return strings.ToValidUTF8(*column, string(utf8.RuneError))
}

// jsonlWriter writes each record as the API has it on a line.
type jsonlWriter struct {
	out    *bufio.Writer
	line   []byte
	append func(f *record.Firefighter, b []byte) []byte
}

func newJSONL(w io.Writer, times bool) Writer {
	j := &jsonlWriter{out: bufio.NewWriter(w), append: (*record.Firefighter).AppendJSON}
	if times {
		j.append = (*record.Firefighter).AppendJSONWithTimes
	}
	return j
}

func (w *jsonlWriter) Write(f *record.Firefighter) error {
	w.line = append(w.append(f, w.line[:0]), '\n')
	_, err := w.out.Write(w.line)
	return err
}

func (w *jsonlWriter) Close() error { return w.out.Flush() }

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
	times     bool
}

// startCSV begins a CSV. Errors of the writer are kept until its end.
func startCSV(w io.Writer, delimiter byte, header []Cell) *csvWriter {
	c := &csvWriter{out: bufio.NewWriterSize(w, 64<<10), delimiter: delimiter}
	c.out.WriteString(byteOrderMark)
	c.row(header)
	return c
}

func newCSV(w io.Writer, times bool) Writer {
	c := startCSV(w, ',', header(times))
	c.times = times
	return c
}

func (c *csvWriter) Write(f *record.Firefighter) error { return c.row(textCells(texts(f, c.times))) }

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

// xlsxWriter writes people as a workbook, in which every cell is text but a date of
// birth that is a date alone.
type xlsxWriter struct {
	*xlsx.Writer
	times bool
}

func startXLSX(w io.Writer, name string, header []Cell) xlsxWriter {
	return xlsxWriter{Writer: xlsx.NewWriter(w, name, guard(header))}
}

func newXLSX(w io.Writer, times bool) Writer {
	x := startXLSX(w, "People", header(times))
	x.times = times
	return x
}

func (x xlsxWriter) Write(f *record.Firefighter) error {
	cells := textCells(texts(f, x.times))
	if date, ok := strings.CutSuffix(f.DateOfBirth, midnight); ok && date >= FirstDate {
		cells[birthMember] = Cell{Text: date, Kind: Date}
	}
	return x.row(cells)
}

func (x xlsxWriter) row(cells []Cell) error { return x.Writer.Write(guard(cells)) }

// guard guards cells for a workbook. No character needs that there, but Read takes a
// guard off there too, so what looks like one gets another.
func guard(cells []Cell) []Cell {
	for i, cell := range cells {
		if strings.HasPrefix(cell.Text, "'") && clean(cell.Text) != cell.Text {
			cells[i].Text = "'" + cell.Text
		}
	}
	return cells
}

// WriteTable writes a table with more columns at its end, in the format CSV or
// XLSX. Read returns the same texts for it, and the same kinds of cells where both
// are workbooks. header has the names of the additional columns, and extra returns
// their texts for a row by its position in Rows.
func WriteTable(w io.Writer, format string, t *Table, header []string, extra func(row int) []string) error {
	width := t.width()
	head := wider(textCells(t.Header), width, header)
	var file interface {
		row([]Cell) error // may change the cells
		Close() error
	}
	switch format {
	case CSV:
		file = startCSV(w, cmp.Or(t.Delimiter, ",")[0], head)
	case XLSX:
		file = startXLSX(w, cmp.Or(t.Sheet, "People"), head)
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
