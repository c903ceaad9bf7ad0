package cli

import (
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

// Add adds a line, in which no cell may contain a tab or a line break.
func (t *Table) Add(cells ...string) {
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
