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

// oneLine escapes line breaks and characters that control a terminal, as JSON does: \u001b. Names in
// a database may contain them.
func oneLine(text string) string { return printable(text, "") }

// printable is oneLine, but keeps the characters in keep and, unless keep is empty, CR LF.
func printable(text, keep string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return hidden(r) || r == utf8.RuneError }) {
		return text
	}
	var safe strings.Builder
	for text != "" {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && n == 1: // invalid UTF-8, perhaps Latin-1
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

// hidden reports whether a character controls the terminal, ends a line or changes the direction of
// text.
func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// stream is an output that writes the printable form of text, so that text from a database or a file
// cannot control a terminal. JSON keeps its value.
type stream struct {
	to io.Writer

	mu     sync.Mutex
	failed error // the first write error
}

func (s *stream) Write(b []byte) (int, error) {
	if err := s.note(s.print(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// note records the first error and returns err.
func (s *stream) note(err error) error {
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.failed = cmp.Or(s.failed, err)
	}
	return err
}

func (s *stream) print(b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := io.WriteString(s.to, printable(string(b), "\n\t"))
	return err
}

// Fd returns the descriptor of the underlying file, for IsTerminal.
func (s *stream) Fd() uintptr {
	if file, ok := s.to.(interface{ Fd() uintptr }); ok {
		return file.Fd()
	}
	return ^uintptr(0)
}

// data writes to a stream without escaping.
type data struct{ *stream }

func (d data) Write(b []byte) (int, error) {
	n, err := d.to.Write(b)
	return n, harmless(d.note(err))
}

// closedPipe is the error of a command that only prints, if the reader has closed the pipe.
type closedPipe struct{ error }

func (c *closedPipe) Unwrap() error { return c.error }

// harmless returns err as a closedPipe if the reader has closed the pipe.
func harmless(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return &closedPipe{err}
	}
	return err
}

// Unwrap returns the writer below an output of an Env, for another process.
func Unwrap(w io.Writer) io.Writer {
	if s, ok := w.(*stream); ok {
		return s.to
	}
	return w
}
