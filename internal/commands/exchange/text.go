package exchange

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/lang"
)

// text is what a command says of a list.
type text struct{ strings.Builder }

// line adds a line.
func (t *text) line(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

// table adds lines whose cells are aligned, below a title. Without lines it adds
// nothing.
func (t *text) table(title string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	t.line("\n%s", title)
	aligned := cli.NewList(false)
	for _, cells := range rows {
		for i, cell := range cells {
			cells[i] = shown(cell)
		}
		aligned.Add(nil, cells...)
	}
	for line := range strings.Lines(aligned.String()) {
		t.line("  %s", strings.TrimRight(line, " \n"))
	}
}

// notes adds what people should know, a line each.
func (t *text) notes(all []string) {
	if len(all) > 0 {
		t.line("")
	}
	for _, note := range all {
		t.line("Note: %s", said(note))
	}
}

// Numbers of characters, of a cell in a table and of a sentence that may show some.
const (
	shownLimit = 200
	saidLimit  = 3 * shownLimit
)

// shown returns a text of a file as it may stand on a terminal: in one line, and
// without what would control the terminal.
func shown(cell string) string { return inLine(cell, shownLimit) }

// said returns a sentence that shows texts of a file, likewise.
func said(sentence string) string { return inLine(sentence, saidLimit) }

func inLine(text string, most int) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, lang.Short(text, most))
}

// shownRows is the number of rows that a table shows of many.
const shownRows = 10

// rows adds a table of the first rows of a kind, and after them what to type for the rest.
// There may be 100,000. What about says of a row after its first line begins with "or".
func (t *text) rows(title string, all []imports.Row, is func(*imports.Row) bool, about func(*imports.Row) [][]string, rest string) {
	var lines [][]string
	count := 0
	for i := range all {
		r := &all[i]
		if !is(r) {
			continue
		}
		if count++; count > shownRows {
			continue
		}
		for n, cells := range about(r) {
			line := rowCells(r, cells...)
			if n > 0 {
				line[0], line[1] = "", "or"
			}
			lines = append(lines, line)
		}
	}
	if more := count - shownRows; more > 0 {
		lines = append(lines, []string{fmt.Sprintf("and %d more: %s", more, rest)})
	}
	t.table(title, lines)
}

// with returns a function that reports whether a row has a result.
func with(result string) func(*imports.Row) bool {
	return func(r *imports.Row) bool { return r.Result == result }
}

// reasons returns what is wrong with a row, in one line.
func reasons(errs record.FieldErrors) string {
	var all []string
	for _, e := range errs {
		all = append(all, e.Detail)
	}
	return strings.Join(all, " ")
}

// rowCells are the first cells of a line about a row.
func rowCells(r *imports.Row, more ...string) []string {
	return append([]string{fmt.Sprintf("row %d", r.Row), cmp.Or(r.Name, "-")}, more...)
}

// refused says why a row is refused.
func refused(r *imports.Row) [][]string { return [][]string{{reasons(r.Errors)}} }

// changed says what would become of a person.
func changed(r *imports.Row) [][]string {
	var changes []string
	for _, c := range r.Changes() {
		changes = append(changes, fmt.Sprintf("%s: %s becomes %s", c.Field, cmp.Or(c.Ours, "nothing"), c.Theirs))
	}
	return [][]string{{strings.Join(changes, ", ")}}
}

// added says what is known of a person who would be added.
func added(r *imports.Row) [][]string { return [][]string{{details(r.Fields)}} }

// goesWithout reports whether a row goes without a field, and leftOut says which and why.
func goesWithout(r *imports.Row) bool { return len(r.LeftOut) > 0 }

func leftOut(r *imports.Row) [][]string { return [][]string{{reasons(r.LeftOut)}} }

// perhaps says whom a row could mean.
func perhaps(r *imports.Row) (lines [][]string) {
	for _, like := range r.Like {
		lines = append(lines, []string{imports.English.Why(like.Why), whom(like)})
	}
	return lines
}

// whom returns whom a row could be: a person with the id, or the readings of its name.
func whom(like imports.Like) string {
	if like.ID != nil {
		return like.Person.Summary() + ", " + *like.ID
	}
	var readings []string
	for _, name := range like.Readings {
		readings = append(readings, fmt.Sprintf("first name %s, last name %s", name.First, name.Last))
	}
	return strings.Join(readings, "; or ")
}

// reason says why a row is not plainly added or left, in one line.
func reason(r imports.Row) string {
	var all []string
	for _, like := range r.Like {
		all = append(all, imports.English.Why(like.Why)+": "+whom(like)+".")
	}
	if len(r.LeftOut) > 0 {
		all = append(all, "Left out: "+reasons(r.LeftOut))
	}
	if r.Twin != 0 && r.Result == imports.Left {
		all = append(all, fmt.Sprintf("The row is the same as row %d.", r.Twin))
	}
	return strings.TrimSpace(strings.Join(append(all, reasons(r.Errors)), " "))
}

// details returns what is known of somebody beside the name, in one line.
func details(f record.Fields) string { return strings.Join(f.Details(), ", ") }

// people is "1 person", "2 people".
func people(n int) string { return cli.Count(n, "person", "people") }

// rows is "1 row", "2 rows".
func rows(n int) string { return cli.Count(n, "row", "rows") }

// formatNames are the formats, as people call them.
var formatNames = map[string]string{sheet.CSV: "CSV", sheet.XLSX: "XLSX", sheet.VCard: "vCard", sheet.JSONL: "JSON lines"}

// orderNames are the orders of dates in words.
var orderNames = map[string]string{mapping.DMY: "day, month, year", mapping.MDY: "month, day, year", mapping.YMD: "year, month, day"}

// ways adds what can be typed next, a sentence and a command in each line.
func (t *text) ways(all []string) {
	if len(all) > 0 {
		t.line("")
	}
	for _, way := range all {
		t.line("%s", way)
	}
}

// describe says how a file was read.
func (t *text) describe(name string, o *imports.Outcome) {
	t.line("%s", shown(describeFile(name, o.File)))
	if o.Dates != nil {
		t.line("Its dates are read as %s (%s).", orderNames[*o.Dates], *o.Dates)
	}
	var columns [][]string
	for _, c := range o.Columns {
		if c.Field != nil {
			columns = append(columns, []string{cmp.Or(c.Header, "-"), *c.Field})
		}
	}
	t.table("Its columns:", columns)
	t.leftOut(o)
}

// leftOut names the columns for nothing that we keep.
func (t *text) leftOut(o *imports.Outcome) {
	var headers []string
	for _, c := range o.Columns {
		if c.Field == nil {
			headers = append(headers, shown(cmp.Or(c.Header, "-")))
		}
	}
	if len(headers) > 0 {
		t.line("Left out: %s", strings.Join(headers, ", "))
	}
}

// describeFile is "people.csv is read as CSV in utf-8, with ; between the cells."
func describeFile(name string, f imports.FileInfo) string {
	said := fmt.Sprintf("%s is read as %s", name, formatNames[f.Format])
	if f.Encoding != nil {
		said += " in " + *f.Encoding
	}
	if f.Sheet != nil {
		said += fmt.Sprintf(", its sheet %q", *f.Sheet)
	}
	if f.Delimiter != nil {
		said += ", with " + strings.ReplaceAll(*f.Delimiter, "\t", "a tab") + " between the cells"
	}
	return said + "."
}
