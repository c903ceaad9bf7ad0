// Package vcard reads vCards of the versions 2.1, 3.0 and 4.0, and writes 3.0. It
// knows the format and the ways of other programs, and nothing of firefighters.
package vcard

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/firefighter-records/firefighters/internal/lists/internal/charset"
)

// Card is the properties of a card in their order.
type Card []Property

// Property is a property of a card.
type Property struct {
	Name   string // in upper case, without its group
	group  string // in upper case, empty if it has none
	params []string
	value  string // as it stands in the file, unfolded
	binary bool   // a picture or the like, whose value is not kept
}

// Read visits all cards of a text. The error says what is wrong with the text, or
// is that of visit.
func Read(text string, visit func(number int, card Card) error) error {
	r := reader{visit: visit}
	unfold(text, &r)
	if r.err == nil && r.open {
		r.fail("does not end")
	}
	return r.err
}

// Limits of a card, so that memory is bounded.
const (
	maxProperties = 2000
	maxParams     = 100 // of a property
)

// reader gathers cards from lines.
type reader struct {
	visit  func(number int, card Card) error
	number int
	open   bool
	old    bool // version 2.1
	card   Card
	more   []byte // lines that belong to the value of the last property
	err    error
}

// word returns a value that is one word, in upper case.
func (p Property) word() string {
	if len(p.value) > 100 {
		return ""
	}
	return strings.ToUpper(strings.TrimSpace(p.value))
}

func (r *reader) fail(what string) { r.err = fmt.Errorf("card %d %s", r.number, what) }

// line takes a line without folds.
func (r *reader) line(line string) {
	p, ok := parse(line)
	value := p.word()
	if ok {
		r.endValue()
	}
	switch {
	case r.err != nil || strings.TrimSpace(line) == "":
	case ok && p.Name == "BEGIN":
		r.begin(value)
	case !r.open:
		r.err = fmt.Errorf("after card %d stands a line of no card: %.40q", r.number, line)
	case ok && p.Name == "END":
		r.end(value)
	case ok:
		if len(r.card) == maxProperties {
			r.fail(fmt.Sprintf("has more than %d properties", maxProperties))
			return
		}
		if len(p.params) > maxParams {
			r.fail(fmt.Sprintf("has more than %d parameters of a property", maxParams))
			return
		}
		r.old = r.old || p.Name == "VERSION" && value == "2.1"
		r.card = append(r.card, p)
	default:
		r.goOn(line)
	}
}

func (r *reader) begin(what string) {
	if r.open {
		r.fail("does not end before another one begins")
		return
	}
	r.number++
	r.open, r.old, r.card = true, false, nil
	if what != "VCARD" {
		r.fail("begins as something else")
	}
}

func (r *reader) end(what string) {
	r.open = false
	if what != "VCARD" {
		r.fail("ends as something else")
		return
	}
	r.err = r.visit(r.number, r.card)
}

// maxGoOn is the length of a value to which lines are added.
const maxGoOn = 64 << 10

// goOn adds a line that is no property to the one before. Some programs write
// notes of several lines so.
func (r *reader) goOn(line string) {
	if len(r.card) == 0 || len(r.card[len(r.card)-1].value)+len(r.more) > maxGoOn {
		r.fail(fmt.Sprintf("has a line that is no property: %.40q", line))
		return
	}
	if !r.card[len(r.card)-1].binary {
		r.more = append(append(r.more, '\n'), line...)
	}
}

// endValue ends the value of the last property, to which lines were added.
func (r *reader) endValue() {
	if len(r.more) > 0 {
		r.card[len(r.card)-1].value += string(r.more)
		r.more = r.more[:0]
	}
}

// unfold passes the lines of a text to a reader, without folds, until that fails.
// Version 2.1 folds where there is white space, and keeps it. It also breaks lines
// within quoted-printable text.
func unfold(text string, r *reader) {
	var line []byte
	broken := false // the line has text in quoted-printable, and goes on
	for next := range strings.Lines(newlines.Replace(text)) {
		next = strings.TrimSuffix(next, "\n")
		ends := bytes.HasSuffix(line, []byte("="))
		if broken = ends && (broken || isQuotedPrintable(line)); broken {
			line = line[:len(line)-1]
		} else if len(line) > 0 && next != "" && (next[0] == ' ' || next[0] == '\t') {
			if !r.old {
				next = next[1:]
			}
		} else {
			r.line(string(line))
			line = line[:0]
		}
		if r.err != nil {
			return
		}
		line = append(line, next...)
	}
	r.line(string(line))
}

// JoinCharacters returns the content of a file without the folds that stand within
// a character of UTF-8, where the octet after a fold begins none: RFC 6350 folds
// octets (section 3.2). It returns content that is not UTF-8 without them as it is.
func JoinCharacters(content []byte) []byte {
	if utf8.Valid(content) {
		return content
	}
	joined := make([]byte, 0, len(content))
	for i := 0; i < len(content); i++ {
		rest := bytes.TrimPrefix(content[i:], []byte("\r"))
		rest = bytes.TrimPrefix(rest, []byte("\n"))
		if fold := len(content) - i - len(rest); fold > 0 && len(rest) > 1 && (rest[0] == ' ' || rest[0] == '\t') && rest[1]&0xc0 == 0x80 {
			i += fold
			continue
		}
		joined = append(joined, content[i])
	}
	if utf8.Valid(joined) {
		return joined
	}
	return content
}

// Unquote returns the content of a file with the bytes of quoted-printable text as they
// are, where that has no charset and is not UTF-8: they are in the same code page as all
// other text of the file. ASCII stays quoted. It returns content that has other text in
// UTF-8 as it is.
func Unquote(content []byte) []byte {
	if utf8.Valid(content) && !charset.IsASCII(string(content)) {
		return content
	}
	plain := make([]byte, 0, len(content))
	for len(content) > 0 {
		line := firstLine(content)
		bare := isBare(line)
		for bare && bytes.HasSuffix(bytes.TrimRight(line, "\r\n"), []byte("=")) && len(line) < len(content) {
			line = content[:len(line)+len(firstLine(content[len(line):]))]
		}
		content = content[len(line):]
		if bare {
			joined := softBreaks.Replace(string(line))
			if !utf8.ValidString(unquote(joined)) {
				line = []byte(highBytes.ReplaceAllStringFunc(joined, unquote))
			}
		}
		plain = append(plain, line...)
	}
	return plain
}

var (
	softBreaks = strings.NewReplacer("=\r\n", "", "=\n", "", "=\r", "")
	highBytes  = regexp.MustCompile("=[89A-Fa-f][0-9A-Fa-f]")
)

// firstLine returns the first line with its end.
func firstLine(content []byte) []byte {
	end := bytes.IndexAny(content, "\r\n") + 1
	switch {
	case end == 0:
		return content
	case content[end-1] == '\r' && end < len(content) && content[end] == '\n':
		end++
	}
	return content[:end]
}

// isBare reports whether a line has quoted-printable text without a charset.
func isBare(line []byte) bool {
	head, _, found := bytes.Cut(line[:min(len(line), 1000)], []byte(":"))
	return found && isQuotedPrintable(line) && !bytes.Contains(bytes.ToUpper(head), []byte("CHARSET="))
}

var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// isQuotedPrintable reports whether the parameters of a line say so. They stand
// within its first thousand bytes.
func isQuotedPrintable(line []byte) bool {
	head, _, _ := bytes.Cut(line[:min(len(line), 1000)], []byte(":"))
	return bytes.Contains(bytes.ToUpper(head), []byte("QUOTED-PRINTABLE"))
}

// texts are the properties that are never a picture or the like.
var texts = []string{"N", "FN", "TEL", "EMAIL", "BDAY", "UID"}

var propertyName = regexp.MustCompile(`^[A-Z][A-Z0-9_-]*$`)

// parse reads a line as a property, as in item1.TEL;TYPE=CELL:+385 91. ok is false
// for a line that is none.
func parse(line string) (p Property, ok bool) {
	head, value, ok := cutOutsideQuotes(line, ':')
	if !ok {
		head, value, ok = strings.Cut(line, ":")
	}
	name, rest, more := cutOutsideQuotes(head, ';')
	for more && len(p.params) <= maxParams {
		var param string
		param, rest, more = cutOutsideQuotes(rest, ';')
		p.params = append(p.params, param)
	}
	dot := strings.LastIndexByte(name, '.')
	p.group, p.Name = strings.ToUpper(strings.TrimSpace(name[:max(dot, 0)])), strings.ToUpper(strings.TrimSpace(name[dot+1:]))
	if !ok || !propertyName.MatchString(p.Name) {
		return p, false
	}
	p.binary = p.encoded("B", "BASE64") || !slices.Contains(texts, p.Name) && len(value) > 5 && strings.EqualFold(value[:5], "data:")
	if !p.binary {
		p.value = value
	}
	return p, true
}

func cutOutsideQuotes(text string, separator byte) (before, after string, found bool) {
	quoted := false
	for i := range len(text) {
		switch {
		case text[i] == '"':
			quoted = !quoted
		case text[i] == separator && !quoted:
			return text[:i], text[i+1:], true
		}
	}
	return text, "", false
}

// Writer writes cards of version 3.0 (RFC 2426), which more phones read than 4.0.
type Writer struct {
	out interface {
		io.StringWriter
		WriteRune(rune) (int, error)
	}
}

// NewWriter returns a writer of cards. What it writes to a *bytes.Buffer is there at once.
func NewWriter(w io.Writer) *Writer {
	if b, ok := w.(*bytes.Buffer); ok {
		return &Writer{b}
	}
	return &Writer{bufio.NewWriterSize(w, 64<<10)}
}

// Begin begins a card. product says which program wrote it.
func (w *Writer) Begin(product string) {
	w.line("BEGIN:VCARD")
	w.line("VERSION:3.0")
	w.Text("PRODID", product)
}

// End ends a card. It returns an error of what was written so far.
func (w *Writer) End() error { return w.line("END:VCARD") }

// Close writes what is left. It does not close what it is written to.
func (w *Writer) Close() error {
	if b, ok := w.out.(*bufio.Writer); ok {
		return b.Flush()
	}
	return nil
}

var escapes = strings.NewReplacer(`\`, `\\`, `;`, `\;`, `,`, `\,`, "\r\n", `\n`, "\n", `\n`, "\r", `\n`)

// Text writes a property, whose name may have parameters. The value may have
// several components, as a name has. A property without any text is left out.
func (w *Writer) Text(name string, components ...string) {
	for i := range components {
		components[i] = escapes.Replace(components[i])
	}
	if value := strings.Join(components, ";"); strings.Trim(value, ";") != "" {
		w.line(name + ":" + value)
	}
}

// maxLine is the length of a line in octets, without its end.
const maxLine = 75

// line writes a line, folded between characters where it is too long.
func (w *Writer) line(text string) error {
	length := 0
	for _, r := range text {
		if length+utf8.RuneLen(r) > maxLine {
			w.out.WriteString("\r\n ")
			length = 1
		}
		w.out.WriteRune(r)
		length += utf8.RuneLen(r)
	}
	_, err := w.out.WriteString("\r\n")
	return err
}
