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

type text struct{ strings.Builder }

func (t *text) line(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

// paragraph adds an empty line and the lines, or nothing without lines.
func (t *text) paragraph(lines []string) {
	if len(lines) > 0 {
		t.line("\n%s", strings.Join(lines, "\n"))
	}
}

// table adds a title and rows with aligned cells, or nothing without rows.
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

// notes adds the warnings of an outcome.
func (t *text) notes(o *imports.Outcome) {
	var lines []string
	for _, warning := range o.Warnings {
		lines = append(lines, "Note: "+inLine(warning, sentenceLimit))
	}
	t.paragraph(lines)
}

// Limits in characters of a cell in a table, and of a sentence that quotes cells.
const (
	cellLimit     = 200
	sentenceLimit = 3 * cellLimit
)

// shown returns a cell of a file for a terminal.
func shown(cell string) string { return inLine(cell, cellLimit) }

// inLine shortens text to limit characters in one line.
func inLine(text string, limit int) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, lang.Short(text, limit))
}

const shownRows = 10

// rows adds a table of the first rows for which keep returns true. rest explains how to see the
// others. cellsOf returns the cells of each line for a row. Lines after the first begin with "or".
func (t *text) rows(title string, all []imports.Row, keep func(*imports.Row) bool, cellsOf func(*imports.Row) [][]string, rest string) {
	var lines [][]string
	count := 0
	for i := range all {
		r := &all[i]
		if !keep(r) {
			continue
		}
		if count++; count > shownRows {
			continue
		}
		for n, cells := range cellsOf(r) {
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

// rowCells returns the cells of a line about a row: number, name and more.
func rowCells(r *imports.Row, more ...string) []string {
	return append([]string{fmt.Sprintf("row %d", r.Row), cmp.Or(r.Name, r.Text, "-")}, more...)
}

func refused(r *imports.Row) [][]string { return [][]string{{details(r.Errors)}} }

func leftOut(r *imports.Row) [][]string { return [][]string{{details(r.LeftOut)}} }

func skipped(r *imports.Row) [][]string { return [][]string{{imports.English.Skip(r.Skip)}} }

func added(r *imports.Row) [][]string { return [][]string{{values(r.Fields)}} }

func changed(r *imports.Row) [][]string {
	var all []string
	for _, c := range changes(r) {
		all = append(all, fmt.Sprintf("%s: %s becomes %s", c.Field, cmp.Or(c.Ours, "nothing"), c.Theirs))
	}
	return [][]string{{strings.Join(all, ", ")}}
}

func perhaps(r *imports.Row) (lines [][]string) {
	for _, like := range r.Like {
		lines = append(lines, []string{imports.English.Why(r, like), candidate(like)})
	}
	return lines
}

// candidate describes a possible duplicate of a row, or the possible readings of its name.
func candidate(like imports.Like) string {
	if like.ID != nil {
		return like.Person.Summary() + ", " + *like.ID
	}
	var readings []string
	for _, name := range like.Readings {
		readings = append(readings, imports.English.Name(name))
	}
	return strings.Join(readings, "; or ")
}

// reason returns why a row is not simply added or unchanged, in one line.
func reason(r imports.Row) string {
	var all []string
	for _, like := range r.Like {
		all = append(all, imports.English.Why(&r, like)+": "+candidate(like)+".")
	}
	if len(r.LeftOut) > 0 {
		all = append(all, "Left out: "+details(r.LeftOut))
	}
	if r.Skip != "" {
		all = append(all, imports.English.Skip(r.Skip))
	}
	if r.Twin != 0 && r.Result == imports.Left {
		all = append(all, fmt.Sprintf("Same as row %d.", r.Twin))
	}
	return strings.TrimSpace(strings.Join(append(all, details(r.Errors)), " "))
}

func details(errs record.FieldErrors) string {
	var all []string
	for _, e := range errs {
		all = append(all, e.Detail)
	}
	return strings.Join(all, " ")
}

// values returns the fields other than the name, in one line.
func values(f record.Fields) string { return strings.Join(f.Details(), ", ") }

// changes returns the changes to a person, with dates in a readable form.
func changes(r *imports.Row) []imports.FieldChange {
	all := r.Changes()
	for i, c := range all {
		if c.Field == "dateOfBirth" {
			all[i].Ours, all[i].Theirs = record.Fields{DateOfBirth: c.Ours}.BirthText(), record.Fields{DateOfBirth: c.Theirs}.BirthText()
		}
	}
	return all
}

func people(n int) string { return cli.Count(n, "person", "people") }

func rows(n int) string { return cli.Count(n, "row", "rows") }

func was(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

var formatNames = map[string]string{sheet.CSV: "CSV", sheet.XLSX: "XLSX", sheet.VCard: "vCard", sheet.JSONL: "JSON lines"}

var orderNames = map[string]string{mapping.DMY: "day, month, year", mapping.MDY: "month, day, year", mapping.YMD: "year, month, day"}

// describe adds the format, columns and dates of a file.
func (t *text) describe(name string, o *imports.Outcome) {
	file := fmt.Sprintf("%s is read as %s", name, formatNames[o.File.Format])
	if o.File.Encoding != nil {
		file += ", encoding " + *o.File.Encoding
	}
	if o.File.Sheet != nil {
		file += fmt.Sprintf(", sheet %q", *o.File.Sheet)
	}
	if o.File.Delimiter != nil {
		file += ", delimiter " + strings.ReplaceAll(*o.File.Delimiter, "\t", "tab")
	}
	t.line("%s", shown(file))
	if o.Dates != nil {
		t.line("Dates are read as %s (%s)", orderNames[*o.Dates], *o.Dates)
	}
	var columns [][]string
	for _, c := range o.Columns {
		if c.Field != nil {
			columns = append(columns, []string{cmp.Or(c.Header, "-"), *c.Field})
		}
	}
	t.table("Columns:", columns)
	t.leftOut(o)
}

// leftOut lists the columns that are not imported.
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
