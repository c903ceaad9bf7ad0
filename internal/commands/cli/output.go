package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// oneLine returns a text of one line. What a terminal would obey, and would not
// show, is written as JSON does, as in \u001b. A name from a database may hold it.
func oneLine(text string) string { return printable(text, "") }

// printable is oneLine, but for the characters of keep and for line breaks of Windows.
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

// stream is an output for people. All that a command prints goes through one. So a
// terminal gets nothing from a database or a file but what can be read. A line of
// JSON stays the same value.
type stream struct {
	to io.Writer

	mu     sync.Mutex
	held   []byte // the end of what was written, which may be a part of a character
	failed error  // the first error in writing
}

func (s *stream) Write(b []byte) (int, error) {
	if err := s.note(s.print(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// note remembers the first error, and returns this one.
func (s *stream) note(err error) error {
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.failed = cmp.Or(s.failed, err)
	}
	return err
}

// print writes what can be read of b.
func (s *stream) print(b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := append(s.held, b...)
	end := len(all) - unfinished(all)
	s.held = all[end:]
	return s.pass(all[:end])
}

// flush writes what was held back: nothing follows it.
func (s *stream) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.held) > 0 {
		s.failed = cmp.Or(s.failed, s.pass(s.held))
		s.held = nil
	}
}

func (s *stream) pass(b []byte) error {
	_, err := io.WriteString(s.to, printable(string(b), "\n\t"))
	return err
}

// unfinished returns how many bytes at the end may belong to the next ones: a part of a
// character, or of a line break of Windows.
func unfinished(b []byte) int {
	if len(b) > 0 && b[len(b)-1] == '\r' {
		return 1
	}
	for n := 1; n <= min(len(b), utf8.UTFMax-1); n++ {
		if end := b[len(b)-n:]; utf8.RuneStart(end[0]) && !utf8.FullRune(end) {
			return n
		}
	}
	return 0
}

// Fd returns the descriptor of what it writes to, as *os.File does, so that a
// terminal is still known as one.
func (s *stream) Fd() uintptr {
	if file, ok := s.to.(interface{ Fd() uintptr }); ok {
		return file.Fd()
	}
	return ^uintptr(0)
}

// data writes to a stream byte for byte.
type data struct{ *stream }

func (d data) Write(b []byte) (int, error) {
	n, err := d.to.Write(b)
	return n, d.note(err)
}

// Unwrap returns what an output of an Env writes to, for another process, which
// takes care of what it prints.
func Unwrap(w io.Writer) io.Writer {
	if s, ok := w.(*stream); ok {
		return s.to
	}
	return w
}
