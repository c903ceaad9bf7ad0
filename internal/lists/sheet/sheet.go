// Package sheet reads and writes the files in which people keep lists:
// spreadsheets (CSV and XLSX), vCards and JSON lines. It knows no store.
package sheet

import (
	"strings"

	"github.com/firefighter-records/firefighters/internal/lists/internal/charset"
	"github.com/firefighter-records/firefighters/internal/lists/internal/xlsx"
)

// Formats of files.
const (
	CSV   = "csv"
	XLSX  = "xlsx"
	VCard = "vcf"
	JSONL = "jsonl" // a record as the API has it on each line
)

// Names of encodings, as --encoding takes them. The others are those of package charset.
const (
	UTF8        = "utf-8"
	UTF16       = "utf-16"
	Windows1252 = charset.Windows1252
	Windows1250 = charset.Windows1250
)

// Encodings are all of them.
var Encodings = append([]string{UTF8, UTF16}, charset.Pages()...)

// EncodingOf returns the encoding that has this name or another one, in any case.
func EncodingOf(name string) (encoding string, ok bool) {
	switch strings.ToLower(name) {
	case UTF8, "utf8":
		return UTF8, true
	case UTF16, "utf16":
		return UTF16, true
	}
	return charset.Page(name)
}

// Table is a file as rows of cells.
type Table struct {
	Format    string
	Encoding  string // of a CSV, vCard or JSONL; empty for XLSX
	Delimiter string // of a CSV: "," ";" "\t" "|"; empty for a lone column and for other formats
	Sheet     string // of an XLSX: the name of the sheet
	Ours      bool   // this program has exported it
	Header    []string
	HeaderRow int   // its number in the file
	Rows      []Row // without those that have no text in any cell
	Notes     []Note
	Date1904  bool // serial numbers of days count from 1904

	Guess *Guess // nil: the encoding is sure
}

// Guess is the cells of a table whose encoding was guessed, each text as the bytes in
// the file: the header, and the rows that have more than ASCII.
type Guess struct {
	Header []string
	Rows   []Row
}

// Row is a row of a table. Number is what the spreadsheet counts, from 1; in a
// vCard it is the number of the card, in JSON lines the line.
type Row struct {
	Number int
	Cells  []Cell // may be fewer or more than the header has
}

// Cell is a cell. Read trims its text, and takes off a guard (an apostrophe before
// = + - @ ' tab or carriage return).
type Cell = xlsx.Cell

// Kinds of cells. All cells of other formats than XLSX are of the kind Text.
const (
	Text   = xlsx.Text
	Number = xlsx.Number
	Error  = xlsx.Error
	Date   = xlsx.Date // only for WriteTable
)

// FirstDate is the first day that can be a cell of the kind Date.
const FirstDate = "1900-03-01"

// Cell returns the cell of a column, an empty one if the row is too short.
func (r Row) Cell(column int) Cell {
	if column >= len(r.Cells) {
		return Cell{}
	}
	return r.Cells[column]
}

// Note is something that people should know about a file. Package imports has
// the sentences.
type Note struct {
	Code string
	Args []any // ints, strings, Quoted and Places
}

// Quoted is a text of a file that stands in quotation marks in a sentence.
type Quoted string

// Places are the first of some texts of a file, which a sentence lists. More says that
// there are others.
type Places struct {
	First []Place
	More  bool
}

// Place is a text and the number of its row.
type Place struct {
	Text string
	Row  int
}

// Codes of the notes of a table.
const (
	NoteHiddenSheets = "hiddenSheets" // names, joined by ", ": sheets that were not read because they are hidden
	NoteMergedHeader = "mergedHeader" // cell range such as A1:C1
	NoteTitle        = "title"        // number of rows above the header that were left out, the text that they begin with
	NoteHiddenRows   = "hiddenRows"   // number: rows that are hidden in the workbook, and were read
	NoteFormulas     = "formulas"     // number: cells of the sheet whose formulas have no value
)

// Options say how to read a file where it does not say it itself.
type Options struct {
	Encoding string // as EncodingOf takes it; empty: by the file
	Sheet    string // empty: the only one that has cells and is not hidden
	Name     string // of the file, for FileText; may be empty
}

// FileError says what is wrong with a file as a whole. Code is one of those
// below. Package imports has the sentences.
type FileError struct {
	Code   string
	Args   []any    // as those of a Note
	Sheets []string // of FileSheet and FileSheets: the names to choose from
}

func (e *FileError) Error() string { return "the file cannot be read: " + e.Code }

// Codes of a FileError.
const (
	FileNothing   = "nothing"   // nothing in it
	FileEmpty     = "empty"     // no row below the header
	FileText      = "text"      // no list, but text whose name ends like that of a workbook; that ending
	FileTooLarge  = "tooLarge"  // limit in MB
	FileOldExcel  = "xls"       // an .xls workbook
	FileEncrypted = "encrypted" // a workbook with a password
	FileODS       = "ods"       // an OpenDocument spreadsheet
	FilePDF       = "pdf"       //
	FileNumbers   = "numbers"   // of Apple Numbers
	FileZip       = "zip"       // a ZIP archive that is no workbook
	FileXLSB      = "xlsb"      // a binary workbook, .xlsb
	FileXML       = "xml"       // XML, such as an "XML spreadsheet 2003" of Excel
	FileBinary    = "binary"    // anything else that is no text
	FileHTML      = "html"      // a page
	FileDamaged   = "damaged"   // a workbook, vCard or JSON that does not follow its format; what is wrong
	FileBomb      = "bomb"      // a workbook that unpacks to more than the limit, in MB, or to more than the longest list needs
	FileEncoding  = "encoding"  // not valid in the encoding that was asked for; the encoding
	FileQuote     = "quote"     // a quote that does not end; the row where it begins
	FileTooMany   = "tooMany"   // "rows", "columns" or "cells"; the limit
	FileSheet     = "sheet"     // there is no such sheet; the name asked for, the names there are
	FileSheets    = "sheets"    // several could be meant; their names
	FileNoSheet   = "noSheet"   // all sheets are empty or hidden
	FileFormulas  = "formulas"  // the rows have nothing but formulas without values
	FileCards     = "cards"     // the cards have no names and nothing that is kept
)
