package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"
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

// stream is an output for people. Everything that a command prints goes through one, so a
// terminal receives only printable text from a database or a file. A line of JSON keeps its
// value.
type stream struct {
	to io.Writer

	mu     sync.Mutex
	failed error // the first error in writing
}

func (s *stream) Write(b []byte) (int, error) {
	if err := s.note(s.print(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// note remembers the first error, and returns err.
func (s *stream) note(err error) error {
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.failed = cmp.Or(s.failed, err)
	}
	return err
}

// print writes the printable form of b.
func (s *stream) print(b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := io.WriteString(s.to, printable(string(b), "\n\t"))
	return err
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
	return n, harmless(d.note(err))
}

// closedPipe is the error of a command whose only purpose is its output, when nobody reads
// it any more.
type closedPipe struct{ error }

func (c *closedPipe) Unwrap() error { return c.error }

// harmless returns err as a closedPipe if the reader has closed the pipe.
func harmless(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return &closedPipe{err}
	}
	return err
}

// Unwrap returns what an output of an Env writes to, for another process, which
// takes care of what it prints.
func Unwrap(w io.Writer) io.Writer {
	if s, ok := w.(*stream); ok {
		return s.to
	}
	return w
}
