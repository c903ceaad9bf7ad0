package exchange

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
)

// list is a file with a list of people, and the flags that say how to read it and
// where to write what became of it.
type list struct {
	flags      *pflag.FlagSet
	path       string // standardInput for that
	content    []byte
	db, tenant string
	columns    string // --map
	asJSON     bool
	report     target // without a path: none
	options    imports.Options
}

// newList returns the flags of a command about a list.
func newList(env cli.Env, command, help, report string) *list {
	l := &list{flags: env.Flags(command, help), report: target{flag: "--report"}}
	cli.DBFlagVar(l.flags, &l.db)
	l.flags.StringVar(&l.tenant, "tenant", "", "the department's name (required)")
	l.flags.StringVar(&l.options.Sheet, "sheet", "", "the sheet of a workbook that has several")
	l.flags.StringVar(&l.columns, "map", "", `which column is which field, as "Vorname=firstName,Handy=phoneNumber"; - leaves one out`)
	l.flags.StringVar(&l.options.Encoding, "encoding", "", "of a text file: "+strings.Join(sheet.Encodings, ", "))
	l.flags.StringVar(&l.options.Dates, "dates", "", "order of day, month and year: "+strings.Join(mapping.Orders, ", "))
	l.flags.StringVar(&l.report.path, "report", "", report)
	l.flags.BoolVar(&l.report.force, "force", false, "replace the file of --report if it exists")
	l.flags.BoolVar(&l.asJSON, "json", false, "print everything as JSON")
	return l
}

// parse reads the command line and then the file. Nothing is opened before the
// command line is right.
func (l *list) parse(env cli.Env, args []string) (err error) {
	if l.path, err = env.ParseOne(l.flags, args, "say which file to read"); errors.Is(err, cli.ErrHelp) {
		return err
	}
	if err := cmp.Or(l.misplaced(), err); err != nil {
		return err
	}
	if err := l.check(); err != nil {
		return cli.Wrong(l.flags, err.Error())
	}
	if l.tenant, err = requireTenant(l.flags, l.tenant); err != nil {
		return err
	}
	if err := l.report.refuse(l.db); err != nil {
		return err
	}
	l.content, err = readFile(env, l.path, l.db)
	return l.explain(err)
}

// misplaced returns the usage error for a subcommand that stands after flags.
func (l *list) misplaced() error {
	word := l.flags.Arg(0)
	if l.flags.Name() != "import" || word != "undo" && word != "list" {
		return nil
	}
	return cli.Usage(fmt.Sprintf("import: %q is a command, which must come first", word), "firefighters import "+word+" --help")
}

// check checks the flags that need no file.
func (l *list) check() (err error) {
	o := &l.options
	if o.Name = filepath.Base(l.path); l.path == standardInput {
		o.Name = "standard input"
	}
	switch {
	case o.Encoding != "" && !slices.Contains(sheet.Encodings, o.Encoding):
		return fmt.Errorf("--encoding must be one of %s, not %q", strings.Join(sheet.Encodings, ", "), o.Encoding)
	case o.Dates != "" && !slices.Contains(mapping.Orders, o.Dates):
		return fmt.Errorf("--dates must be one of %s, not %q", strings.Join(mapping.Orders, ", "), o.Dates)
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
func (l *list) writeFile(env cli.Env, fill func(io.Writer) error) error {
	if err := l.report.write(l.db, fill); err != nil {
		return err
	}
	env.Notef("Wrote %s.", cli.Quote(l.report.path))
	return nil
}
