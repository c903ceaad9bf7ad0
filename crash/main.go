// Crash tests the built service under faults. It kills the process, cuts the power and
// fills the disk. After each fault it checks that no acknowledged write is lost. crash/run
// builds the programs and starts it. README.md describes the checks.
//
//	crash --program FILE --folder FOLDER [--short] [--seed N] [--only REGEXP]
package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/pflag"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// settings are the command line options.
type settings struct {
	program string // path of the service's program
	folder  string // for the databases
	short   bool
	seed    uint64
	kills   int
	only    *regexp.Regexp
}

func parseSettings(args []string) (s settings, err error) {
	flags := pflag.NewFlagSet("crash", pflag.ContinueOnError)
	flags.StringVar(&s.program, "program", "", "the firefighters program")
	flags.StringVar(&s.folder, "folder", "", "an empty folder, on a real disk, for the databases")
	flags.BoolVar(&s.short, "short", false, "run a shorter form of each check, in about a minute")
	flags.Uint64Var(&s.seed, "seed", 0, "seed of the random numbers; 0 for a random seed, which is printed")
	flags.IntVar(&s.kills, "kills", 0, "number of kills; 0 for 25 with --short and 500 without")
	only := flags.String("only", "", "run only the checks whose name matches this regular expression")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if s.program == "" || s.folder == "" {
		return s, errors.New("--program and --folder are missing; crash/run sets both")
	}
	for s.seed == 0 {
		s.seed = uint64(rand.Uint32())
	}
	if s.kills == 0 {
		s.kills = s.choose(25, 500)
	}
	s.only, err = regexp.Compile(*only)
	return s, err
}

// limit returns the longest time that an operation may take: d, or 20 * d in the short
// form, which runs on any machine at the same time as other tests.
func (s settings) limit(d time.Duration) time.Duration {
	if s.short {
		return 20 * d
	}
	return d
}

func (s settings) choose(short, long int) int {
	if s.short {
		return short
	}
	return long
}

// checks lists all checks in their order.
var checks = []struct {
	name string
	run  func(*check) error
}{
	{"kill", kill},
	{"power", power},
	{"full", full},
}

func run(ctx context.Context, args []string) error {
	s, err := parseSettings(args)
	if err != nil {
		return err
	}
	fmt.Printf("%s/%s, %d cores, --seed %d\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), s.seed)
	began := time.Now()
	var done, wrong, missing int
	for _, one := range checks {
		if !s.only.MatchString(one.name) || ctx.Err() != nil {
			continue
		}
		c := &check{settings: s, ctx: ctx, name: one.name, rand: rand.New(rand.NewPCG(s.seed, 0))}
		done++
		switch err := c.try(one.run); {
		case errors.As(err, new(notRun)):
			missing++
		case err != nil || c.wrongs > 0:
			wrong++
		}
	}
	fmt.Printf("%d checks in %v: %d wrong, %d not run\n", done, time.Since(began).Round(time.Second), wrong, missing)
	if wrong > 0 {
		return fmt.Errorf("%d of %d checks found something wrong", wrong, done)
	}
	return ctx.Err()
}

// check is the state of a running check.
type check struct {
	settings
	ctx     context.Context
	name    string
	rand    *rand.Rand // only for the check's own goroutine
	summary string     // results in one line

	mu     sync.Mutex
	wrongs int
	first  []string // the first faults
}

const (
	shown       = 8   // faults that are printed for each check
	longestNote = 700 // in bytes
)

// wrong counts a fault. It is safe for concurrent use.
func (c *check) wrong(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wrongs++
	if len(c.first) < shown {
		text := strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")
		c.first = append(c.first, text[:min(len(text), longestNote)])
	}
}

// notRun is the reason why a check cannot run on this machine.
type notRun string

func (n notRun) Error() string { return string(n) }

// try runs the check in a separate folder and prints its result.
func (c *check) try(do func(*check) error) error {
	began := time.Now()
	c.folder = filepath.Join(c.folder, c.name)
	err := os.Mkdir(c.folder, 0o700)
	if err == nil {
		err = do(c)
	}
	verdict := "ok"
	var missing notRun
	switch {
	case errors.As(err, &missing):
		verdict, c.summary = "NOT RUN", missing.Error()
	case err != nil:
		verdict, c.summary = "WRONG", fmt.Sprintf("%s; stopped early: %v", c.summary, err)
	case c.wrongs > 0:
		verdict = "WRONG"
	}
	fmt.Printf("%-8s %-9s %s (%v)\n", verdict, c.name, c.summary, time.Since(began).Round(time.Second))
	for _, what := range c.first {
		fmt.Printf("         - %s\n", what)
	}
	if more := c.wrongs - len(c.first); more > 0 {
		fmt.Printf("         - and %d more\n", more)
	}
	if err == nil {
		err = os.RemoveAll(c.folder)
	}
	return err
}
