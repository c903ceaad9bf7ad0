package sheet

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/firefighter-records/firefighters/internal/lists/internal/vcard"
)

// MaxFile is the size of the largest file that Read takes, in bytes.
const MaxFile = 32 << 20

// Limits of a table. A row needs about 24 bytes for each cell, also for an empty
// one, so that the number of cells is limited too: there may be 12 for each row.
const (
	maxRows    = 100_000
	maxColumns = 1_000
	maxCells   = 1_200_000
)

const (
	maxTitles  = 10  // rows that are looked at to find the header
	shownTitle = 200 // characters of a title
)

func fail(code string, args ...any) *FileError { return &FileError{Code: code, Args: args} }

// failSheets fails where one of several sheets has to be chosen. Their names are
// the last argument, too.
func failSheets(names []string, code string, args ...any) *FileError {
	return &FileError{code, append(args, strings.Join(names, ", ")), names}
}

// Read reads a file. What it is decides its content, not its name. The error is a
// *FileError, or that of ctx.
func Read(ctx context.Context, content []byte, o Options) (*Table, error) {
	t, err := read(ctx, content, o)
	if ended := ctx.Err(); ended != nil {
		return nil, ended
	}
	return t, err
}

func read(ctx context.Context, content []byte, o Options) (*Table, error) {
	if len(content) > MaxFile {
		return nil, fail(FileTooLarge, MaxFile>>20)
	}
	if isZip(content) {
		return readXLSX(ctx, content, o.Sheet)
	}
	if code := sniffBytes(content); code != "" {
		return nil, fail(code)
	}
	return readText(ctx, content, o.Encoding)
}

// readText reads a file of text in the encoding that is asked for, or else in the
// one that its bytes suggest. Old vCards say which code page it is.
func readText(ctx context.Context, content []byte, forced string) (*Table, error) {
	content = withWholeCharacters(content)
	encoding := forced
	if forced == "" {
		encoding = guessEncoding(content)
	}
	declared := ""
	if forced == "" && encoding == Windows1252 {
		declared = vcard.Charset(content)
		encoding = cmp.Or(declared, encoding)
	}
	t, err := readAs(ctx, content, encoding, forced != "")
	if err != nil {
		return nil, err
	}
	if forced+declared == "" && encoding == Windows1252 && ambiguous(content) {
		t.Other, err = readAs(ctx, content, Windows1250, false)
	}
	return t, err
}

// withWholeCharacters returns the content of vCards whose lines are folded within
// characters of UTF-8 without these folds. RFC 6350 folds octets (section 3.2), so
// that such a file is valid UTF-8 only then. Other content it returns as it is.
func withWholeCharacters(content []byte) []byte {
	if utf8.Valid(content) || !isVCard(string(content[:min(len(content), sniffed)])) {
		return content
	}
	if whole := vcard.JoinCharacters(content); utf8.Valid(whole) {
		return whole
	}
	return content
}

// readAs reads text in an encoding.
func readAs(ctx context.Context, content []byte, encoding string, forced bool) (*Table, error) {
	text, ok := decode(content, encoding)
	if !ok || forced && isBinary(text) {
		return nil, fail(FileEncoding, encoding)
	}
	if code := sniffText(text); code != "" {
		return nil, fail(code)
	}
	read := readCSV
	switch {
	case isVCard(text):
		read = readVCards
	case isJSON(text):
		read = readJSONL
	}
	t, err := read(ctx, text)
	if err != nil {
		return nil, err
	}
	t.Encoding = encoding
	return t, nil
}

// clean returns the text of a cell without white space around it and without a
// guard.
func clean(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > 1 && text[0] == '\'' && strings.IndexByte(guarded, text[1]) >= 0 {
		return text[1:]
	}
	return text
}

// collector gathers the rows of a file that have text. It ends with ctx.
type collector struct {
	ctx   context.Context
	rows  []Row
	cells int
}

// add takes a copy of a row, without the empty cells at its end.
func (c *collector) add(number int, cells []Cell) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	for len(cells) > 0 && cells[len(cells)-1].Text == "" {
		cells = cells[:len(cells)-1]
	}
	c.cells += len(cells)
	switch {
	case len(cells) == 0:
		return nil
	case len(cells) > maxColumns:
		return fail(FileTooMany, "columns", maxColumns)
	case len(c.rows) > maxRows:
		return fail(FileTooMany, "rows", maxRows)
	case c.cells > maxCells:
		return fail(FileTooMany, "cells", maxCells)
	}
	c.rows = append(c.rows, Row{number, slices.Clone(cells)})
	return nil
}

// table returns the rows as a table. Rows above the header are left out, with a note.
func (c *collector) table() (*Table, error) {
	at := headerOf(c.rows)
	if len(c.rows) < at+2 {
		return nil, fail(FileEmpty)
	}
	header := c.rows[at]
	t := &Table{HeaderRow: header.Number, Rows: c.rows[at+1:]}
	if at > 0 {
		title := []rune(c.rows[0].Cells[len(c.rows[0].Cells)-1].Text)
		t.Notes = []Note{{NoteTitle, []any{at, Quoted(title[:min(len(title), shownTitle)])}}}
	}
	for _, cell := range header.Cells {
		t.Header = append(t.Header, clean(strings.Trim(cell.Text, "\ufeff")))
	}
	return t, nil
}

// headerOf returns the position of the header among rows that have text. It is the
// first row, unless that is a title: one cell, above a row of several headings.
func headerOf(rows []Row) int {
	for i, row := range rows[:min(len(rows), maxTitles)] {
		if filled(row) > 1 {
			if isHeading(row) {
				return i
			}
			break
		}
	}
	return 0
}

// filled returns the number of cells that have text.
func filled(row Row) (n int) {
	for _, cell := range row.Cells {
		if cell.Text != "" {
			n++
		}
	}
	return n
}

// isHeading reports whether the cells can be headings: words, and no number, date
// or e-mail address.
func isHeading(row Row) bool {
	for _, cell := range row.Cells {
		word := cell.Kind == Text && strings.ContainsFunc(cell.Text, unicode.IsLetter) && !strings.Contains(cell.Text, "@")
		if cell.Text != "" && !word {
			return false
		}
	}
	return true
}
