package exchange

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/pflag"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

const exportHelp = `Usage: firefighters export --tenant NAME [flags]

Writes the people of a department, as they are at one moment, with all fields:
for a spreadsheet (xlsx, csv), for the contacts of a phone (vcf), or for programs
(jsonl: a record as the API has it on each line). Without --output it writes a
CSV to standard output. import reads all of these again.

  firefighters export --tenant "Engine 7" -o people.xlsx
  firefighters export --tenant "Engine 7" --format vcf >people.vcf

A file has its name only when it is complete. Only its owner can read it.

Flags:
`

// exporting is an export that a command does.
type exporting struct {
	env     cli.Env
	flags   *pflag.FlagSet
	db      string
	to      target // without a path: standard output
	written int
}

func (c Commands) export(env cli.Env, args []string) error {
	e := &exporting{env: env, flags: env.Flags("export", exportHelp), to: target{flag: "--output"}}
	db, name := cli.DBFlag(e.flags), cli.TenantFlag(e.flags, "(required)")
	e.flags.StringVar(&e.to.format, "format", "", "csv, xlsx, vcf or jsonl (default: as the file's name ends, or csv)")
	e.flags.StringVarP(&e.to.path, "output", "o", "", "the `file` to write; its name says the format")
	e.flags.BoolVar(&e.to.force, "force", false, "replace the file if it exists")
	if err := env.Parse(e.flags, args, 0); err != nil {
		return err
	}
	e.db = *db
	if err := e.check(); err != nil {
		return cli.Wrong(e.flags, err.Error())
	}
	tenant, err := requireTenant(e.flags, *name)
	if err != nil {
		return err
	}
	if err := e.to.refuse(e.db); err != nil {
		return err
	}
	return c.Database.WithTenant(env, e.db, tenant, e.run)
}

// check checks where to write, and in which format.
func (e *exporting) check() error {
	if e.to.format != "" && !slices.Contains(sheet.Formats, e.to.format) {
		return fmt.Errorf("--format must be csv, xlsx, vcf or jsonl, not %q", e.to.format)
	}
	if e.to.path == "-" { // standard output, as other programs have it
		e.to.path = ""
	}
	if err := e.to.chooseFormat(sheet.Formats...); err != nil {
		return err
	}
	switch {
	case e.to.path == "" && e.to.force:
		return errors.New("--force is for --output")
	case e.to.format == "":
		e.to.format = sheet.CSV
	case e.to.format == sheet.XLSX && e.to.path == "" && cli.IsTerminal(e.env.Stdout):
		return errors.New("a workbook cannot be shown on a terminal; name a file with --output")
	}
	return nil
}

func (e *exporting) run(s *store.Store, tenant record.TenantID) error {
	fill := func(w io.Writer) error { return e.fill(w, s, tenant) }
	if e.to.path == "" {
		out := bufio.NewWriterSize(e.env.Data(), 1<<16)
		if err := fill(out); err != nil {
			return err
		}
		return out.Flush()
	}
	if err := e.to.write(e.db, fill); err != nil {
		return err
	}
	return e.env.Println(fmt.Sprintf("Wrote %s to %s.", people(e.written), cli.Quote(e.to.path)))
}

// fill writes the people to w.
func (e *exporting) fill(w io.Writer, s *store.Store, tenant record.TenantID) error {
	err := sheet.WriteAll(e.env.Context, w, e.to.format, false, func(write func(*record.Firefighter) error) error {
		var failed error // in writing
		err := s.Each(tenant, record.Query{SortBy: record.ByCreatedAt}, func(f *record.Firefighter) error {
			e.written++
			failed = write(f)
			return failed
		})
		if failed != nil {
			return failed
		}
		return store.Failed("reading", e.db, err)
	})
	if errors.Is(err, context.Canceled) {
		return errors.New("stopped before all were written")
	}
	return err
}
