// Firefighters keeps the personnel records of fire departments: an HTTP JSON
// API over one SQLite file, in one program.
//
//	firefighters [serve]     serves the API
//	firefighters backup      saves the database to a file
//	firefighters check       looks a database through
//	firefighters deleted     lists the deleted records of a department
//	firefighters demo        serves invented people
//	firefighters history     shows who changed what when
//	firefighters keys        makes, lists and revokes API keys
//	firefighters purge       erases deleted records for good
//	firefighters restore     puts a backup in the database's place
//	firefighters undelete    brings deleted records back
//	firefighters version     says what this is
//
// Each command explains itself with --help. README.md has the rest.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"
)

const version = "0.1.0"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)   // a second signal ends the program at once
	signal.Ignore(syscall.SIGPIPE) // a log that nobody reads is an error, not the end
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	os.Exit(report(err, os.Stderr))
}

// program is what a command works with.
type program struct {
	ctx            context.Context
	stdin          io.Reader
	stdout, stderr io.Writer
}

// output remembers that something could not be written.
type output struct {
	io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	o.err = errors.Join(o.err, err)
	return n, err
}

func (p *program) println(line string) error {
	_, err := fmt.Fprintln(p.stdout, line)
	return err
}

const mainHelp = `Usage: firefighters [command] [flags]

Keeps the personnel records of fire departments in one file and serves them
over HTTP. Without a command it serves.

  firefighters                          serves firefighters.db, which it makes if it is not there
  firefighters keys create --tenant "Engine 7"
  firefighters version

Commands:
  serve     serves the API
  backup    saves the database, also while it is served
  check     looks a database through
  deleted   lists the deleted records of a department
  demo      serves invented people, to try it out
  history   shows who changed what when
  keys      makes, lists and revokes API keys
  purge     erases deleted records for good
  restore   puts a backup in the database's place
  undelete  brings deleted records back
  version   says what this is

Each has more to say: firefighters serve --help
`

// run is the program: it does what args say and returns when that is done or,
// for a server, when ctx ends.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	out := &output{Writer: stdout}
	err := (&program{ctx, stdin, out, stderr}).command(args)
	if out.err != nil {
		return fmt.Errorf("writing the result: %w", out.err)
	}
	return err
}

func (p *program) command(args []string) error {
	if len(args) == 0 {
		return p.serve(nil)
	}
	switch args[0] {
	case "serve":
		return p.serve(args[1:])
	case "backup":
		return p.backup(args[1:])
	case "check":
		return p.check(args[1:])
	case "demo":
		return p.demo(args[1:])
	case "deleted":
		return p.deleted(args[1:])
	case "history":
		return p.history(args[1:])
	case "keys":
		return p.keys(args[1:])
	case "purge":
		return p.purge(args[1:])
	case "restore":
		return p.restore(args[1:])
	case "undelete":
		return p.undelete(args[1:])
	case "version":
		return p.version(args[1:])
	case "-h", "--help", "help":
		return p.help(mainHelp)
	}
	if strings.HasPrefix(args[0], "-") {
		return p.serve(args)
	}
	return usage(fmt.Sprintf("there is no command %q", args[0]), "firefighters --help")
}

// usageError is a command line that is wrong.
type usageError struct{ hinted }

func usage(what, hint string) error {
	return usageError{hinted{errors.New(strings.TrimSuffix(what, ".")), hint}}
}

// errHelp says that help was asked for and given.
var errHelp = pflag.ErrHelp

// report tells the person what went wrong and what to type, and gives the
// exit code: 0, 1 for a failure, 2 for wrong usage.
func report(err error, stderr io.Writer) int {
	if err == nil || errors.Is(err, errHelp) {
		return 0
	}
	fmt.Fprintln(stderr, "Error:", err)
	var hint hinted
	var wrong usageError
	switch {
	case errors.As(err, &wrong):
		fmt.Fprintln(stderr, "Try:", wrong.hint)
		return 2
	case errors.As(err, &hint):
		fmt.Fprintln(stderr, "Try:", hint.hint)
	}
	return 1
}

func (p *program) help(text string) error {
	io.WriteString(p.stdout, text)
	return errHelp
}

// flags makes the flags of a command, with the help that ends in their list.
func (p *program) flags(command, help string) *pflag.FlagSet {
	flags := pflag.NewFlagSet(command, pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {
		io.WriteString(p.stdout, help+flags.FlagUsages())
		io.WriteString(p.stdout, "\nEach flag may also stand in the environment:\n")
		flags.VisitAll(func(f *pflag.Flag) { fmt.Fprintf(p.stdout, "      --%-12s %s\n", f.Name, environment(f)) })
	}
	return flags
}

// environment is the variable that may stand for a flag.
func environment(f *pflag.Flag) string {
	return "FIREFIGHTERS_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
}

func dbFlag(flags *pflag.FlagSet) *string {
	return flags.String("db", "firefighters.db", "the database file")
}

func listenFlag(flags *pflag.FlagSet) *string {
	return flags.String("listen", "127.0.0.1:8080", "the address and port to listen on; port 0 picks a free one")
}

// arguments says what to name where a command has none.
var arguments = map[string]string{
	"backup":      "say which file to save to",
	"restore":     "say which backup to restore",
	"keys revoke": "say which key to revoke, by its id",
}

// anyNumber of arguments is what some commands take.
const anyNumber = -1

// parse reads args, and from the environment the flags that are not in them.
// The command takes want arguments beside the flags.
func (p *program) parse(flags *pflag.FlagSet, args []string, want int) error {
	hint := strings.TrimSpace("firefighters "+flags.Name()) + " --help"
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, errHelp) {
			return errHelp
		}
		var bad *pflag.InvalidValueError
		if errors.As(err, &bad) {
			return usage(fmt.Sprintf("%s: --%s may not be %q", flags.Name(), bad.GetFlag().Name, bad.GetValue()), hint)
		}
		return usage(fmt.Sprintf("%s: %v", flags.Name(), err), hint)
	}
	if missing := arguments[flags.Name()]; flags.NArg() < want && missing != "" {
		return usage(flags.Name()+": "+missing, hint)
	}
	if flags.NArg() != want && want != anyNumber {
		return usage(fmt.Sprintf("%s: %d arguments beside the flags, where it takes %d", flags.Name(), flags.NArg(), want), hint)
	}
	var err error
	flags.VisitAll(func(f *pflag.Flag) {
		name := environment(f)
		if value := os.Getenv(name); value != "" && !f.Changed && err == nil {
			if flags.Set(f.Name, value) != nil {
				err = usage(fmt.Sprintf("%s: %s may not be %q", flags.Name(), name, value), hint)
			}
		}
	})
	if db := flags.Lookup("db"); err == nil && db != nil && db.Value.String() == "" {
		return usage(flags.Name()+": --db names no file", hint)
	}
	return err
}

// withStore does something with the database at path. create says that it may
// be made; that it was is said. If it cannot be used, the error names the
// backup to restore.
func (p *program) withStore(path string, create bool, do func(*store) error) error {
	return adviseRestore(p.useStore(path, create, do), path, "")
}

// useStore is withStore for who knows better where backups are.
func (p *program) useStore(path string, create bool, do func(*store) error) error {
	if err := p.upgrade(path); err != nil {
		return err
	}
	s, made, err := openStore(path, create, time.Now)
	if err != nil {
		return err
	}
	if made {
		fmt.Fprintf(p.stderr, "Made the database %s.\n", quoteArg(path))
	}
	if behind := s.clock.behind(); behind > maxBehind {
		fmt.Fprintf(p.stderr, "Warning: the clock of this machine says %s, and the database has seen %s, which holds for what expires\n"+
			"Try: set the clock; if it is right, and was wrong before: firefighters check --repair --db %s\n",
			s.clock.earlier().Format(time.RFC3339), s.clock.now().Format(time.RFC3339), quoteArg(path))
	}
	return cmp.Or(do(s), s.close())
}

// quoteArg writes a file name as it can be typed.
func quoteArg(s string) string {
	switch {
	case !strings.ContainsAny(s, " \t'\"&|;<>()$*?#~`"):
		return s
	case runtime.GOOS == "windows":
		return `"` + s + `"`
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

const versionHelp = `Usage: firefighters version

Says which version this is, and of what it is made.

  firefighters version
`

func (p *program) version(args []string) error {
	flags := p.flags("version", versionHelp)
	if err := p.parse(flags, args, 0); err != nil {
		return err
	}
	c, err := openConn(":memory:")
	if err != nil {
		return err
	}
	defer c.Close()
	var sqliteVersion string
	if err := c.queryRow(`SELECT sqlite_version()`, nil, func(row values) { sqliteVersion = text(row[0]) }); err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "firefighters %s (%s, SQLite %s, %s/%s)\n",
		version, runtime.Version(), sqliteVersion, runtime.GOOS, runtime.GOARCH)
	return nil
}
