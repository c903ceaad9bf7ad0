// Bench measures the service against the goals for its speed and prints a
// table of them in Markdown. bench/run builds what it needs and starts it;
// README.md says what is measured and how.
//
//	bench --program FILE --folder FOLDER    measures
//	bench baseline                          serves what the service is compared with
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
		measure, args = serveBaselines, args[1:]
	}
	if err := measure(ctx, args); err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// settings are what the command line says.
type settings struct {
	program     string // the service
	folder      string // for the databases
	departments int
	people      int
	round       time.Duration
	rounds      int
	only        *regexp.Regexp
}

func parseSettings(args []string) (s settings, err error) {
	flags := pflag.NewFlagSet("bench", pflag.ContinueOnError)
	flags.StringVar(&s.program, "program", "", "the firefighters program")
	flags.StringVar(&s.folder, "folder", "", "an empty folder, on a real disk, for the databases")
	flags.IntVar(&s.departments, "departments", 30_000, "departments of the country")
	flags.IntVar(&s.people, "people", 1_200_000, "people of the country")
	flags.DurationVar(&s.round, "round", time.Second, "how long each side works in a round")
	flags.IntVar(&s.rounds, "rounds", 5, "rounds of each comparison")
	only := flags.String("only", "", "measure only what this regular expression finds in its name")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if s.program == "" || s.folder == "" {
		return s, errors.New("bench takes --program and --folder; bench/run gives both")
	}
	s.only, err = regexp.Compile(*only)
	return s, err
}

// bench is one run: the three processes that answer, and the table that
// fills.
type bench struct {
	settings
	ctx      context.Context
	country  *country // served by service
	own      *country // a department of 40 in a file of its own, served by alone
	service  *process
	alone    *process
	baseline *process
	table    table
}

// measurements are all there are, in this order: those that write come last,
// for they change the country.
var measurements = []struct {
	name    string
	measure func(*bench) error
}{
	{"file", (*bench).file},
	{"start", (*bench).start},
	{"idle", (*bench).idle},
	{"get", (*bench).get},
	{"list", (*bench).list},
	{"first pages", (*bench).firstPages},
	{"worst pages", (*bench).worstPages},
	{"search", (*bench).search},
	{"own file", (*bench).ownFile},
	{"beside writes", (*bench).besideWrites},
	{"writes", (*bench).writes},
	{"one client", (*bench).oneClient},
	{"memory", (*bench).memory},
	{"recovery", (*bench).recovery},
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

// measure measures what is asked for, and goes on where something fails.
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

// note tells the person who waits what is going on.
func note(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s "+format+"\n", append([]any{time.Now().Format(time.TimeOnly)}, args...)...)
}

// prepare makes the databases, draws from them and starts the three processes.
func (b *bench) prepare() (err error) {
	note("making the country")
	if b.country, err = b.demo("country.db", b.departments, b.people); err != nil {
		return err
	}
	if b.own, err = b.demo("own.db", 1, 40); err != nil {
		return err
	}
	if b.service, err = b.serve(b.country); err != nil {
		return err
	}
	if b.alone, err = b.serve(b.own); err != nil {
		return err
	}
	return b.startBaseline()
}

// demo lets the service make a database of invented people.
func (b *bench) demo(name string, departments, people int) (*country, error) {
	path := filepath.Join(b.folder, name)
	began := time.Now()
	p, err := start(b.ctx, b.program, "demo", "--db", path, "--listen", "127.0.0.1:0",
		fmt.Sprintf("--departments=%d", departments), fmt.Sprintf("--people=%d", people))
	if err != nil {
		return nil, err
	}
	took := time.Since(began)
	if err := p.stop(); err != nil {
		return nil, err
	}
	return openCountry(path, took)
}

func (b *bench) serve(c *country) (*process, error) {
	return start(b.ctx, b.program, "serve", "--db", c.path, "--listen", "127.0.0.1:0")
}

// startBaseline starts the other side of the comparisons, with answers of
// ours to give.
func (b *bench) startBaseline() error {
	d := b.country.ordinary[0]
	list, err := answerOf(b.service, d.list(""))
	if err != nil {
		return err
	}
	record, err := answerOf(b.service, b.country.drawn[0].get())
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	files := map[string][]byte{"record.json": record, "list.json": list}
	for name, body := range files {
		if err := os.WriteFile(filepath.Join(b.folder, name), body, 0o600); err != nil {
			return err
		}
	}
	b.baseline, err = start(b.ctx, self, "baseline", "--folder", b.folder)
	return err
}

func (b *bench) stop() {
	for _, p := range []*process{b.service, b.alone, b.baseline} {
		if p != nil {
			p.stop()
		}
	}
}
