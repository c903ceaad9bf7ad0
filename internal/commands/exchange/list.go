package exchange

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
)

// checkFlags checks the flags for the list and the report.
func (i *importing) checkFlags() (err error) {
	o := &i.options
	if o.Name = filepath.Base(i.path); i.path == standardInput {
		o.Name = "standard input"
	}
	o.Languages = []string{osutil.Language()}
	switch _, known := sheet.EncodingOf(o.Encoding); {
	case o.Encoding != "" && !known:
		return fmt.Errorf("--encoding must be one of %s, not %q", strings.Join(sheet.Encodings, ", "), o.Encoding)
	case o.Dates != "" && !slices.Contains(mapping.Orders, o.Dates):
		return fmt.Errorf("--dates must be one of %s, not %q", strings.Join(mapping.Orders, ", "), o.Dates)
	}
	if i.columns != "" {
		if o.Headers, err = mapping.ParseHeaders(i.columns); err != nil {
			return fmt.Errorf("--map %w", err)
		}
	}
	return i.report.chooseFormat(sheet.CSV, sheet.XLSX)
}

// again returns the typed command line with more flags and without others.
func (i *importing) again(more string, without ...string) string {
	without = append(without, "dry-run", "report", "force")
	return strings.TrimSpace(cli.CommandLine(i.cmd, without...) + " " + more)
}

// explain converts an error about a list to text for people, with a hint. It returns other errors
// unchanged.
func (i *importing) explain(err error) error {
	what, hint, ok := imports.English.Explain(err)
	if !ok {
		return err
	}
	if commands, ok := i.hint(err); ok {
		hint = commands
	}
	name := osutil.InQuotes(i.path)
	if i.path == standardInput {
		name = "standard input"
	}
	err = fmt.Errorf("%s: %s", name, inLine(strings.TrimSuffix(lowerFirst(what), "."), sentenceLimit))
	if hint == "" {
		return err
	}
	return cli.WithHint(err, strings.TrimSuffix(lowerFirst(hint), "."))
}

// hint returns the commands that can read the list, one per line. ok is false if no flag would help.
func (i *importing) hint(err error) (commands string, ok bool) {
	if e, ok := errors.AsType[*mapping.ColumnsError](err); ok {
		return i.hintOnColumns(e), true
	}
	if e, ok := errors.AsType[*mapping.DatesError](err); ok {
		before := []string{"", ""}
		if e.Other != "" {
			before = []string{"to refuse dates with the month first: ", "to refuse dates with the day first: "}
		}
		return before[0] + i.again("--dates "+mapping.DMY, "dates") + "\n" + before[1] + i.again("--dates "+mapping.MDY, "dates"), true
	}
	if e, ok := errors.AsType[*imports.EncodingError](err); ok {
		return strings.Join(i.encodings(e, ""), "\n"), true
	}
	e, ok := errors.AsType[*sheet.FileError](err)
	switch {
	case !ok:
		return "", false
	case e.Code == sheet.FileEncoding:
		return i.again("", "encoding"), true
	case e.Code == sheet.FileNothing:
		return "", true // an empty file needs no hint
	case e.Code != sheet.FileSheets && e.Code != sheet.FileSheet:
		return "", false
	}
	var choices []string
	for _, name := range e.Sheets[:min(len(e.Sheets), shownRows)] {
		choices = append(choices, i.again("--sheet "+cli.Quote(name), "sheet"))
	}
	return strings.Join(choices, "\n"), true
}

// shownEncodings is the number of encodings that are shown with examples.
const shownEncodings = 3

// encodings returns lines with the likeliest encodings, each with names of people and a command that
// has more as additional flags, and a line with the other encodings.
func (i *importing) encodings(e *imports.EncodingError, more string) (choices []string) {
	var others []string
	for n, c := range e.Candidates {
		if n >= shownEncodings {
			others = append(others, c.Encoding)
			continue
		}
		again := i.again(more+"--encoding "+c.Encoding, "encoding")
		choices = append(choices, fmt.Sprintf("if these names are right: %s: %s", inLine(c.Text(), sentenceLimit), again))
	}
	if len(others) > 0 {
		choices = append(choices, "otherwise another --encoding: "+strings.Join(others, ", "))
	}
	return choices
}

// hintOnColumns returns the command with the --map that resolves the error. It does not guess the
// columns of the names.
func (i *importing) hintOnColumns(e *mapping.ColumnsError) string {
	named := !slices.Contains(e.Headers, "")
	switch {
	case e.Code == mapping.ColumnsNoName && named && len(e.Headers) > 1:
		return "with the headers of the names in place of A and B: " + i.again("--map "+i.withColumns("A=firstName,B=lastName"), "map")
	case e.Code == mapping.ColumnsNoName && named:
		return "if it does: " + i.again("--map "+i.withColumns(quoteHeader(e.Headers[0])+"=name"), "map")
	case e.Settled.Header != "":
		return i.again("--map "+i.withColumns(quoteHeader(e.Settled.Header)+"="+mapping.MapName(e.Settled.Field)), "map")
	}
	return ""
}

// withColumns returns the value of --map with more columns.
func (i *importing) withColumns(more string) string {
	if i.columns != "" {
		more = i.columns + "," + more
	}
	return cli.Quote(more)
}

func quoteHeader(header string) string {
	if strings.ContainsAny(header, `,="`) {
		return `"` + strings.ReplaceAll(header, `"`, `""`) + `"`
	}
	return header
}

func lowerFirst(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToLower(first)) + text[size:]
}
