package vcard

import (
	"bufio"
	"io"
	"strings"
	"unicode/utf8"
)

// Writer writes cards of version 3.0 (RFC 2426), which more phones read than 4.0.
type Writer struct{ out *bufio.Writer }

// NewWriter returns a writer of cards.
func NewWriter(w io.Writer) *Writer { return &Writer{bufio.NewWriterSize(w, 64<<10)} }

// Begin begins a card. product says which program wrote it.
func (w *Writer) Begin(product string) {
	w.line("BEGIN:VCARD")
	w.line("VERSION:3.0")
	w.Text("PRODID", product)
}

// End ends a card. It returns an error of what was written so far.
func (w *Writer) End() error { return w.line("END:VCARD") }

// Close writes what is left. It does not close what it is written to.
func (w *Writer) Close() error { return w.out.Flush() }

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
