// Package sheet reads and writes lists of people: spreadsheets (CSV and XLSX), vCards and JSON
// Lines.
package sheet

import (
	"slices"
	"strings"

	"github.com/firefighter-records/firefighters/internal/lists/internal/charset"
	"github.com/firefighter-records/firefighters/internal/lists/internal/xlsx"
)

// File formats.
const (
	CSV   = "csv"
	XLSX  = "xlsx"
	VCard = "vcf"
	JSONL = "jsonl" // one record per line, as in the API
)

// Encodings that other packages refer to. Package charset has the rest.
const (
	UTF8        = "utf-8"
	UTF16       = "utf-16"
	Windows1252 = charset.Windows1252
	Windows1250 = charset.Windows1250
)

// Encodings are the names of all encodings.
var Encodings = append([]string{UTF8, UTF16}, charset.Pages()...)

// EncodingOf returns the canonical name of an encoding. It accepts aliases in any case.
func EncodingOf(name string) (encoding string, ok bool) {
	switch strings.ToLower(name) {
	case UTF8, "utf8":
		return UTF8, true
	case UTF16, "utf16":
		return UTF16, true
	}
	return charset.Page(name)
}

// Table is the content of a file as rows of cells.
type Table struct {
	Format    string
	Encoding  string // for CSV, vCard and JSONL; empty for XLSX
	Delimiter string // for CSV: "," ";" "\t" "|"; empty for a single column and other formats
	Sheet     string // name of the sheet in an XLSX
	Ours      bool   // the file is an export of this program with ids, which is read literally
	Header    []string
	HeaderRow int   // row number in the file
	Rows      []Row // rows with text in at least one cell
	Notes     []Note
	Hidden    []bool  // by column, for XLSX: the sheet hides it
	Merged    []Range // for XLSX: cells whose value counts for several rows
	Date1904  bool    // serial numbers of dates count from 1904

	Organizations []int // numbers of vCards of groups and organizations

	Guess *Guess // nil: the encoding is certain

	all []Row // of a spreadsheet: also the header row and the rows above it
}

// Guess holds the raw bytes of the cells if the encoding was guessed: the header, and all rows with
// bytes outside ASCII.
type Guess struct {
	Header []string
	Rows   []Row
}

// Row is a row of a table. Number counts from 1: the row number in a spreadsheet, the number of a
// vCard, or the line number in JSON Lines.
type Row struct {
	Number int
	Cells  []Cell // may differ in length from the header
}

// IsStruck reports whether all cells with text are struck through.
func (r Row) IsStruck() bool {
	return len(r.Cells) > 0 && !slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.Text != "" && c.Marks&Struck == 0 })
}

// Range is the rows from First to Last of a column.
type Range struct{ Column, First, Last int }

// Cell is a cell. Read trims its text and removes a guard: an apostrophe before = + - @ ' tab,
// carriage return or a text that Unwrap would change.
type Cell = xlsx.Cell

// Kinds of cells. In formats other than XLSX, all cells are Text.
const (
	Text   = xlsx.Text
	Number = xlsx.Number
	Error  = xlsx.Error
	Date   = xlsx.Date
)

// Marks of cells.
const (
	Struck    = xlsx.Struck
	Literal   = xlsx.Literal
	Invisible = xlsx.Invisible
)

// Top returns the first rows of a spreadsheet, including the header row and the rows above it.
func (t *Table) Top() []Row { return t.all[:min(len(t.all), 2*maxTitles)] }

// WithHeader returns the table with the header row that has a number. It returns false if there is no
// such row with rows below it.
func (t *Table) WithHeader(number int) (*Table, bool) {
	at := slices.IndexFunc(t.all, func(r Row) bool { return r.Number == number })
	if at < 0 || at+1 == len(t.all) {
		return nil, false
	}
	other := *t
	other.Notes = slices.DeleteFunc(slices.Clone(t.Notes), func(n Note) bool { return n.Code == NoteTitle })
	other.setHeader(at)
	return &other, true
}

// WithoutHeader returns a spreadsheet with its first row as data, and a header of empty texts.
func (t *Table) WithoutHeader() *Table {
	other, width := *t, 0
	for _, row := range t.all {
		width = max(width, len(row.Cells))
	}
	other.HeaderRow, other.Rows, other.Header = 0, t.all, make([]string, width)
	other.Notes = append(slices.Clone(t.Notes), Note{NoteNoHeader, []any{Quoted(t.all[0].Text())}})
	return &other
}

// WithRows returns the table with only these rows.
func (t *Table) WithRows(rows []Row) *Table {
	other := *t
	other.Rows, other.all = rows, nil
	return &other
}

// setHeader sets the header row to a row of all. It adds a note about the rows above it.
func (t *Table) setHeader(at int) {
	header := t.all[at]
	t.HeaderRow, t.Rows, t.Header = header.Number, t.all[at+1:], nil
	if at > 0 {
		title := []rune(t.all[0].Text())
		t.Notes = append(t.Notes, Note{NoteTitle, []any{at, Quoted(title[:min(len(title), shownTitle)])}})
	}
	for _, cell := range header.Cells {
		t.Header = append(t.Header, strings.TrimSpace(Unwrap(cell.Text, nil)))
	}
}

// Cell returns the cell of a column, or an empty cell if the row is too short.
func (r Row) Cell(column int) Cell {
	if column >= len(r.Cells) {
		return Cell{}
	}
	return r.Cells[column]
}

// Text returns the cells of a row that have text.
func (r Row) Text() string {
	var texts []string
	for _, cell := range r.Cells {
		if cell.Text != "" {
			texts = append(texts, cell.Text)
		}
	}
	return strings.Join(texts, " · ")
}

// Note is information for people about how a file was read. Package imports has the messages.
type Note struct {
	Code string
	Args []any // ints, strings, Quoted and Places
}

// Quoted is text from a file, shown in quotation marks.
type Quoted string

// Places are examples of text from a file. More reports that there are others.
type Places struct {
	First []Place
	More  bool
}

// Place is a text and its row number.
type Place struct {
	Text string
	Row  int
}

// Codes of the notes of a table.
const (
	NoteHiddenSheets = "hiddenSheets" // names, joined by ", ": hidden sheets, which were not read
	NoteMergedHeader = "mergedHeader" // cell range such as A1:C1
	NoteTitle        = "title"        // number of skipped rows above the header row, start of their text
	NoteNoHeader     = "noHeader"     // text of the first row, which is not a header row
	NoteHiddenRows   = "hiddenRows"   // number: hidden rows of the workbook, which were read
	NoteFormulas     = "formulas"     // number: cells whose formulas have no stored value
	NoteQuotes       = "quotes"       // number, before, after: lines that are entirely in quotation marks
)

// Codes of what Unwrap removes. Package mapping returns their notes, with the number of cells, and an
// example before and after.
const (
	NoteFormulaText  = "formulaText"  // ="0912345678", and an apostrophe before a digit
	NoteEncodedTwice = "encodedTwice" // UTF-8 read as another encoding, such as MÃ¼ller
	NoteHTML         = "html"         // HTML codes and tags, such as M&uuml;ller
	NoteEscapes      = "escapes"      // escapes such as O\'Brien, M\u00fcller and M%C3%BCller
)

// Options supplement what the file itself declares.
type Options struct {
	Encoding string // as for EncodingOf; empty: detect
	Sheet    string // empty: the only visible sheet with cells
	Name     string // of the file, for FileText; may be empty
}

// FileError reports that a file cannot be read. Package imports has the messages.
type FileError struct {
	Code   string
	Args   []any    // as in Note
	Sheets []string // for FileSheet and FileSheets: the available names
}

func (e *FileError) Error() string { return "the file cannot be read: " + e.Code }

// Codes of a FileError, with their arguments.
const (
	FileNothing   = "nothing"   // empty file
	FileEmpty     = "empty"     // no row below the header row
	FileText      = "text"      // text instead of a workbook, as the name suggests; extension
	FileTooLarge  = "tooLarge"  // limit in MB
	FileOldExcel  = "xls"       // .xls workbook
	FileEncrypted = "encrypted" // password-protected workbook
	FileODS       = "ods"       // OpenDocument spreadsheet
	FileWord      = "word"      // text document with or without a table (.docx, .doc, .odt, .rtf)
	FilePDF       = "pdf"       // PDF
	FileNumbers   = "numbers"   // Apple Numbers
	FileZip       = "zip"       // ZIP archive that is not a workbook
	FileXLSB      = "xlsb"      // binary workbook (.xlsb)
	FileXML       = "xml"       // XML, such as "XML Spreadsheet 2003" of Excel
	FileBinary    = "binary"    // other binary file
	FileHTML      = "html"      // HTML page
	FileDamaged   = "damaged"   // damaged workbook, vCard or JSON; cause
	FileBomb      = "bomb"      // workbook that unpacks to more than the limit; limit in MB
	FileEncoding  = "encoding"  // invalid in the requested encoding; encoding
	FileQuote     = "quote"     // unterminated quote; row in which it starts
	FileTooMany   = "tooMany"   // "rows", "columns" or "cells"; limit
	FileSheet     = "sheet"     // no such sheet; requested name, available names
	FileSheets    = "sheets"    // several candidate sheets; names
	FileNoSheet   = "noSheet"   // all sheets are empty or hidden
	FileFormulas  = "formulas"  // only formulas without stored values
	FileCards     = "cards"     // vCards without names or other data to import
)
