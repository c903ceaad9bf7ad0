package exchange

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

type importing struct {
	cmd       *cobra.Command
	env       cli.Env
	db        *string
	path      string // FILE or standardInput
	list      *imports.List
	content   []byte // of the file
	columns   string // --map
	creating  bool   // the database is new
	comparing bool
	asJSON    bool
	report    target
	options   imports.Options
}

const importHelp = `Import people from a spreadsheet (CSV or XLSX), vCards, or an export of this
program. FILE can be - for standard input.

Without --apply, nothing changes: import shows how it reads the file, and what
it would do with each row. With --apply it imports all rows, or none if a row is
refused or may be a person who already exists. With --skip-bad it imports the
other rows. The exit code is 1 if there are such rows.

People who already exist stay unchanged. With --update, the filled cells of the
file replace their values.

With --compare, import shows who is only in the file, who is only in the
department, who is probably in both, and which fields differ.

The fields for --map are firstName, lastName, phoneNumber, email, dateOfBirth,
id, name (both names) and nameReversed (last name first).`

func (c Commands) importCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "import FILE",
		Short:      "Import people from a spreadsheet, or compare it",
		GroupID:    cli.GroupPeople,
		SuggestFor: []string{"load", "upload", "compare", "diff", "add"},
		Long:       importHelp,
		Example: `  firefighters import people.xlsx
  firefighters import people.xlsx --apply
  firefighters import people.csv --map "Vorname=firstName,Handy=phoneNumber" --dates dmy
  firefighters import people.csv --report checked.xlsx
  firefighters import insurer.xlsx --compare
  firefighters import undo 7`,
	}
	i := &importing{cmd: cmd, db: cli.AddDB(cmd), report: target{flag: "--report"}}
	department := cli.AddDepartment(cmd)
	o, flags := &i.options, cmd.Flags()
	flags.BoolVar(&o.Apply, "apply", false, "import the people")
	flags.Bool("dry-run", false, "only show what would change (the default)")
	flags.BoolVar(&i.comparing, "compare", false, "compare the file with the department")
	flags.BoolVar(&o.Update, "update", false, "also change people who already exist")
	flags.BoolVar(&o.SkipBad, "skip-bad", false, "import the other rows if some are refused or undecided")
	flags.BoolVar(&o.LeaveOutBad, "leave-out-bad-fields", false, "ignore invalid dates of birth, e-mail addresses and phone numbers")
	flags.BoolVar(&o.New, "new", false, "create the department if it does not exist")
	flags.StringVar(&i.columns, "map", "", "`fields` of columns, such as \"Vorname=firstName,Handy=phoneNumber\"; - ignores a column")
	flags.StringVar(&o.Sheet, "sheet", "", "`name` of the sheet in a workbook with several")
	flags.String(sheet.AskEncoding, "", "`encoding` of a text file, such as windows-1250")
	flags.String(mapping.AskDates, "", "`order` of day, month and year: dmy, mdy or ymd")
	flags.StringVar(&i.report.path, "report", "", "write all rows with their results to this `file` (.csv or .xlsx)")
	flags.BoolVar(&i.report.force, "force", false, "replace the file of --report if it exists")
	flags.BoolVar(&i.asJSON, "json", false, "print everything as JSON")
	cmd.MarkFlagsMutuallyExclusive("apply", "dry-run")
	cmd.MarkFlagsMutuallyExclusive("apply", "compare")
	cmd.MarkFlagFilename("report", sheet.CSV, sheet.XLSX)
	cmd.RegisterFlagCompletionFunc("encoding", cobra.FixedCompletions(sheet.Encodings, cobra.ShellCompDirectiveNoFileComp))
	cmd.RegisterFlagCompletionFunc("dates", cobra.FixedCompletions(mapping.Orders, cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		i.env, i.path = cli.EnvOf(cmd), args[0]
		if o.Department, err = record.NormalizeLabel(*department); err != nil {
			return cli.Usage(fmt.Sprintf("--department %v", err), "")
		}
		if err := i.checkFlags(); err != nil {
			return cli.Usage(err.Error(), "")
		}
		if err := i.report.refuse(*i.db); err != nil {
			return err
		}
		if err = i.run(c); errors.Is(err, context.Canceled) {
			return cli.Unfinished("Stopped. Nothing was changed.", "")
		}
		return i.explain(err)
	}
	return cmd
}

// run reads the list, and compares or imports it.
func (i *importing) run(c Commands) (err error) {
	if i.content, err = readFile(i.env, i.cmd, i.path); err != nil {
		return err
	}
	if i.list, err = imports.Read(i.env.Context, i.content, i.options, time.Now()); err != nil {
		return err
	}
	if i.comparing {
		return c.Database.WithTenant(i.env, *i.db, i.options.Department, i.compare)
	}
	opened := false
	err = c.Database.With(i.env, *i.db, false, func(s *store.Store) error {
		opened = true
		return i.into(c, s)
	})
	if !opened && errors.Is(err, sqlite.ErrNotExist) {
		return i.into(c, nil)
	}
	return err
}

// into applies the import, or shows what it would do. s is nil without a database: then into creates
// one if the import adds people.
func (i *importing) into(c Commands, s *store.Store) error {
	bar := i.env.StartProgress("Importing people")
	defer bar.End()
	ctx, now := i.env.Context, time.Now()
	tenant, create, err := record.TenantID(0), cmp.Or(i.options.Department, store.FirstDepartment), error(nil)
	if s != nil {
		now = s.Clock().Now()
		if tenant, create, err = s.TenantOrNew(i.options.Department, i.options.New); err != nil {
			return store.Failed("reading", *i.db, err)
		}
	}
	if err := i.readCountry(s, tenant); err != nil {
		return err
	}
	f, err := i.list.Map(ctx, i.options, now)
	if err != nil {
		return err
	}
	var o *imports.Outcome
	if i.options.Apply && s != nil {
		f.Options.Progress = func(done int) error {
			bar.Set(done, len(f.Mapped.People))
			return ctx.Err()
		}
		o, err = f.Apply(ctx, s, tenant, 0, nil)
	} else {
		o, err = f.Check(ctx, s, tenant)
	}
	bar.End()
	switch {
	case err != nil:
		return store.Failed("importing into", *i.db, err)
	case i.options.Apply && o.Open() != nil:
		return i.ask(o)
	case i.options.Apply && s == nil && i.writes(o):
		return i.intoNew(c)
	case i.options.Apply && s == nil:
		o.Applied = i.passes(o)
	}
	if i.creating && o.Number != nil {
		i.env.Notef("Created the database %s.", cli.Quote(*i.db))
	}
	note := ""
	switch {
	case create == "":
	case o.Number != nil:
		i.env.Notef("Created the department %q.", create)
	case i.options.Apply:
	case s == nil:
		note = fmt.Sprintf("There is no database %s yet. --apply creates it, with the department %q.", osutil.InQuotes(*i.db), create)
	default:
		note = fmt.Sprintf("There is no department %q yet. --apply creates it.", create)
	}
	return i.finish(f, o, note)
}

// readCountry sets the country of the department, and reads the file again if its encoding depends on
// it. A new department has the country of the system, which does not make an encoding certain.
func (i *importing) readCountry(s *store.Store, tenant record.TenantID) (err error) {
	if i.options.Country = osutil.Country(); tenant == 0 {
		return nil
	}
	if i.options.Country, err = s.Country(tenant); err != nil {
		return store.Failed("reading", *i.db, err)
	}
	if !i.list.ReadAs(i.options) {
		i.list, err = imports.Read(i.env.Context, i.content, i.options, time.Now())
	}
	return err
}

// intoNew is into with a new database. It removes the database after Ctrl-C or another failure, unless
// a server already uses it.
func (i *importing) intoNew(c Commands) error {
	i.creating, c.Database.Quiet = true, true
	path := osutil.Resolve(*i.db)
	release := func() error { return nil }
	unused := false
	err := c.Database.With(i.env, *i.db, true, func(s *store.Store) error {
		err := i.into(c, s)
		if empty, _ := s.Empty(); !empty { // keep the file after an error
			return err
		}
		if unlock, lockErr := backup.Lock(path); lockErr == nil {
			release = unlock
			unused, _ = s.Empty()
		}
		return err
	})
	if unused {
		os.Remove(path)
	}
	release() // removes the lock file of a removed database
	return err
}

// passes reports whether open questions and refused or undecided rows do not prevent the import of the
// others.
func (i *importing) passes(o *imports.Outcome) bool {
	return o.Open() == nil && (o.Refused+o.Perhaps == 0 || i.options.SkipBad)
}

// writes reports whether an import would change something.
func (i *importing) writes(o *imports.Outcome) bool { return i.passes(o) && o.Added+o.Changed > 0 }

// finish prints the outcome with a note, and writes the --report file. It returns an error for refused
// or undecided rows.
func (i *importing) finish(f *imports.File, o *imports.Outcome, note string) error {
	printErr := i.print(f, o, note) // write the report even if printing fails
	err := i.writeReport(func(w io.Writer) error {
		cells := func(r imports.Row) []string { return []string{r.Result, reason(r)} }
		return imports.WriteReport(w, i.report.format, f, o, []string{"result", "reason"}, cells)
	})
	if err != nil {
		return err
	}
	if err := i.refusal(o); err != nil {
		return err
	}
	return printErr
}

func (i *importing) print(f *imports.File, o *imports.Outcome, note string) error {
	if i.asJSON {
		return i.env.PrintJSON(o)
	}
	var t text
	if !i.options.Apply {
		t.describe(i.options.Name, o)
	}
	t.notes(o)
	const rest = "--report FILE shows all"
	t.rows("Refused:", o.All, with(imports.Refused), refused, rest)
	t.rows("Possible duplicates:", o.All, with(imports.Perhaps), perhaps, rest)
	t.rows("Rows left out:", o.All, with(imports.Skipped), skipped, rest)
	t.rows("Fields left out:", o.All, func(r *imports.Row) bool { return len(r.LeftOut) > 0 }, leftOut, rest)
	if !i.options.Apply {
		t.rows("To change:", o.All, with(imports.Changed), changed, "--json shows all")
		t.rows("To add:", o.All, with(imports.Added), added, rest)
	}
	t.paragraph(i.choices(o))
	i.questions(&t, o)
	t.line("")
	if i.options.Apply {
		t.leftOut(o)
	}
	if note != "" {
		t.line("%s", note)
	}
	t.line("%s", i.summary(o))
	if next := i.next(o); next != "" {
		t.line("%s", next)
	}
	return i.env.Print(strings.TrimSpace(t.String()) + "\n")
}

// maxUndeleted limits the ids in a command line.
const maxUndeleted = 100

// choices returns one sentence for each command that treats some rows differently.
func (i *importing) choices(o *imports.Outcome) (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	bad, unknown := 0, 0
	var deleted []string
	for at := range o.All {
		switch r := &o.All[at]; {
		case r.Result != imports.Refused, o.Number != nil:
		case r.Deleted != "":
			deleted = append(deleted, r.Deleted)
		case r.Errors.Has(mapping.ID):
			unknown++
		case r.CouldGoWithout():
			bad++
		}
	}
	if bad > 0 {
		add("To import %s without the invalid fields: %s", people(bad), i.again("--leave-out-bad-fields"))
	}
	if unknown > 0 {
		again := i.again("--map "+i.withColumns("id=-"), "map")
		add("%s have ids of another department. To import them as new people: %s", rows(unknown), again)
	}
	if len(deleted) > 0 {
		ids := strings.Join(deleted[:min(len(deleted), maxUndeleted)], " ")
		add("To restore the deleted people: %s", related(i.cmd, "undelete "+ids))
	}
	if o.Differ > 0 {
		add("Unchanged people who differ from the file: %d. To see how: %s", o.Differ, i.again("--update", "apply"))
	}
	return lines
}

// summary returns one line with the changes that the import made or would make.
func (i *importing) summary(o *imports.Outcome) string {
	if !i.options.Apply {
		line := fmt.Sprintf("To add: %d. To change: %d. Unchanged: %d. Refused: %d.", o.Added, o.Changed, o.LeftPeople(), o.Refused)
		if o.Perhaps > 0 {
			line += fmt.Sprintf(" Possible duplicates: %d.", o.Perhaps)
		}
		if o.Skipped > 0 {
			line += fmt.Sprintf(" Left out: %d.", o.Skipped)
		}
		return line
	}
	if !o.Applied {
		return "Nothing was changed."
	}
	var counts []string
	add := func(n int, count, what string) {
		if n > 0 {
			counts = append(counts, count+" "+what)
		}
	}
	add(o.Added, people(o.Added), "added")
	add(o.Changed, people(o.Changed), "changed")
	add(o.LeftPeople(), people(o.LeftPeople()), "unchanged")
	add(o.Refused, rows(o.Refused), "refused")
	add(o.Perhaps, rows(o.Perhaps), "undecided")
	add(o.Skipped, rows(o.Skipped), "left out")
	result := "Nothing to change"
	if o.Number != nil {
		result = fmt.Sprintf("Import %d", *o.Number)
	}
	return result + ": " + strings.Join(counts, ", ") + "."
}

// next returns the command to run next, or "".
func (i *importing) next(o *imports.Outcome) string {
	switch {
	case o.Number != nil:
		return "To undo it: " + related(i.cmd, fmt.Sprint("import undo ", *o.Number))
	case i.options.Apply:
		return ""
	case !i.writes(o):
		return "Nothing was changed."
	}
	return "Nothing was changed. To import the list: " + i.again("--apply")
}

// refusal returns the error for refused and undecided rows, or nil.
func (i *importing) refusal(o *imports.Outcome) error {
	what, hint := fmt.Sprintf("%d of %s %s refused", o.Refused, rows(len(o.All)), was(o.Refused)), ""
	switch {
	case o.Refused+o.Perhaps == 0:
		return nil
	case o.Refused == 0:
		what = fmt.Sprintf("%d of %s %s undecided", o.Perhaps, rows(len(o.All)), was(o.Perhaps))
	case o.Perhaps > 0:
		what += fmt.Sprintf(", %d undecided", o.Perhaps)
	}
	imported := i.options.SkipBad && i.options.Apply
	if !imported && o.Added+o.Changed > 0 && o.Open() == nil {
		hint = "to import the other rows: " + i.again("--skip-bad --apply", "skip-bad", "apply")
	}
	if o.Perhaps > 0 {
		hint = strings.TrimPrefix(hint+"\nto decide about possible duplicates, import the file on the page: "+related(i.cmd, "open"), "\n")
	}
	switch {
	case imported && o.Number != nil:
		return cli.Unfinished(what+"; the others were imported.", hint)
	case imported:
		return cli.Unfinished(what+"; the others change nothing.", hint)
	}
	return cli.WithHint(errors.New(what+"; nothing was changed"), hint)
}

func (i *importing) writeReport(fill func(io.Writer) error) error {
	if i.report.path == "" {
		return nil
	}
	if err := i.report.write(*i.db, fill); err != nil {
		return err
	}
	i.env.Notef("Wrote %s.", cli.Quote(i.report.path))
	return nil
}
