package exchange

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
)

// list is a file with a list of people, and the flags that say how to read it and
// where to write what became of it.
type list struct {
	env     cli.Env
	flags   *pflag.FlagSet
	path    string // standardInput for that
	content []byte
	db      *string
	tenant  string
	columns string // --map
	asJSON  bool

	comparing bool

	report  target // without a path: none
	options imports.Options
}

// newList returns the flags of import about a list.
func newList(env cli.Env) *list {
	flags := env.Flags("import", importHelp)
	l := &list{env: env, flags: flags, db: cli.DBFlag(flags), report: target{flag: "--report"}}
	flags.StringVar(&l.tenant, "tenant", "", "the department's name (required)")
	flags.StringVar(&l.options.Sheet, "sheet", "", "the sheet of a workbook that has several")
	flags.StringVar(&l.columns, "map", "", `which column is which field, as "Vorname=firstName,Handy=phoneNumber"; - leaves one out`)
	flags.StringVar(&l.options.Encoding, "encoding", "", "of a text file: "+strings.Join(sheet.Encodings, ", "))
	flags.StringVar(&l.options.Dates, "dates", "", "order of day, month and year: "+strings.Join(mapping.Orders, ", "))
	flags.BoolVar(&l.options.LeaveOutBad, "leave-out-bad-fields", false, "take people without a date of birth, e-mail address or phone number that cannot be kept")
	flags.StringVar(&l.report.path, "report", "", "write all rows to this `file` (.csv or .xlsx), with the result and the reason for each; with --compare a row for each finding")
	flags.BoolVar(&l.report.force, "force", false, "replace the file of --report if it exists")
	flags.BoolVar(&l.asJSON, "json", false, "print everything as JSON")
	return l
}

// parse reads the command line and then the file. Nothing is opened before the
// command line is right.
func (l *list) parse(args []string) (err error) {
	if l.path, err = l.env.ParseOne(l.flags, args, "say which file to read"); err != nil {
		return err
	}
	if err := l.check(); err != nil {
		return cli.Wrong(l.flags, err.Error())
	}
	if l.tenant, err = requireTenant(l.flags, l.tenant); err != nil {
		return err
	}
	if err := l.report.refuse(*l.db); err != nil {
		return err
	}
	l.content, err = readFile(l.env, l.path)
	return l.explain(err)
}

// check checks the flags that need no file.
func (l *list) check() (err error) {
	o := &l.options
	if o.Name = filepath.Base(l.path); l.path == standardInput {
		o.Name = "standard input"
	}
	o.Languages = []string{osutil.Language()}
	switch _, known := sheet.EncodingOf(o.Encoding); {
	case o.Encoding != "" && !known:
		return fmt.Errorf("--encoding must be one of %s, not %q", strings.Join(sheet.Encodings, ", "), o.Encoding)
	case o.Dates != "" && !slices.Contains(mapping.Orders, o.Dates):
		return fmt.Errorf("--dates must be one of %s, not %q", strings.Join(mapping.Orders, ", "), o.Dates)
	case l.comparing && o.Apply:
		return errors.New("--compare changes nothing; leave out --apply")
	case l.report.force && l.report.path == "":
		return errors.New("--force is for --report")
	}
	if l.columns != "" {
		if o.Headers, err = mapping.ParseHeaders(l.columns); err != nil {
			return fmt.Errorf("--map %w", err)
		}
	}
	return l.report.chooseFormat(sheet.CSV, sheet.XLSX)
}

// again is the command as it was typed, with more flags and without some.
func (l *list) again(more string, without ...string) string {
	return strings.TrimSpace(cli.TypedLine(l.flags, 1, without...) + " " + more)
}

// writeFile writes the file of --report, and says so.
func (l *list) writeFile(fill func(io.Writer) error) error {
	if err := l.report.write(*l.db, fill); err != nil {
		return err
	}
	l.env.Notef("Wrote %s.", cli.Quote(l.report.path))
	return nil
}

// explain returns an error about a list in words, with what to type. It returns
// other errors, and nil, as they are.
func (l *list) explain(err error) error {
	if errors.Is(err, context.Canceled) {
		return errors.New("stopped; nothing was changed")
	}
	what, hint, ok := imports.English.Explain(err)
	if !ok {
		return err
	}
	if typed := l.hint(err); typed != "" {
		hint = typed
	}
	name := osutil.InQuotes(l.path)
	if l.path == standardInput {
		name = "standard input"
	}
	err = fmt.Errorf("%s: %s", name, said(strings.TrimSuffix(lowerFirst(what), ".")))
	if hint == "" {
		return err
	}
	return cli.WithHint(err, strings.TrimSuffix(lowerFirst(hint), "."))
}

// hint returns what to type so that the list can be read, a line for each choice, empty
// where no flag helps.
func (l *list) hint(err error) string {
	if e, ok := errors.AsType[*mapping.ColumnsError](err); ok {
		return l.hintOnColumns(e)
	}
	if e, ok := errors.AsType[*mapping.DatesError](err); ok {
		return l.hintOnDates(e)
	}
	if e, ok := errors.AsType[*imports.EncodingError](err); ok {
		return strings.Join(l.encodings(e, ""), "\n")
	}
	e, ok := errors.AsType[*sheet.FileError](err)
	switch {
	case !ok:
	case e.Code == sheet.FileSheets, e.Code == sheet.FileSheet:
		var choices []string
		for _, name := range e.Sheets[:min(len(e.Sheets), shownRows)] {
			choices = append(choices, l.again("--sheet "+cli.Quote(name), "sheet"))
		}
		return strings.Join(choices, "\n")
	case e.Code == sheet.FileEncoding:
		return l.again("", "encoding")
	}
	return ""
}

// encodings returns for each candidate its names and the command to type, with more flags
// and without some, and what to do if no candidate is right.
func (l *list) encodings(e *imports.EncodingError, more string, without ...string) (choices []string) {
	for _, c := range e.Candidates {
		choices = append(choices, fmt.Sprintf("if these names are right: %s: %s", said(c.Text()), l.again(more+"--encoding "+c.Encoding, append(without, "encoding")...)))
	}
	return append(choices, "if none of these is right, save the list as .xlsx in the program it comes from, and import that")
}

// hintOnColumns returns the command with the --map that settles which column is the field.
// Which columns have names it asks in words: a guess would make names of anything.
func (l *list) hintOnColumns(e *mapping.ColumnsError) string {
	named := !slices.Contains(e.Headers, "")
	switch {
	case e.Code == mapping.ColumnsUnknown:
		return "correct --map: each header as it is written in the file"
	case e.Code == mapping.ColumnsNoName && named && len(e.Headers) > 1:
		return "say which columns have the names, in place of A and B: " + l.again("--map "+l.withColumns("A=firstName,B=lastName"), "map")
	case e.Code == mapping.ColumnsNoName && named:
		return "if that column has the names, say so in place of A: " + l.again("--map "+l.withColumns("A=name"), "map")
	case e.Settled.Header != "":
		return l.again("--map "+l.withColumns(quoteHeader(e.Settled.Header)+"="+mapping.MapName(e.Settled.Field)), "map")
	case e.Code == mapping.ColumnsTwice:
		return "let one of these columns alone be that field: correct --map, or the headers in the file"
	}
	return ""
}

// hintOnDates returns a command for each order of dates.
func (l *list) hintOnDates(e *mapping.DatesError) string {
	before := []string{"", ""}
	if e.Other != "" {
		before = []string{"to refuse those with the month first: ", "to refuse those with the day first: "}
	}
	return before[0] + l.again("--dates "+mapping.DMY, "dates") + "\n" + before[1] + l.again("--dates "+mapping.MDY, "dates")
}

// withColumns returns more columns for --map, after those that were typed.
func (l *list) withColumns(more string) string {
	if l.columns != "" {
		more = l.columns + "," + more
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
