package exchange

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

const importHelp = `Usage: firefighters import FILE --tenant NAME [flags]
       firefighters import undo NUMBER --tenant NAME [flags]
       firefighters import list --tenant NAME [flags]

Reads people from a spreadsheet (CSV, XLSX), from vCards, or from an export of
this program. Without --apply it changes nothing, and says what it would do: who
would be added, who is there already, who perhaps is, and which rows are refused
and why. With --apply all rows go in at once, or none if a row is refused or
undecided, unless --skip-bad says that the others should. A new department is
made with its first import.

  firefighters import people.xlsx --tenant "Engine 7"
  firefighters import people.xlsx --tenant "Engine 7" --apply
  firefighters import people.csv --tenant "Engine 7" --map "Vorname=firstName,Handy=phoneNumber" --dates dmy
  firefighters import people.csv --tenant "Engine 7" --report checked.xlsx
  firefighters import insurer.xlsx --tenant "Engine 7" --compare
  firefighters import undo 7 --tenant "Engine 7"

With --compare it prints who is only on the list of the file, who is only in the
department, who is probably on both, and the fields that differ. It compares only
the fields for which the file has a value.

Somebody who is there already is left alone. With --update the cells of the file
that hold something replace what is there. A row that is perhaps somebody who is
there is undecided: on the page you can say who it is (firefighters open). A
column can be firstName, lastName, phoneNumber, email, dateOfBirth, id, name
(both names), nameReversed (the last name first), or - to leave it out. FILE can
be - for standard input. The exit code is 1 if a row is refused or undecided,
also without --apply.

Flags:
`

// importing is an import that a command does, or previews.
type importing struct {
	*list
	missing bool // the department does not exist yet
}

func (c Commands) importFile(env cli.Env, args []string) error {
	i := importing{list: newList(env)}
	o := &i.options
	i.flags.BoolVar(&o.Apply, "apply", false, "do it; without this flag nothing is changed")
	i.flags.BoolVar(&o.Update, "update", false, "change people who are there already")
	i.flags.BoolVar(&o.SkipBad, "skip-bad", false, "import the other rows if some are refused or undecided")
	i.flags.BoolVar(&o.Alike, "new", false, "make the department also if the name of another is nearly the same")
	i.flags.BoolVar(&i.comparing, "compare", false, "compare the file with the department, and change nothing")
	if err := i.parse(args); err != nil {
		return err
	}
	if i.comparing {
		return c.Database.WithTenant(env, *i.db, i.tenant, i.compare)
	}
	o.Department = i.tenant
	opened := false
	err := c.Database.With(env, *i.db, false, func(s *store.Store) error {
		opened = true
		return i.into(s)
	})
	if opened || !errors.Is(err, sqlite.ErrNotExist) {
		return err
	}
	return i.intoNothing(c)
}

// intoNothing is into for a database that does not exist. It is made if there is
// somebody to be added.
func (i importing) intoNothing(c Commands) error {
	i.missing = true
	f, err := imports.Read(i.env.Context, i.content, i.options, time.Now())
	if err != nil {
		return i.explain(err)
	}
	o, err := f.Check(i.env.Context, nil, 0)
	switch {
	case err != nil:
		return i.explain(err)
	case i.options.Apply && f.Unsure != nil:
		return i.explain(f.Unsure)
	case i.options.Apply && i.writes(o):
		return c.Database.With(i.env, *i.db, true, i.into)
	}
	if i.options.Apply {
		o.Applied = i.passes(o)
		return i.finish(f, o, "")
	}
	return i.finish(f, o, "There is no database "+osutil.InQuotes(*i.db)+" yet: --apply makes it, with the department.")
}

// into does the import, or says what it would do.
func (i importing) into(s *store.Store) error {
	f, err := imports.Read(i.env.Context, i.content, i.options, s.Clock().Now())
	if err != nil {
		return i.explain(err)
	}
	tenant, missing, err := i.department(s)
	if err != nil {
		return store.Failed("reading", *i.db, err)
	}
	var o *imports.Outcome
	if i.options.Apply {
		bar := cli.NewProgress(i.env, "people")
		f.Options.Progress = func(done int) { bar.Set(done, len(f.Mapped.People)) }
		o, err = f.Apply(i.env.Context, s, tenant, 0, nil)
		bar.End()
	} else {
		o, err = f.Check(i.env.Context, s, tenant)
	}
	if err != nil {
		return i.explain(store.Failed("importing into", *i.db, err))
	}
	note := ""
	switch {
	case missing && o.Number != nil:
		i.env.Notef("Made the department %q.", i.tenant)
	case missing && !i.options.Apply:
		note = fmt.Sprintf("There is no department %q yet: --apply makes it.", i.tenant)
	}
	i.missing = missing && o.Number == nil
	return i.finish(f, o, note)
}

// department returns the department, 0 and missing for one that the import would
// make. The error is a *store.TakenError if its name is alike to that of another.
func (i importing) department(s *store.Store) (tenant record.TenantID, missing bool, err error) {
	tenant, err = s.Tenant(i.tenant)
	if _, missing = errors.AsType[*store.NoTenantError](err); !missing {
		return tenant, false, err
	}
	if i.options.Alike {
		return 0, true, nil
	}
	return 0, true, s.RefuseAlike(i.tenant)
}

// passes reports whether rows that are refused or undecided do not keep the others from
// going in.
func (i importing) passes(o *imports.Outcome) bool {
	return o.Refused+o.Perhaps == 0 || i.options.SkipBad
}

// writes reports whether an import would change something.
func (i importing) writes(o *imports.Outcome) bool { return i.passes(o) && o.Added+o.Changed > 0 }

// finish prints the outcome, and writes the file of --report. note is added
// to what people read. The error says that rows are refused.
func (i importing) finish(f *imports.File, o *imports.Outcome, note string) error {
	if err := i.print(f, o, note); err != nil {
		return err
	}
	if err := i.writeReport(f, o); err != nil {
		return err
	}
	return i.refusal(f, o)
}

func (i importing) print(f *imports.File, o *imports.Outcome, note string) error {
	if i.asJSON {
		return i.env.PrintJSON(o)
	}
	var t text
	if !i.options.Apply {
		t.describe(i.options.Name, o)
	}
	t.notes(warnings(f, o))
	const rest = "--report FILE shows all"
	t.rows("Refused:", o.All, with(imports.Refused), refused, rest)
	t.rows("Perhaps somebody who is there:", o.All, with(imports.Perhaps), perhaps, rest)
	t.rows("Fields that are left out:", o.All, goesWithout, leftOut, rest)
	if !i.options.Apply {
		t.rows("Changed:", o.All, with(imports.Changed), changed, "--json shows all")
		t.rows("Added:", o.All, with(imports.Added), added, rest)
	}
	t.ways(i.waysOn(f, o))
	t.line("")
	if i.options.Apply {
		t.leftOut(o)
	}
	if note != "" {
		t.line("%s", note)
	}
	t.line("%s", i.summary(o))
	if next := i.next(f, o); next != "" {
		t.line("%s", next)
	}
	return i.env.Println(strings.TrimSpace(t.String()))
}

// warnings returns the warnings of an outcome without those about the encoding, which is
// printed last, with what to type.
func warnings(f *imports.File, o *imports.Outcome) []string {
	if f.Unsure != nil {
		return o.Warnings[len(f.Unsure.Candidates):]
	}
	return o.Warnings
}

// summary says in a line what was done, or would be.
func (i importing) summary(o *imports.Outcome) string {
	if !i.options.Apply {
		text := fmt.Sprintf("To add: %d. To change: %d. To leave as they are: %d. Refused: %d.", o.Added, o.Changed, o.LeftPeople(), o.Refused)
		if o.Perhaps > 0 {
			text += fmt.Sprintf(" Perhaps: %d.", o.Perhaps)
		}
		return text
	}
	if !o.Applied {
		return "Nothing was changed."
	}
	var done []string
	add := func(n int, what string) {
		if n > 0 {
			done = append(done, what)
		}
	}
	add(o.Added, people(o.Added)+" added")
	add(o.Changed, people(o.Changed)+" changed")
	add(o.LeftPeople(), people(o.LeftPeople())+" left as they are")
	add(o.Refused, rows(o.Refused)+" refused")
	add(o.Perhaps, rows(o.Perhaps)+" undecided")
	if o.Number == nil {
		return "There was nothing to change: " + strings.Join(done, ", ") + "."
	}
	return fmt.Sprintf("Import %d: %s.", *o.Number, strings.Join(done, ", "))
}

// next is what to type next, empty for nothing.
func (i importing) next(f *imports.File, o *imports.Outcome) string {
	switch {
	case o.Number != nil:
		return fmt.Sprintf("Take it back with: firefighters import undo %d --tenant %s --db %s", *o.Number, cli.Quote(i.tenant), cli.Quote(*i.db))
	case i.options.Apply:
		return ""
	case f.Unsure != nil:
		return "Nothing was changed. The encoding is not certain. To import the list:\n" + strings.Join(i.encodings(f.Unsure, "--apply ", "report", "force"), "\n")
	case !i.writes(o):
		return "Nothing was changed."
	}
	return "Nothing was changed. To import it: " + i.again("--apply", "report", "force")
}

// refusal returns the error for rows that are refused or undecided, nil if there are none.
func (i importing) refusal(f *imports.File, o *imports.Outcome) error {
	what, do := fmt.Sprintf("%d of %s refused", o.Refused, rows(len(o.All))), "correct these rows"
	switch {
	case o.Refused+o.Perhaps == 0:
		return nil
	case o.Refused == 0:
		what, do = fmt.Sprintf("%d of %s undecided", o.Perhaps, rows(len(o.All))), "say who they are"
	case o.Perhaps > 0:
		what, do = what+fmt.Sprintf(" and %d undecided", o.Perhaps), "correct these rows and say who they are"
	}
	switch imported := i.options.SkipBad && i.options.Apply; {
	case imported && o.Number == nil:
		what, do = what+"; of the others there was nothing to change", do+", and import the file again"
	case imported:
		what, do = what+"; the others were imported", do+", and import the file again: those who are there are left as they are"
	default:
		what += "; nothing was changed"
		if o.Added+o.Changed > 0 && f.Unsure == nil {
			do += ", or import the others: " + i.again("--skip-bad --apply", "skip-bad", "apply", "report", "force")
		}
	}
	if o.Perhaps > 0 {
		for _, line := range i.toPage("To say who they are, import the list on the page") {
			do += "\n" + lowerFirst(line)
		}
	}
	return cli.WithHint(errors.New(what), do)
}

// writeReport writes the file of --report, if there is one.
func (i importing) writeReport(f *imports.File, o *imports.Outcome) error {
	if i.report.path == "" {
		return nil
	}
	return i.writeFile(func(w io.Writer) error {
		return imports.WriteReport(w, i.report.format, f, o, []string{"result", "reason"}, func(r imports.Row) []string { return []string{r.Result, reason(r)} })
	})
}
