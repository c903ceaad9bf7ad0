// Package vcard reads vCards of the versions 2.1, 3.0 and 4.0, and writes 3.0. It
// knows the format and the ways of other programs, and nothing of firefighters.
package vcard

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// Card is the properties of a card in their order.
type Card []Property

// Property is a property of a card.
type Property struct {
	Name   string // in upper case, without its group
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

// maxProperties is how many properties a card may have, so that memory is bounded.
const maxProperties = 2000

// reader gathers cards from lines.
type reader struct {
	visit  func(number int, card Card) error
	number int
	open   bool
	old    bool // version 2.1
	card   Card
	err    error
}

func (r *reader) fail(what string) { r.err = fmt.Errorf("card %d %s", r.number, what) }

// line takes a line without folds.
func (r *reader) line(line string) {
	p, ok := parse(line)
	value := strings.ToUpper(strings.TrimSpace(p.value))
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
	if len(r.card) == 0 || len(r.card[len(r.card)-1].value) > maxGoOn {
		r.fail(fmt.Sprintf("has a line that is no property: %.40q", line))
		return
	}
	if p := &r.card[len(r.card)-1]; !p.binary {
		p.value += "\n" + line
	}
}

// unfold passes the lines of a text to a reader, without folds. Version 2.1 folds
// where there is white space, and keeps it. It also breaks lines within
// quoted-printable text.
func unfold(text string, r *reader) {
	var line []byte
	for next := range strings.Lines(newlines.Replace(text)) {
		next = strings.TrimSuffix(next, "\n")
		switch {
		case bytes.HasSuffix(line, []byte("=")) && isQuotedPrintable(line):
			line = line[:len(line)-1]
		case len(line) > 0 && next != "" && (next[0] == ' ' || next[0] == '\t'):
			if !r.old {
				next = next[1:]
			}
		default:
			r.line(string(line))
			line = line[:0]
		}
		line = append(line, next...)
	}
	r.line(string(line))
}

var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// isQuotedPrintable reports whether the parameters of a line say so. They stand
// within its first thousand bytes.
func isQuotedPrintable(line []byte) bool {
	head, _, _ := bytes.Cut(line[:min(len(line), 1000)], []byte(":"))
	return bytes.Contains(bytes.ToUpper(head), []byte("QUOTED-PRINTABLE"))
}

var propertyName = regexp.MustCompile(`^[A-Z][A-Z0-9_-]*$`)

// parse reads a line as a property, as in item1.TEL;TYPE=CELL:+385 91. ok is false
// for a line that is none.
func parse(line string) (p Property, ok bool) {
	head, value, ok := cutOutsideQuotes(line, ':')
	if !ok {
		head, value, ok = strings.Cut(line, ":")
	}
	name, rest, more := cutOutsideQuotes(head, ';')
	for more {
		var param string
		param, rest, more = cutOutsideQuotes(rest, ';')
		p.params = append(p.params, param)
	}
	p.Name = strings.ToUpper(strings.TrimSpace(name[strings.LastIndexByte(name, '.')+1:]))
	if !ok || !propertyName.MatchString(p.Name) {
		return p, false
	}
	p.binary = p.encoded("B", "BASE64") || len(value) > 5 && strings.EqualFold(value[:5], "data:")
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
