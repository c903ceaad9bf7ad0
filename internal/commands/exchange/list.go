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

// checkFlags checks the flags that describe the list and its report.
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

// again returns the command as it was typed, with more flags and without some.
func (i *importing) again(more string, without ...string) string {
	without = append(without, "dry-run", "report", "force")
	return strings.TrimSpace(cli.CommandLine(i.cmd, without...) + " " + more)
}

// explain returns an error about a list in words, with what to type. It returns other
// errors, and nil, as they are.
func (i *importing) explain(err error) error {
	what, hint, ok := imports.English.Explain(err)
	if !ok {
		return err
	}
	if typed, ok := i.hint(err); ok {
		hint = typed
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

// hint returns what to type so that the list can be read, a line for each choice. ok is
// false where no flag helps, but the words of the error may.
func (i *importing) hint(err error) (typed string, ok bool) {
	if e, ok := errors.AsType[*mapping.ColumnsError](err); ok {
		return i.hintOnColumns(e), true
	}
	if e, ok := errors.AsType[*mapping.DatesError](err); ok {
		before := []string{"", ""}
		if e.Other != "" {
			before = []string{"to refuse those with the month first: ", "to refuse those with the day first: "}
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
		return "", true // that the file is empty says enough
	case e.Code != sheet.FileSheets && e.Code != sheet.FileSheet:
		return "", false
	}
	var choices []string
	for _, name := range e.Sheets[:min(len(e.Sheets), shownRows)] {
		choices = append(choices, i.again("--sheet "+cli.Quote(name), "sheet"))
	}
	return strings.Join(choices, "\n"), true
}

// shownEncodings is the number of encodings that are shown with their names.
const shownEncodings = 3

// encodings returns for the likeliest candidates the names and the command to type, with
// more flags, and then the names of the other candidates.
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

// hintOnColumns returns the command with the --map that decides which column is the field.
// It leaves the columns of the names to people: a guess would make names of anything.
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

// withColumns returns more columns for --map, after those that were typed.
func (i *importing) withColumns(more string) string {
	if i.columns != "" {
		more = i.columns + "," + more
	}
	return cli.Quote(more)
}

// quoteHeader returns a header as --map takes it.
func quoteHeader(header string) string {
	if strings.ContainsAny(header, `,="`) {
		return `"` + strings.ReplaceAll(header, `"`, `""`) + `"`
	}
	return header
}

// lowerFirst makes a sentence the rest of another.
func lowerFirst(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToLower(first)) + text[size:]
}
