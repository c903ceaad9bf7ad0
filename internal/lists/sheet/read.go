package sheet

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	utf16 "golang.org/x/text/encoding/unicode"

	"github.com/firefighter-records/firefighters/internal/lists/internal/charset"
	"github.com/firefighter-records/firefighters/internal/lists/internal/vcard"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// MaxFile is the maximum size of a file in bytes.
const MaxFile = 32 << 20

// Limits of a table. Each cell takes about 24 bytes, even if empty, so maxCells allows 12 cells for
// each of 100,000 rows.
const (
	maxRows    = 100_000
	maxColumns = 1_000
	maxCells   = 1_200_000
)

const (
	maxTitles  = 10  // rows searched for the header row
	shownTitle = 200 // characters of a title in a note
)

func fail(code string, args ...any) *FileError { return &FileError{Code: code, Args: args} }

func damaged(err error) error {
	if known, ok := errors.AsType[*FileError](err); ok {
		return known
	}
	return fail(FileDamaged, err.Error())
}

// failSheets returns an error that requires the choice of a sheet. The last argument of the error
// lists the names.
func failSheets(names []string, code string, args ...any) *FileError {
	return &FileError{code, append(args, strings.Join(names, ", ")), names}
}

// Read reads a file. It detects the format from the content, not from the name. The error is a
// *FileError or the error of ctx.
func Read(ctx context.Context, content []byte, o Options) (*Table, error) {
	t, err := read(ctx, content, o)
	if ended := ctx.Err(); ended != nil {
		return nil, ended
	}
	if err == nil && slices.Equal(t.Header[:min(len(t.Header), len(members))], members) {
		t.Ours = true
	}
	return t, err
}

func read(ctx context.Context, content []byte, o Options) (*Table, error) {
	if len(content) > MaxFile {
		return nil, fail(FileTooLarge, MaxFile>>20)
	}
	if bytes.HasPrefix(content, []byte("PK\x03\x04")) || bytes.HasPrefix(content, []byte("PK\x05\x06")) {
		return readXLSX(ctx, content, o.Sheet)
	}
	if code := sniffBytes(content); code != "" {
		return nil, fail(code)
	}
	forced, known := EncodingOf(o.Encoding)
	if o.Encoding != "" && !known {
		return nil, fail(FileEncoding, o.Encoding)
	}
	t, err := readText(ctx, content, forced)
	if e, ok := errors.AsType[*FileError](err); ok && e.Code == FileEmpty {
		err = cmp.Or(Misnamed(o.Name), err)
	}
	return t, err
}

// Misnamed returns a *FileError if the name of a text file has a workbook extension, and nil
// otherwise.
func Misnamed(name string) error {
	switch ending := strings.ToLower(filepath.Ext(name)); ending {
	case ".xlsx", ".xlsm", ".xls":
		return fail(FileText, ending)
	}
	return nil
}

// readText reads a text file in the forced encoding or, if that is empty, in the encoding detected
// from its bytes or declared by its vCards.
func readText(ctx context.Context, content []byte, forced string) (*Table, error) {
	encoding, sure := forced, forced != ""
	cards := vCardStart.Match(content[:min(len(content), sniffed)])
	if cards {
		content = vcard.Unquote(vcard.JoinCharacters(content))
	}
	if !sure {
		encoding = guessEncoding(content)
		sure = encoding != Windows1252
	}
	if !sure && cards {
		if declared := vcard.Charset(content); declared != "" {
			encoding, sure = declared, true
		}
	}
	if sure {
		return readAs(ctx, content, encoding, forced != "")
	}
	t, err := readAs(ctx, content, rawEncoding, false)
	if err != nil {
		return nil, err
	}
	guess := newGuess(t)
	if t, err = readAs(ctx, content, encoding, false); err == nil {
		t.Guess = guess
	}
	return t, err
}

// rawEncoding is the encoding of a file read only for its Guess.
const rawEncoding = ""

// newGuess returns the guess for a table read in rawEncoding.
func newGuess(t *Table) *Guess {
	g := &Guess{}
	for _, header := range t.Header {
		g.Header = append(g.Header, charset.Bytes(header))
	}
	for _, row := range t.Rows {
		if !slices.ContainsFunc(row.Cells, func(c Cell) bool { return !fold.IsASCII(c.Text) }) {
			continue
		}
		for i, cell := range row.Cells {
			row.Cells[i].Text = charset.Bytes(cell.Text)
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

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
	case vCardStart.MatchString(text):
		read = readVCards
	case jsonStart.MatchString(text):
		read = readJSONL
	}
	t, err := read(ctx, text)
	if err != nil {
		return nil, err
	}
	t.Encoding = encoding
	return t, nil
}

// sniffed is the number of bytes searched for signatures.
const sniffed = 4 << 10

// endOfFile ends some DOS text files.
const endOfFile = '\x1A'

// sniffBytes returns the error code for an unsupported binary format, or an empty string.
func sniffBytes(content []byte) string {
	head := bytes.TrimLeft(content[:min(len(content), sniffed)], bomUTF8+" \t\r\n")
	switch {
	case bytes.HasPrefix(content, []byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1")):
		return sniffCompound(content)
	case len(content) > 1 && content[0] == 9 && bytes.IndexByte([]byte{2, 4, 8}, content[1]) >= 0:
		return FileOldExcel // before Excel 97, without a compound file around it
	case bytes.HasPrefix(head, []byte("%PDF")):
		return FilePDF
	case bytes.HasPrefix(head, []byte(`{\rtf`)):
		return FileWord
	case bytes.HasPrefix(head, []byte("\x1F\x8B")), bytes.HasPrefix(head, []byte("\xFF\xD8\xFF")):
		return FileBinary
	}
	return ""
}

// sniffZip returns the error code for an unsupported archive, or an empty string. It recognizes
// archives by the names of their files.
func sniffZip(content []byte) string {
	has := func(name string) bool { return bytes.Contains(content, []byte(name)) }
	const openDocument = "application/vnd.oasis.opendocument."
	_, kind, _ := strings.Cut(string(content[:min(len(content), sniffed)]), openDocument)
	switch {
	case strings.HasPrefix(kind, "spreadsheet"):
		return FileODS
	case strings.HasPrefix(kind, "text"), has("word/document.xml") && !has("xl/workbook.xml"):
		return FileWord
	case has("Index/Document.iwa"), has("index.apxl"):
		return FileNumbers
	case has("xl/workbook.bin"):
		return FileXLSB
	}
	return ""
}

// sniffCompound returns the error code for an OLE compound file. Stream names are in UTF-16.
func sniffCompound(content []byte) string {
	has := func(stream string) bool {
		return bytes.Contains(content, []byte(strings.Join(strings.Split(stream, ""), "\x00")+"\x00"))
	}
	switch {
	case has("EncryptedPackage"):
		return FileEncrypted
	case has("Workbook"), has("Book"):
		return FileOldExcel
	case has("WordDocument"):
		return FileWord
	}
	return FileBinary
}

// sniffText returns the error code for text that is not a list, or an empty string.
func sniffText(text string) string {
	text = strings.TrimLeftFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' })
	head := strings.ToLower(text[:min(len(text), sniffed)])
	has := func(word string) bool { return strings.Contains(head, word) }
	page := has("<!doctype html") || has("<html")
	switch {
	case text == "":
		return FileNothing
	case isBinary(text):
		return FileBinary
	case strings.HasPrefix(head, "<?xml") && !page:
		return FileXML // may also contain <Table>
	case strings.HasPrefix(head, "<") && (page || has("<table") || has("<body")),
		strings.HasPrefix(head, "mime-version:"):
		return FileHTML
	}
	return ""
}

// isBinary reports whether the start of text has many control characters. Cells with a few of them
// are rejected later, by the rules of a record.
func isBinary(text string) bool {
	controls, all := 0, 0
	for _, r := range text[:min(len(text), sniffed)] {
		if all++; r < ' ' && r != endOfFile && !unicode.IsSpace(r) {
			controls++
		}
	}
	return controls > 3 && controls*20 > all
}

// Start of a vCard, and of a JSON object or array of objects.
var (
	vCardStart = regexp.MustCompile(`^(?i)[\s\x{feff}]*BEGIN:VCARD`)
	jsonStart  = regexp.MustCompile(`^[\s\x{feff}]*(?:\[\s*\{|\{\s*["}])`)
)

const (
	bomUTF8    = "\xEF\xBB\xBF"
	bomUTF16LE = "\xFF\xFE"
	bomUTF16BE = "\xFE\xFF"
)

// guessEncoding detects the encoding from the byte order mark, the zeros of UTF-16 or valid UTF-8.
// The fallback is windows-1252.
func guessEncoding(content []byte) string {
	switch {
	case bytes.HasPrefix(content, []byte(bomUTF8)):
		return UTF8
	case bytes.HasPrefix(content, []byte(bomUTF16LE)), bytes.HasPrefix(content, []byte(bomUTF16BE)), isUTF16(content):
		return UTF16
	case utf8.Valid(content):
		return UTF8
	}
	return Windows1252
}

// isUTF16 reports whether content without a byte order mark is UTF-16 text.
func isUTF16(content []byte) bool {
	if _, ok := byteOrder(content); !ok {
		return false
	}
	text, ok := decodeUTF16(content)
	return ok && !isBinary(text)
}

// byteOrder detects the byte order of UTF-16 text without a byte order mark. In human text, line
// breaks, delimiters and Latin letters have a zero in one byte, while the other is rarely zero. It
// returns false if content does not follow this pattern.
func byteOrder(content []byte) (order utf16.Endianness, ok bool) {
	sample := content[:min(len(content), 1<<16)]
	var zeros [2]int
	for i, b := range sample {
		if b == 0 {
			zeros[i%2]++
		}
	}
	enough := 1 + len(sample)/10
	if zeros[0] >= enough && zeros[0] >= 10*zeros[1] {
		return utf16.BigEndian, true
	}
	return utf16.LittleEndian, zeros[1] >= enough && zeros[1] >= 10*zeros[0]
}

// decode decodes content to UTF-8 without byte order marks and reports whether it is valid in the
// encoding. Unassigned bytes of a code page become U+FFFD, which records reject.
func decode(content []byte, encoding string) (text string, ok bool) {
	page := bytes.TrimPrefix(content, []byte(bomUTF8))
	switch ok = true; encoding {
	case UTF8:
		text, ok = string(content), utf8.Valid(content)
	case UTF16:
		text, ok = decodeUTF16(content)
	case rawEncoding:
		text = charset.Raw(page)
	default:
		text = charset.Decode(page, encoding)
	}
	return strings.TrimLeft(text, "\uFEFF"), ok
}

// decodeUTF16 decodes UTF-16. Unpaired surrogates become U+FFFD.
func decodeUTF16(content []byte) (text string, ok bool) {
	order, _ := byteOrder(content)
	decoded, err := utf16.UTF16(order, utf16.UseBOM).NewDecoder().Bytes(content)
	return string(decoded), err == nil && len(content)%2 == 0
}

// clean trims the text of a cell and removes a guard.
func clean(text string) string {
	if text = strings.TrimSpace(text); isGuarded(text) {
		return text[1:]
	}
	return text
}

// collector collects rows with text until ctx ends.
type collector struct {
	ctx     context.Context
	rows    []Row
	cells   int
	guarded bool // cells may have guards
}

// add appends a copy of a row without trailing empty cells.
func (c *collector) add(number int, cells []Cell) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	for i := range cells {
		c.clean(&cells[i])
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

// clean trims the text of a cell, and removes a guard and the invisible characters that its letters
// do not need. In UTF-8 that was decoded twice, such as MarÃ\u00ada, these are parts of letters.
func (c *collector) clean(cell *Cell) {
	text := strings.Trim(cell.Text, " \t\r\n")
	isPlain := IsPlain(text)
	if isPlain || decodeTwice(text) == text {
		text = strings.TrimSpace(text)
	}
	if c.guarded && !isPlain && isGuarded(text) {
		text, cell.Marks = text[1:], cell.Marks|Literal
	}
	if isPlain || decodeTwice(text) == text {
		if visible := fold.CleanName(text); visible != text {
			text, cell.Marks = strings.TrimSpace(visible), cell.Marks|Invisible
		}
	}
	cell.Text = text
}

// named collects rows whose cells have names. The header lists the names in order of appearance.
type named struct {
	collector
	header []string
	column map[string]int // by name
}

// columnOf returns the column for a name, adding it if necessary.
func (n *named) columnOf(name string) int {
	i, ok := n.column[name]
	if !ok {
		i = len(n.header)
		n.column[name] = i
		n.header = append(n.header, name)
	}
	return i
}

func withText(cells []Cell, column int, text string) []Cell {
	cells = append(cells, make([]Cell, max(column+1-len(cells), 0))...)
	cells[column].Text = text
	return cells
}

// table returns the rows as a table. It omits rows above the header row and adds a note about them.
func (c *collector) table() (*Table, error) {
	at := headerOf(c.rows)
	if len(c.rows) < at+2 {
		return nil, fail(FileEmpty)
	}
	t := &Table{all: c.rows}
	t.setHeader(at)
	return t, nil
}

// headerOf returns the index of the header row among rows with text: the first row, unless that is
// a title with one cell above a row of several headers.
func headerOf(rows []Row) int {
	for i, row := range rows[:min(len(rows), maxTitles)] {
		if filled(row) > 1 {
			if isHeader(row) {
				return i
			}
			break
		}
	}
	return 0
}

func filled(row Row) (n int) {
	for _, cell := range row.Cells {
		if cell.Text != "" {
			n++
		}
	}
	return n
}

// isHeader reports whether all cells can be headers: words rather than numbers, dates or email
// addresses.
func isHeader(row Row) bool {
	for _, cell := range row.Cells {
		word := cell.Kind == Text && strings.ContainsFunc(cell.Text, unicode.IsLetter) && !strings.Contains(cell.Text, "@")
		if cell.Text != "" && !word {
			return false
		}
	}
	return true
}
