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
	for _, kind := range []string{sheet.AskEncoding, mapping.AskDates} {
		if value := i.cmd.Flag(kind).Value.String(); value != "" && o.SetAnswer(kind+":"+value) != nil {
			return fmt.Errorf("--%s must be one of %s, not %q", kind, strings.Join(imports.Kinds[kind], ", "), value)
		}
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

// shownOptions is the number of options of a question that are shown with examples.
const shownOptions = 3

// ask returns the error for the first open question, with its options as hints, or nil.
func (i *importing) ask(o *imports.Outcome) error {
	for _, q := range o.Questions {
		if q.Blocks() {
			lines := i.question(q, "")
			return cli.WithHint(fmt.Errorf("%s: %s", osutil.InQuotes(i.path), lowerFirst(lines[0])), strings.Join(lines[1:], "\n"))
		}
	}
	return nil
}

// question returns a question, and a line for each option: with its command, which has more as
// additional flags, if a flag has the name of the kind. Otherwise the last line is the way to the page.
func (i *importing) question(q imports.Question, more string) []string {
	lines := []string{inLine(imports.English.Question(q.Question), sentenceLimit)}
	isFlag := i.cmd.Flags().Lookup(q.Kind) != nil
	var others []string
	for n, option := range q.Options {
		label, example := imports.English.Option(q.Kind, option)
		if example != "" {
			label += ": " + inLine(example, sentenceLimit)
		}
		switch {
		case isFlag && n >= shownOptions:
			others = append(others, option.Value)
			continue
		case isFlag:
			label += ": " + i.again(more+"--"+q.Kind+" "+cli.Quote(option.Value), q.Kind)
		}
		lines = append(lines, label)
	}
	if len(others) > 0 {
		lines = append(lines, "otherwise another --"+q.Kind+": "+strings.Join(others, ", "))
	}
	if !isFlag {
		lines = append(lines, "to answer, import the file on the page: "+related(i.cmd, "open"))
	}
	return lines
}

// questions adds the questions about a list.
func (i *importing) questions(t *text, o *imports.Outcome) {
	more := ""
	if len(o.Open()) == 1 && !i.comparing {
		more = "--apply "
	}
	for _, q := range o.Questions {
		if o.Number == nil {
			t.paragraph([]string{strings.Join(i.question(q, more), "\n  ")})
		}
	}
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
