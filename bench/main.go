// Bench measures the service and prints a table in Markdown. bench/run builds the
// programs and starts it. README.md describes what is measured and how.
//
//	bench --program FILE --folder FOLDER    measure
//	bench baseline --folder FOLDER          run the other side of the comparisons
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"syscall"
	"time"

	"github.com/spf13/pflag"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	measure, args := run, os.Args[1:]
	if len(args) > 0 && args[0] == "baseline" {
		measure, args = serveBaseline, args[1:]
	}
	if err := measure(ctx, args); err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// settings are the command line options.
type settings struct {
	program     string             // path of the service's program
	against     []string           // paths of other builds of the service
	figures     map[string]float64 // of the rows; nil if no row must reach one
	folder      string             // for the databases
	departments int
	people      int
	largest     int
	round       time.Duration
	rounds      int
	only        *regexp.Regexp
}

func parseSettings(args []string) (s settings, err error) {
	flags := pflag.NewFlagSet("bench", pflag.ContinueOnError)
	flags.StringVar(&s.program, "program", "", "the firefighters program")
	flags.StringArrayVar(&s.against, "against", nil, "another build of the service, to compare with; can be repeated")
	figures := flags.String("figures", "", "fail if a row of cpu is more than 3 % above its figure in this file, or 1")
	flags.StringVar(&s.folder, "folder", "", "an empty folder, on a real disk, for the databases")
	flags.IntVar(&s.departments, "departments", 30_000, "number of departments in the country")
	flags.IntVar(&s.people, "people", 1_200_000, "number of people in the country")
	flags.IntVar(&s.largest, "largest", 1_200_000, "people in the largest department of growth")
	flags.DurationVar(&s.round, "round", time.Second, "time for each side in a round")
	flags.IntVar(&s.rounds, "rounds", 5, "rounds of each comparison")
	only := flags.String("only", "", "run only the measurements whose name matches this regular expression")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if s.program == "" || s.folder == "" {
		return s, errors.New("--program and --folder are missing; bench/run sets both")
	}
	if *figures != "" {
		if s.figures, err = readFigures(*figures); err != nil {
			return s, err
		}
	}
	s.only, err = regexp.Compile(*only)
	return s, err
}

// bench is one run: its two server processes and the table of results.
type bench struct {
	settings
	ctx      context.Context
	country  *country // served by service
	service  *process
	baseline *process
	table    table
}

// measurements lists all measurements in order. The last ones change the country.
var measurements = []struct {
	name    string
	measure func(*bench) error
}{
	{"memory", (*bench).memory},
	{"cpu", (*bench).cpuPerRequest},
	{"growth", (*bench).growth},
	{"baseline", (*bench).creates},
	{"imports", (*bench).importWait},
}

func run(ctx context.Context, args []string) error {
	s, err := parseSettings(args)
	if err != nil {
		return err
	}
	b := &bench{settings: s, ctx: ctx}
	defer b.stop()
	began := time.Now()
	if err := b.prepare(); err != nil {
		return err
	}
	err = b.measure()
	fmt.Printf("%s, %s/%s, %d cores, %d departments, %d people, %d rounds of %v; the whole run took %v.\n\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), b.departments, b.people, b.rounds,
		b.round, time.Since(began).Round(time.Second))
	fmt.Print(b.table.markdown())
	return err
}

// measure runs the selected measurements. It continues after a failure.
func (b *bench) measure() (err error) {
	for _, m := range measurements {
		if !b.only.MatchString(m.name) || b.ctx.Err() != nil {
			continue
		}
		note("measuring: %s", m.name)
		if failure := m.measure(b); failure != nil {
			err = errors.Join(err, fmt.Errorf("measuring %s: %w", m.name, failure))
			b.table.fail(m.name, failure)
		}
	}
	return errors.Join(err, b.ctx.Err())
}

func note(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s "+format+"\n", append([]any{time.Now().Format(time.TimeOnly)}, args...)...)
}

func (b *bench) prepare() (err error) {
	note("creating the country")
	if b.country, err = b.demo(b.program, "country.db", b.departments, b.people); err != nil {
		return err
	}
	if len(b.country.ordinary) == 0 {
		return errors.New("no department has about 40 people")
	}
	if b.service, err = b.serve(b.country); err != nil {
		return err
	}
	return b.startBaseline()
}

// demo creates a database of invented people with the demo command of a program and opens it
// as a country. All programs invent the same people.
func (b *bench) demo(program, name string, departments, people int) (*country, error) {
	path := filepath.Join(b.folder, name)
	p, err := start(b.ctx, os.Stderr, program, "demo", "--db", path, "--listen", "127.0.0.1:0",
		fmt.Sprintf("--departments=%d", departments), fmt.Sprintf("--people=%d", people))
	if err != nil {
		return nil, err
	}
	if err := p.stop(); err != nil {
		return nil, err
	}
	return openCountry(program, path)
}

func (b *bench) serve(c *country) (*process, error) {
	return start(b.ctx, os.Stderr, c.program, "serve", "--db", c.path, "--listen", "127.0.0.1:0")
}

// startBaseline saves a record of the country and starts the baseline, which serves
// that record.
func (b *bench) startBaseline() error {
	record, err := fetch(b.service, b.country.drawn[0].get())
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(b.folder, "record.json"), record, 0o600); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	b.baseline, err = start(b.ctx, os.Stderr, self, "baseline", "--folder", b.folder)
	return err
}

func (b *bench) stop() {
	for _, p := range []*process{b.service, b.baseline} {
		if p != nil {
			p.stop()
		}
	}
}
