package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns a text of one line. What a terminal would obey, and would not
// show, is written as JSON does, as in \u001b. A name from a database may hold it.
func Printable(text string) string { return printable(text, "") }

// printable is Printable, but for the characters of keep and for line breaks of
// Windows.
func printable(text, keep string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return hidden(r) || r == utf8.RuneError }) {
		return text
	}
	var safe strings.Builder
	for text != "" {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && n == 1: // not UTF-8, and perhaps a character of Latin-1
			fmt.Fprintf(&safe, `\x%02x`, text[0])
		case keep != "" && strings.HasPrefix(text, "\r\n"), !hidden(r), strings.ContainsRune(keep, r):
			safe.WriteString(text[:n])
		default:
			fmt.Fprintf(&safe, `\u%04x`, r)
		}
		text = text[n:]
	}
	return safe.String()
}

// hidden reports whether a character controls the terminal, ends a line, or changes
// the direction of what follows.
func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// text is a stream for people. All that a command prints goes through one, whoever
// has written it: nothing from a database or a file reaches the terminal but what
// can be read. A line of JSON stays the same value.
type text struct{ io.Writer }

func (t text) Write(b []byte) (int, error) {
	if _, err := t.Writer.Write([]byte(printable(string(b), "\n\t"))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Fd returns the descriptor of the stream, as *os.File does, so that a terminal is
// still known as one.
func (t text) Fd() uintptr {
	if file, ok := t.Writer.(interface{ Fd() uintptr }); ok {
		return file.Fd()
	}
	return ^uintptr(0)
}

// Stream returns what a stream of an Env writes to, for another process, which
// takes care of what it prints.
func Stream(w io.Writer) io.Writer {
	if t, ok := w.(text); ok {
		return t.Writer
	}
	return w
}
