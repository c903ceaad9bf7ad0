package exchange

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

type exporting struct {
	env     cli.Env
	db      *string
	to      target // standard output if path is empty
	written int
}

func (c Commands) exportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "export",
		Short:      "Export people to a spreadsheet or vCards",
		GroupID:    cli.GroupPeople,
		SuggestFor: []string{"download"},
		Long: `Export all people of a department with all fields: for a spreadsheet (xlsx,
csv), for contacts (vcf), or for programs (jsonl, one record per line). Without
--output, export writes CSV to standard output. The command import reads all of
these formats.`,
		Example: `  firefighters export -o people.xlsx
  firefighters export --format vcf >people.vcf`,
	}
	e := &exporting{db: cli.AddDB(cmd), to: target{flag: "--output"}}
	department := cli.AddDepartment(cmd)
	flags := cmd.Flags()
	flags.StringVar(&e.to.format, "format", "", "`format`: csv, xlsx, vcf or jsonl (default: from the file name, or csv)")
	flags.StringVarP(&e.to.path, "output", "o", "", "write to this `file`")
	flags.BoolVar(&e.to.force, "force", false, "replace the file if it exists")
	cmd.MarkFlagFilename("output", sheet.Formats...)
	cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(sheet.Formats, cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		e.env = cli.EnvOf(cmd)
		if err := e.checkFlags(); err != nil {
			return cli.Usage(err.Error(), "")
		}
		if err := e.to.refuse(*e.db); err != nil {
			return err
		}
		return c.Database.WithTenant(e.env, *e.db, *department, e.run)
	}
	return cmd
}

// checkFlags checks the target and sets its format.
func (e *exporting) checkFlags() error {
	if e.to.format != "" && !slices.Contains(sheet.Formats, e.to.format) {
		return fmt.Errorf("--format must be csv, xlsx, vcf or jsonl, not %q", e.to.format)
	}
	if e.to.path == "-" { // standard output
		e.to.path = ""
	}
	if err := e.to.chooseFormat(sheet.Formats...); err != nil {
		return err
	}
	switch {
	case e.to.format == "":
		e.to.format = sheet.CSV
	case e.to.format == sheet.XLSX && e.to.path == "" && cli.IsTerminal(e.env.Stdout):
		return errors.New("a workbook cannot be printed to a terminal; name a file with --output")
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
	bar := e.env.StartProgress("Exporting people")
	err := e.to.write(*e.db, fill)
	bar.End()
	if errors.Is(err, context.Canceled) {
		return cli.Unfinished("Stopped. No file was written.", "")
	}
	if err != nil {
		return err
	}
	return e.env.Println(fmt.Sprintf("Wrote %s to %s.", people(e.written), cli.Quote(e.to.path)))
}

func (e *exporting) fill(w io.Writer, s *store.Store, tenant record.TenantID) error {
	return sheet.WriteAll(e.env.Context, w, e.to.format, sheet.Form{}, func(write func(*record.Firefighter) error) error {
		var failed error // while writing
		err := s.Each(tenant, record.Query{SortBy: record.ByCreatedAt}, func(f *record.Firefighter) error {
			e.written++
			failed = write(f)
			return failed
		})
		if failed != nil {
			return failed
		}
		return store.Failed("reading", *e.db, err)
	})
}
