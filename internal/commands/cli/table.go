package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"text/tabwriter"
)

// Table aligns cells in columns. It is kept in memory until it is printed.
type Table struct {
	text strings.Builder
	w    *tabwriter.Writer
}

// NewTable returns a table with the headings of its columns.
func NewTable(heading ...string) *Table {
	t := &Table{}
	t.w = tabwriter.NewWriter(&t.text, 0, 0, 2, ' ', 0)
	t.Add(heading...)
	return t
}

// Add adds a line. Each cell is made Printable.
func (t *Table) Add(cells ...string) {
	for i, cell := range cells {
		cells[i] = Printable(cell)
	}
	io.WriteString(t.w, strings.Join(cells, "\t")+"\n")
}

// Print writes the heading to Stderr and the lines to Stdout, so that the
// result is data alone.
func (t *Table) Print(env Env) error {
	t.w.Flush()
	heading, lines, _ := strings.Cut(t.text.String(), "\n")
	env.Notef("%s", heading)
	_, err := io.WriteString(env.Stdout, lines)
	return err
}

// List is what a command lists: a table, or lines of JSON. It is kept in memory
// until it is printed. A slow reader of it would otherwise keep a read transaction
// open, and so the -wal from restarting.
type List struct {
	asJSON bool
	table  *Table
	lines  bytes.Buffer
}

// NewList returns a list of lines of JSON, or a table with these headings.
func NewList(asJSON bool, heading ...string) *List {
	return &List{asJSON: asJSON, table: NewTable(heading...)}
}

// Add adds a line: a value for JSON, or the cells of a table.
func (l *List) Add(value any, cells func() []string) {
	if !l.asJSON {
		l.table.Add(cells()...)
		return
	}
	lines := json.NewEncoder(&l.lines)
	lines.SetEscapeHTML(false)
	lines.Encode(value) // a buffer takes everything
}

// Print prints the list.
func (l *List) Print(env Env) error {
	if !l.asJSON {
		return l.table.Print(env)
	}
	_, err := l.lines.WriteTo(env.Stdout)
	return err
}
