package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
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

// text is a stream for people. All that a command prints goes through one. So the
// terminal gets nothing from a database or a file but what can be read. A line of
// JSON stays the same value.
type text struct {
	io.Writer

	mu   sync.Mutex
	held []byte // the end of what was written, which may be a part of a character
}

func (t *text) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := append(t.held, b...)
	end := len(all) - unfinished(all)
	t.held = all[end:]
	if err := t.print(all[:end]); err != nil {
		return 0, err
	}
	return len(b), nil
}

// flush writes what was held back: nothing follows it. It does not wait for a write
// that hangs, as where nobody reads the log.
func (t *text) flush() error {
	if !t.mu.TryLock() {
		return nil
	}
	defer t.mu.Unlock()
	held := t.held
	t.held = nil
	if len(held) == 0 {
		return nil
	}
	return t.print(held)
}

func (t *text) print(b []byte) error {
	_, err := t.Writer.Write([]byte(printable(string(b), "\n\t")))
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

// Fd returns the descriptor of the stream, as *os.File does, so that a terminal is
// still known as one.
func (t *text) Fd() uintptr {
	if file, ok := t.Writer.(interface{ Fd() uintptr }); ok {
		return file.Fd()
	}
	return ^uintptr(0)
}

// Stream returns what a stream of an Env writes to, for another process, which
// takes care of what it prints.
func Stream(w io.Writer) io.Writer {
	if t, ok := w.(*text); ok {
		return t.Writer
	}
	return w
}
