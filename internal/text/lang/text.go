package lang

import (
	"errors"
	"reflect"
	"strconv"
	"strings"
)

// text is a message in one language, cut apart at its arguments, so that nothing
// is parsed when it is used.
type text struct {
	start string // up to the first argument
	parts []part
	size  int // in bytes, without the arguments
}

// part is an argument and the text behind it.
type part struct {
	argument int
	rest     string
}

var errBraces = errors.New("a brace is not part of an argument such as {0}")

// parseText cuts a text apart. Arguments have one digit.
func parseText(s string) (text, error) {
	start, s, more := strings.Cut(s, "{")
	t := text{start: start, size: len(start)}
	for more {
		if len(s) < 2 || s[0] < '0' || s[0] > '9' || s[1] != '}' {
			return text{}, errBraces
		}
		p := part{argument: int(s[0] - '0')}
		p.rest, s, more = strings.Cut(s[2:], "{")
		t.parts = append(t.parts, p)
		t.size += len(p.rest)
	}
	if strings.Contains(t.literal(), "}") {
		return text{}, errBraces
	}
	return t, nil
}

// literal returns the text without its arguments.
func (t text) literal() string {
	s := t.start
	for _, p := range t.parts {
		s += p.rest
	}
	return s
}

// needs returns a set of bits: bit i is set if the text has {i}.
func (t text) needs() (set uint16) {
	for _, p := range t.parts {
		set |= 1 << p.argument
	}
	return set
}

// maxNumber is the number of bytes in which every number fits, with separators of
// three bytes.
const maxNumber = 20 + 6*3

// format puts the arguments into the text.
func (t text) format(l *Language, a arguments) string {
	if len(t.parts) == 0 {
		return t.start
	}
	size := t.size
	for _, p := range t.parts {
		s, _, _ := a.at(p.argument)
		size += max(len(s), maxNumber)
	}
	var b strings.Builder
	b.Grow(size) // the only allocation
	b.WriteString(t.start)
	for _, p := range t.parts {
		s, n, isNumber := a.at(p.argument)
		if isNumber {
			var buffer [maxNumber]byte
			b.Write(l.grouping.append(buffer[:0], n))
		}
		b.WriteString(s)
		b.WriteString(p.rest)
	}
	return b.String()
}

// arguments are what a text is formatted with.
type arguments struct {
	plural bool
	count  int // {0} of a plural
	args   []any
}

// at returns argument i, which is a text or an integer. If it is missing or
// anything else, at returns what stands for it in the message.
func (a arguments) at(i int) (s string, n int, isNumber bool) {
	index := i
	if a.plural {
		index--
	}
	if index < 0 {
		return "", a.count, true
	}
	if index < len(a.args) {
		switch value := reflect.ValueOf(a.args[index]); {
		case value.Kind() == reflect.String:
			return value.String(), 0, false
		case value.CanInt():
			return "", int(value.Int()), true
		}
	}
	return "{" + strconv.Itoa(i) + "}", 0, false
}
