// Package vcard reads vCards of versions 2.1, 3.0 and 4.0, including the variations of common
// programs, and writes version 3.0.
package vcard

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/firefighter-records/firefighters/internal/text/calendar"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// Card holds the properties of a card in order.
type Card []Property

type Property struct {
	Name   string // in upper case, without the group
	group  string // in upper case; empty if absent
	params []string
	value  string // raw value, unfolded
	binary bool   // the value, such as a picture, was discarded
}

// Read calls visit for each card in text. It returns a syntax error or the error of visit.
func Read(text string, visit func(number int, card Card) error) error {
	r := reader{visit: visit}
	unfold(text, &r)
	if r.err == nil && r.open {
		r.fail("has no END:VCARD")
	}
	return r.err
}

// Limits per card, to bound memory.
const (
	maxProperties = 2000
	maxParams     = 100 // per property
)

type reader struct {
	visit  func(number int, card Card) error
	number int
	open   bool
	old    bool // version 2.1
	card   Card
	err    error
}

func (p Property) word() string {
	if len(p.value) > 100 {
		return ""
	}
	return strings.ToUpper(strings.TrimSpace(p.value))
}

func (r *reader) fail(what string) { r.err = fmt.Errorf("card %d %s", r.number, what) }

func (r *reader) line(line string) {
	p, ok := parse(line)
	value := p.word()
	switch {
	case r.err != nil || strings.TrimSpace(line) == "":
	case ok && p.Name == "BEGIN":
		r.begin(value)
	case !r.open:
		r.err = fmt.Errorf("unexpected line after card %d: %.40q", r.number, line)
	case ok && p.Name == "END":
		r.end(value)
	case ok:
		if len(r.card) == maxProperties {
			r.fail(fmt.Sprintf("has more than %d properties", maxProperties))
			return
		}
		if len(p.params) > maxParams {
			r.fail(fmt.Sprintf("has a property with more than %d parameters", maxParams))
			return
		}
		r.old = r.old || p.Name == "VERSION" && value == "2.1"
		r.card = append(r.card, p)
	case len(r.card) == 0 || slices.Contains(texts, r.card[len(r.card)-1].Name):
		r.fail(fmt.Sprintf("has an invalid line: %.40q", line))
	} // otherwise it continues a note or a picture, which some programs write without folding
}

func (r *reader) begin(what string) {
	if r.open {
		r.fail("does not end before the next card begins")
		return
	}
	r.number++
	r.open, r.old, r.card = true, false, nil
	if what != "VCARD" {
		r.fail("does not begin with BEGIN:VCARD")
	}
}

func (r *reader) end(what string) {
	r.open = false
	if what != "VCARD" {
		r.fail("does not end with END:VCARD")
		return
	}
	r.err = r.visit(r.number, r.card)
}

// unfold passes the unfolded lines of text to r until an error occurs. Version 2.1 folds at white
// space, which belongs to the value, and also breaks lines within quoted-printable text.
func unfold(text string, r *reader) {
	var line []byte
	broken := false // the line is quoted-printable and continues
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

// brokenCharacter matches a fold in front of a byte that cannot start a UTF-8 character. Regular
// expressions read such a byte as U+FFFD.
var brokenCharacter = regexp.MustCompile("(?:\r\n|\n|\r)[ \t](\uFFFD)")

// JoinCharacters removes folds within UTF-8 characters, because RFC 6350 permits folding between
// octets (section 3.2). It returns content unchanged if the result would not be valid UTF-8.
func JoinCharacters(content []byte) []byte {
	if utf8.Valid(content) {
		return content
	}
	if joined := brokenCharacter.ReplaceAll(content, []byte("$1")); utf8.Valid(joined) {
		return joined
	}
	return content
}

// Unquote replaces quoted-printable text that has no charset and is not UTF-8 with its raw bytes,
// which are in the code page of the rest of the file. ASCII characters stay quoted. Content with
// other UTF-8 text is returned unchanged.
func Unquote(content []byte) []byte {
	if utf8.Valid(content) && !fold.IsASCII(string(content)) {
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

func isBare(line []byte) bool {
	head, _, found := bytes.Cut(line[:min(len(line), 1000)], []byte(":"))
	return found && isQuotedPrintable(line) && !bytes.Contains(bytes.ToUpper(head), []byte("CHARSET="))
}

var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// isQuotedPrintable reports whether the parameters in the first thousand bytes of a line declare
// quoted-printable text.
func isQuotedPrintable(line []byte) bool {
	head, _, _ := bytes.Cut(line[:min(len(line), 1000)], []byte(":"))
	return bytes.Contains(bytes.ToUpper(head), []byte("QUOTED-PRINTABLE"))
}

// texts are the properties that are never binary.
var texts = []string{"N", "FN", "TEL", "EMAIL", "BDAY", "UID"}

var propertyName = regexp.MustCompile(`^[A-Z][A-Z0-9_-]*$`)

// parse parses a line such as item1.TEL;TYPE=CELL:+385 91. It returns false if the line is not a
// property.
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
	switch isText := slices.Contains(texts, p.Name); {
	case !p.encoded("B", "BASE64"):
		p.binary = !isText && len(value) > 5 && strings.EqualFold(value[:5], "data:")
	case isText:
		value, ok = p.decodeBase64(value)
		p.binary = !ok
	default:
		p.binary = true
	}
	if !p.binary {
		p.value = value
	}
	return p, true
}

// decodeBase64 decodes a name or another text that some programs write as base64.
func (p Property) decodeBase64(value string) (text string, ok bool) {
	value = strings.TrimRight(strings.Join(strings.Fields(value), ""), "=")
	content, err := base64.RawStdEncoding.DecodeString(value)
	return p.charset(string(content)), err == nil
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

// Cards writes cards of version 3.0 (RFC 2426), which more phones can read than 4.0.
type Cards struct{ calendar.Lines }

// Begin starts a card. product identifies the program that writes it.
func (c *Cards) Begin(product string) {
	c.Line("BEGIN:VCARD")
	c.Line("VERSION:3.0")
	c.Text("PRODID", product)
}

// End completes a card.
func (c *Cards) End() { c.Line("END:VCARD") }
