package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"text/tabwriter"
)

// PrintJSON writes a value as a line of JSON.
func (env Env) PrintJSON(value any) error { return harmless(writeJSON(env.Stdout, value)) }

func writeJSON(w io.Writer, value any) error {
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	return lines.Encode(value)
}

// List is a table or lines of JSON. It is buffered until Print, because a slow reader would keep a
// read transaction open, which keeps the -wal file from shrinking.
type List struct {
	lines bytes.Buffer
	table *tabwriter.Writer // writes to lines; nil for JSON
}

// NewList returns a list of JSON lines or a table. A table has a heading unless it is empty.
func NewList(asJSON bool, heading ...string) *List {
	l := &List{}
	if !asJSON {
		l.table = tabwriter.NewWriter(&l.lines, 0, 0, 2, ' ', 0)
	}
	if l.table != nil && len(heading) > 0 {
		l.Add(nil, heading...)
	}
	return l
}

// String returns all lines, including the heading.
func (l *List) String() string {
	if l.table != nil {
		l.table.Flush()
	}
	return l.lines.String()
}

// Add adds a line: the value as JSON, or the cells in a table.
func (l *List) Add(value any, cells ...string) {
	if l.table == nil {
		writeJSON(&l.lines, value) // a Buffer never fails
		return
	}
	for i, cell := range cells {
		cells[i] = oneLine(cell)
	}
	io.WriteString(l.table, strings.Join(cells, "\t")+"\n")
}

// Print writes the lines to Stdout and the heading to Stderr, so that Stdout has only data.
func (l *List) Print(env Env) error {
	lines := l.String()
	if l.table != nil {
		var heading string
		heading, lines, _ = strings.Cut(lines, "\n")
		env.Notef("%s", heading)
	}
	return env.Print(lines)
}
