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

// List is what a command lists: a table, or lines of JSON. It is kept in memory
// until it is printed. A slow reader of it would otherwise keep a read transaction
// open, and so the -wal from restarting.
type List struct {
	lines bytes.Buffer
	table *tabwriter.Writer // writes to lines; nil for JSON
}

// NewList returns a list of lines of JSON, or a table with these headings, if there are
// any.
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

// String returns all lines, with the heading of a table.
func (l *List) String() string {
	if l.table != nil {
		l.table.Flush()
	}
	return l.lines.String()
}

// Add adds a line: value in JSON, or the cells in a table.
func (l *List) Add(value any, cells ...string) {
	if l.table == nil {
		writeJSON(&l.lines, value) // a buffer takes everything
		return
	}
	for i, cell := range cells {
		cells[i] = oneLine(cell)
	}
	io.WriteString(l.table, strings.Join(cells, "\t")+"\n")
}

// Print writes the lines to Stdout, and the heading of a table to Stderr, so that
// the result is data alone.
func (l *List) Print(env Env) error {
	lines := l.String()
	if l.table != nil {
		var heading string
		heading, lines, _ = strings.Cut(lines, "\n")
		env.Notef("%s", heading)
	}
	return env.Print(lines)
}
