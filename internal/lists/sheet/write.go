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
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/firefighter-records/firefighters/internal/lists/internal/xlsx"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// Writer writes people to a file.
type Writer interface {
	Write(f *record.Firefighter) error
	Close() error // completes the file; does not close the underlying writer
}

// format describes an export format.
type format struct {
	media   string
	endings []string // file name extensions
	writer  func(w io.Writer, form Form) Writer
}

// Form is the form of a file. The zero value is the form whose rows an import matches by id.
type Form struct {
	Times bool // include the times of records

	// Labels are the headings of a spreadsheet for people, in the order of the fields of a record. It
	// has only these columns, and the days of birth without times. Other formats ignore it.
	Labels []string
	Sheet  string // name of the sheet in a workbook, as SheetName returns it; empty: People
}

var formats = map[string]format{
	XLSX:  {"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", []string{".xlsx"}, newXLSX},
	CSV:   {"text/csv; charset=utf-8", []string{".csv"}, newCSV},
	VCard: {"text/vcard; charset=utf-8", []string{".vcf", ".vcard"}, newVCard},
	JSONL: {"application/x-ndjson", []string{".jsonl", ".ndjson"}, newJSONL},
}

// Formats are all formats, in the order offered.
var Formats = []string{XLSX, CSV, VCard, JSONL}

// WriteAll writes all people passed by each, in the given format and form, until ctx ends. It
// buffers only a few rows.
func WriteAll(ctx context.Context, w io.Writer, format string, form Form, each func(func(*record.Firefighter) error) error) error {
	to := formats[format].writer(w, form)
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

// FormatOf returns the format for a file name extension, or an empty string.
func FormatOf(file string) string {
	ending := strings.ToLower(filepath.Ext(file))
	for name, f := range formats {
		if slices.Contains(f.endings, ending) {
			return name
		}
	}
	return ""
}

// members are the JSON member names of a record, in order.
var members = slices.Concat([]string{"id"}, record.FieldNames(), []string{"invitationStatus", "userId"})

// timeMembers are the optional members at the end.
var timeMembers = []string{"createdAt", "updatedAt"}

func (form Form) header() []Cell {
	switch {
	case form.Labels != nil:
		return textCells(form.Labels)
	case form.Times:
		return textCells(slices.Concat(members, timeMembers))
	}
	return textCells(members)
}

var birthField = slices.Index(record.FieldNames(), "dateOfBirth")

// texts returns a row as text. Missing values are empty.
func (form Form) texts(f *record.Firefighter) (all []string) {
	if form.Labels == nil {
		all = append(all, f.ID)
	}
	for _, value := range f.Each {
		all = append(all, *value)
	}
	if form.Labels != nil {
		all[birthField], _, _ = strings.Cut(f.DateOfBirth, "T")
		return all
	}
	all = append(all, platformText(f.InvitationStatus), platformText(f.UserID))
	if form.Times {
		all = append(all, timeText(f.CreatedAt), timeText(f.UpdatedAt))
	}
	return all
}

// timeText formats milliseconds as in JSON.
func timeText(at int64) string { return time.UnixMilli(at).UTC().Format(record.InMillis) }

// platformText returns the text of a column written by the platform. As in JSON, invalid UTF-8
// becomes U+FFFD; no other column can contain it.
func platformText(column *string) string {
	if column == nil {
		return ""
	}
	return strings.ToValidUTF8(*column, string(utf8.RuneError))
}

// jsonlWriter writes one record per line in the form of the API.
type jsonlWriter struct {
	out    *bufio.Writer
	line   []byte
	append func(f *record.Firefighter, b []byte) []byte
}

func newJSONL(w io.Writer, form Form) Writer {
	j := &jsonlWriter{out: bufio.NewWriter(w), append: (*record.Firefighter).AppendJSON}
	if form.Times {
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

// byteOrderMark lets Excel recognize a CSV as UTF-8.
const byteOrderMark = "\ufeff"

// guarded are characters that must not start a CSV cell, because a spreadsheet would interpret the
// cell as a formula or drop the character. An apostrophe guards them, which Read removes. A cell
// that starts with an apostrophe therefore needs a guard too, and so does a literal one that an import
// would unwrap.
const guarded = "=+-@'\t\r"

// isLiteral reports whether a cell needs a guard because an import would unwrap it.
func isLiteral(cell Cell) bool {
	return cell.Marks&Literal != 0 && (isWrapped(cell.Text) || strings.HasPrefix(cell.Text, "'"))
}

// isGuarded reports whether text is a cell with a guard.
func isGuarded(text string) bool {
	return len(text) > 1 && text[0] == '\'' && (strings.IndexByte(guarded, text[1]) >= 0 || isWrapped(text[1:]))
}

// cells returns a row. An import reads a form with ids literally, and another one like any list: the
// marks protect texts that look wrapped.
func (f Form) cells(person *record.Firefighter) []Cell {
	cells := textCells(f.texts(person))
	for i := range cells {
		if f.Labels != nil {
			cells[i].Marks = Literal
		}
	}
	return cells
}

// csvWriter writes people as CSV (RFC 4180).
type csvWriter struct {
	out       *bufio.Writer
	delimiter byte
	form      Form
}

// startCSV starts a CSV. Write errors surface in row and Close.
func startCSV(w io.Writer, delimiter byte, header []Cell) *csvWriter {
	c := &csvWriter{out: bufio.NewWriterSize(w, 64<<10), delimiter: delimiter}
	c.out.WriteString(byteOrderMark)
	c.row(header)
	return c
}

func newCSV(w io.Writer, form Form) Writer {
	c := startCSV(w, ',', form.header())
	c.form = form
	return c
}

func (c *csvWriter) Write(f *record.Firefighter) error { return c.row(c.form.cells(f)) }

func (c *csvWriter) Close() error { return c.out.Flush() }

func (c *csvWriter) row(cells []Cell) error {
	for i, cell := range cells {
		if i > 0 {
			c.out.WriteByte(c.delimiter)
		}
		c.cell(cell)
	}
	_, err := c.out.WriteString("\r\n")
	return err
}

func (c *csvWriter) cell(cell Cell) {
	text := cell.Text
	if text != "" && strings.IndexByte(guarded, text[0]) >= 0 || isLiteral(cell) {
		text = "'" + text
	}
	entity := c.delimiter == ';' && strings.Contains(text, "&") // the delimiter may seem to end an HTML code
	if !entity && strings.IndexByte(text, c.delimiter) < 0 && !strings.ContainsAny(text, "\"\r\n") {
		c.out.WriteString(text)
		return
	}
	c.out.WriteByte('"')
	c.out.WriteString(strings.ReplaceAll(text, `"`, `""`))
	c.out.WriteByte('"')
}

// xlsxWriter writes people as a workbook. All cells are text except dates of birth without a time.
type xlsxWriter struct {
	*xlsx.Writer
	form Form
}

func startXLSX(w io.Writer, name string, header []Cell) xlsxWriter {
	return xlsxWriter{Writer: xlsx.NewWriter(w, name, guard(header))}
}

func newXLSX(w io.Writer, form Form) Writer {
	x := startXLSX(w, cmp.Or(form.Sheet, "People"), form.header())
	x.form = form
	return x
}

func (x xlsxWriter) Write(f *record.Firefighter) error {
	cells, born := x.form.cells(f), birthField
	if x.form.Labels == nil {
		born++ // after the id
	}
	if date := strings.TrimSuffix(cells[born].Text, midnight); len(date) == len(time.DateOnly) && date >= xlsx.FirstDate {
		cells[born] = Cell{Text: date, Kind: Date}
	}
	return x.row(cells)
}

// SheetName returns a name for a sheet: a title and a day, with the title cut to the length that
// Excel allows, and without characters that it forbids.
func SheetName(title, day string) string {
	title = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`:\/?*[]`, r) || !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, title)
	const longest = 31 // in UTF-16 code units
	title = strings.Join(strings.Fields(strings.TrimLeft(title, " '")), " ")
	for len(utf16.Encode([]rune(title)))+1+len(day) > longest {
		_, last := utf8.DecodeLastRuneInString(title)
		title = title[:len(title)-last]
	}
	return strings.TrimSpace(strings.TrimSpace(title) + " " + day)
}

func (x xlsxWriter) row(cells []Cell) error { return x.Writer.Write(guard(cells)) }

// guard adds an apostrophe to cells that look guarded, and to literal ones that an import would unwrap.
// A workbook needs no other guards.
func guard(cells []Cell) []Cell {
	for i, cell := range cells {
		if isGuarded(cell.Text) || isLiteral(cell) {
			cells[i].Text = "'" + cell.Text
		}
	}
	return cells
}

// WriteTable writes a table with additional columns as CSV or XLSX. Reading it back yields the same
// texts and, between workbooks, the same kinds of cells. header names the additional columns; extra
// returns their texts for a row index.
func WriteTable(w io.Writer, format string, t *Table, header []string, extra func(row int) []string) error {
	width := t.width()
	head := wider(textCells(t.Header), width, header)
	var file interface {
		row([]Cell) error // may modify the cells
		Close() error
	}
	switch format {
	case CSV:
		file = startCSV(w, cmp.Or(t.Delimiter, ",")[0], head)
	case XLSX:
		file = startXLSX(w, cmp.Or(t.Sheet, "People"), head)
	default:
		return fmt.Errorf("cannot write a table as %q", format)
	}
	for i, row := range t.Rows {
		if err := file.row(wider(row.Cells, width, extra(i))); err != nil {
			return err
		}
	}
	return file.Close()
}

// width returns the number of columns, including those of rows longer than the header.
func (t *Table) width() int {
	width := len(t.Header)
	for _, row := range t.Rows {
		width = max(width, len(row.Cells))
	}
	return width
}

// wider pads cells to width and appends more.
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
