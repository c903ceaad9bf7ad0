package cli_test

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
)

// newEnv returns an environment without a terminal, and what it prints.
func newEnv(t *testing.T) (env cli.Env, stdout, stderr *strings.Builder) {
	stdout, stderr = &strings.Builder{}, &strings.Builder{}
	return cli.Env{Context: t.Context(), Stdin: strings.NewReader("yes\n"), Stdout: stdout, Stderr: stderr}, stdout, stderr
}

// runOne runs a program of one command.
func runOne(env cli.Env, args []string, command func(env cli.Env, args []string) error) error {
	return cli.Program{Commands: []cli.Command{{Name: "one", Run: command}}}.Run(env, append([]string{"one"}, args...))
}

// TestRun: a result that could not be printed is a failure.
func TestRun(t *testing.T) {
	t.Parallel()
	broken := errors.New("it broke")
	careless := func(env cli.Env, args []string) error {
		env.Println(strings.Join(args, " "))
		env.Println("end")
		return broken
	}
	env, stdout, _ := newEnv(t)
	if err := runOne(env, []string{"a", "b"}, careless); err != broken || stdout.String() != "a b\nend\n" {
		t.Errorf("%v, stdout %q", err, stdout)
	}
	env.Stdout = brokenPipe{}
	if err := runOne(env, nil, careless); !errors.Is(err, io.ErrClosedPipe) ||
		err.Error() != "writing the result: io: read/write on closed pipe" {
		t.Errorf("the result is lost: %v", err)
	}
	said := errors.New("nothing was said")
	announce := func(env cli.Env, _ []string) error { said = env.Announce("hello"); return nil }
	if err := runOne(env, nil, announce); err != nil || !errors.Is(said, io.ErrClosedPipe) {
		t.Errorf("an announcement is lost: %v, %v", err, said)
	}
	if env, stdout, _ := newEnv(t); runOne(env, nil, announce) != nil || said != nil || stdout.String() != "hello\n" {
		t.Errorf("%v, stdout %q", said, stdout)
	}
	help := func(env cli.Env, _ []string) error { io.WriteString(env.Stdout, "Usage"); return cli.ErrHelp }
	if err := runOne(env, nil, help); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("the help is lost: %v", err)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestDispatch(t *testing.T) {
	t.Parallel()
	say := func(word string) func(cli.Env, []string) error {
		return func(env cli.Env, args []string) error { return env.Println(word + " " + strings.Join(args, ",")) }
	}
	commands := []cli.Command{{Name: "open", Summary: "opens the door", Run: say("open")}, {Name: "lock", Also: "shut bolt", Run: say("lock")},
		{Name: "unlock", Also: "lift", Run: say("unlock")}, {Name: "bell", Help: "BELL\n", Sub: []cli.Command{{Name: "list", Also: "ls", Run: say("bells")}, {Name: "ring", Run: say("ring")}}},
		{Name: "clean", Run: say("clean"), Sub: []cli.Command{{Name: "all", Also: "every", Run: say("clean all")}}},
		{Name: "people", Help: "PEOPLE\n", Sub: []cli.Command{{Name: "list", Also: "ls", Run: say("people")}}}}
	for _, tt := range []struct {
		name, args   string
		code         int
		stdout, errs string
	}{
		{"", "open", 0, "open \n", ""},
		{"", "help open", 0, "open --help\n", ""},
		{"", "help bell ring", 0, "ring --help\n", ""},
		{"", "help help", 0, "HELP\n", ""},
		{"", "help window", 2, "", "Error: there is no command \"window\"\nTry: firefighters --help\n"},
		{"", "bell ring twice", 0, "ring twice\n", ""},
		{"", "clean all", 0, "clean all \n", ""},
		{"", "every", 2, "", "Error: there is no command \"every\"; did you mean \"clean all\"?\nTry: firefighters clean all --help\n"},
		{"", "bell", 2, "", "Error: bell: say list or ring\nTry: firefighters bell --help\n"},
		{"", "Open", 2, "", "Error: there is no command \"Open\"; did you mean \"open\"?\nTry: firefighters open --help\n"},
		{"", "shut", 2, "", "Error: there is no command \"shut\"; did you mean \"lock\"?\nTry: firefighters lock --help\n"},
		{"", "ls", 2, "", "Error: there is no command \"ls\"; did you mean \"bell list\" or \"people list\"?\n" +
			"Try: firefighters bell list --help, or: firefighters people list --help\n"},
		{"", "bell ls", 2, "", "Error: bell: there is no command \"ls\"; did you mean \"bell list\"?\nTry: firefighters bell list --help\n"},
		{"", "bell rung-it", 2, "", "Error: bell: there is no command \"rung-it\"\nTry: firefighters bell --help\n"},
		{"door", "steal", 2, "", "Error: door: there is no command \"steal\"\nTry: firefighters door --help\n"},
		{"", "bell --db x.db ring --twice", 2, "", "Error: bell: \"ring\" is a command, which must come first\nTry: firefighters bell ring --db x.db --twice\n"},
		{"door", "", 2, "", "Error: door: say open, lock, unlock, bell, clean or people\nTry: firefighters door --help\n"},
	} {
		env, stdout, stderr := newEnv(t)
		program, args := cli.Program{Help: "HELP\n", Commands: commands}, strings.Fields(tt.args)
		if tt.name != "" {
			program.Commands, args = []cli.Command{{Name: tt.name, Help: "HELP\n", Sub: commands}}, append([]string{tt.name}, args...)
		}
		err := program.Run(env, args)
		if code := cli.PrintError(err, env.Stderr); code != tt.code || stdout.String() != tt.stdout || stderr.String() != tt.errs {
			t.Errorf("%s %s: code %d, stdout %q, stderr %q", tt.name, tt.args, code, stdout, stderr)
		}
	}
	if list := cli.CommandList([]cli.Command{{Name: "a", Summary: "does a"}, {Name: "bcd", Summary: "does more"}}); list != "  a    does a\n  bcd  does more\n" {
		t.Errorf("list %q", list)
	}
}

// TestDefaultCommand: a line that names no command is one of the default command,
// unless it asks for help or for the version.
func TestDefaultCommand(t *testing.T) {
	t.Parallel()
	say := func(word string) func(cli.Env, []string) error {
		return func(env cli.Env, args []string) error { return env.Println(word + " " + strings.Join(args, ",")) }
	}
	program := cli.Program{Help: "HELP\n", Default: "serve", Commands: []cli.Command{{Name: "serve", Run: say("serve")}, {Name: "version", Run: say("version")}}}
	for _, tt := range []struct{ args, stdout, err string }{
		{"", "serve \n", ""},
		{"serve x", "serve x\n", ""},
		{"--listen x", "serve --listen,x\n", ""},
		{"x.db", "serve x.db\n", ""},
		{`C:\x`, "serve C:\\x\n", ""},
		{"-v --licences", "version --licences\n", ""},
		{"--version", "version \n", ""},
		{"--help", "HELP\n", "pflag: help requested"},
		{"help serve", "serve --help\n", ""},
		{"stop", "", `there is no command "stop"`},
	} {
		env, stdout, _ := newEnv(t)
		err := program.Run(env, strings.Fields(tt.args))
		if stdout.String() != tt.stdout || tt.err == "" && err != nil || tt.err != "" && (err == nil || err.Error() != tt.err) {
			t.Errorf("%q: %v, stdout %q", tt.args, err, stdout)
		}
	}
	program.Default = ""
	if err := program.Run(cli.Env{Stdout: io.Discard, Stderr: io.Discard}, nil); err == nil || err.Error() != "say serve or version" {
		t.Errorf("without a default: %v", err)
	}
}

func TestPrintError(t *testing.T) {
	t.Parallel()
	base := errors.New("it broke")
	hinted := cli.WithHint(base, "repair it")
	wrong := cli.Usage("that is wrong.", "this")
	for _, tt := range []struct {
		err  error
		code int
		want string
	}{
		{nil, 0, ""},
		{cli.ErrHelp, 0, ""},
		{base, 1, "Error: it broke\n"},
		{hinted, 1, "Error: it broke\nTry: repair it\n"},
		{fmt.Errorf("doing: %w", hinted), 1, "Error: doing: it broke\nTry: repair it\n"},
		{cli.WithHint(hinted, "replace it"), 1, "Error: it broke\nTry: replace it\n"},
		{wrong, 2, "Error: that is wrong\nTry: this\n"},
		{errors.Join(wrong, nil), 2, "Error: that is wrong\nTry: this\n"},
	} {
		var stderr strings.Builder
		if code := cli.PrintError(tt.err, &stderr); code != tt.code || stderr.String() != tt.want {
			t.Errorf("%v: code %d, stderr %q", tt.err, code, stderr.String())
		}
	}
	if !errors.Is(hinted, base) {
		t.Error("a hint hides the error")
	}
	if usage, ok := errors.AsType[*cli.UsageError](wrong); !ok || *usage != (cli.UsageError{What: "that is wrong", Hint: "this"}) {
		t.Errorf("%#v", wrong)
	}
}

// TestList checks that the heading of a table is no result, and that JSON has none.
func TestList(t *testing.T) {
	t.Parallel()
	for asJSON, want := range map[bool][2]string{false: {"Ana   <1>\nB     2\n", "NAME  AGE\n"}, true: {"[\"Ana\",\"<1>\"]\n[\"B\",\"2\"]\n", ""}} {
		env, stdout, stderr := newEnv(t)
		list := cli.NewList(asJSON, "NAME", "AGE")
		for _, line := range [][]string{{"Ana", "<1>"}, {"B", "2"}} {
			list.Add(line, line...)
		}
		if err := list.Print(env); err != nil || stdout.String() != want[0] || stderr.String() != want[1] {
			t.Errorf("JSON %v: %v, stderr %q, stdout %q", asJSON, err, stderr, stdout)
		}
	}
}

// TestWithoutTerminal: nobody is asked, and no bar is drawn.
func TestWithoutTerminal(t *testing.T) {
	t.Parallel()
	env, stdout, stderr := newEnv(t)
	err := env.Confirm("Erase it?")
	want := cli.UsageError{What: "there is no terminal to ask on: Erase it?", Hint: "the same with --yes"}
	if usage, ok := errors.AsType[*cli.UsageError](err); !ok || *usage != want {
		t.Errorf("%#v", err)
	}
	bar := cli.NewProgress(env, "pages")
	bar.Set(1, 1)
	bar.End()
	if stdout.Len()+stderr.Len() > 0 {
		t.Errorf("stdout %q, stderr %q", stdout, stderr)
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	for milliseconds, want := range map[int64]string{0: "-", 1: "1970-01-01T00:00:00Z", 1801353599999: "2027-01-30T23:59:59Z"} {
		if got := cli.FormatTime(milliseconds); got != want {
			t.Errorf("%d: %s", milliseconds, got)
		}
	}
	for bytes, want := range map[int64]string{0: "0.0 MB", 49_999: "0.0 MB", 1_260_000: "1.3 MB", 5_000_000_000: "5000.0 MB"} {
		if got := cli.FormatBytes(bytes); got != want {
			t.Errorf("%d: %s", bytes, got)
		}
	}
	for n, want := range map[int]string{0: "0 people", 1: "1 person", 2: "2 people"} {
		if got := cli.Count(n, "person", "people"); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}

// TestQuote has a shell read what Quote wrote.
func TestQuote(t *testing.T) {
	t.Parallel()
	if plain := filepath.FromSlash("/data/engine-7_a.db"); cli.Quote(plain) != plain {
		t.Errorf("%s became %s", plain, cli.Quote(plain))
	}
	if runtime.GOOS == "windows" {
		t.Skip("no POSIX shell")
	}
	for _, path := range []string{"a b", "Ana's", `"`, "a&b|c;d", "<a>", "(a)", "$HOME", "*", "?", "#", "~", "`id`", "''"} {
		out, err := exec.Command("/bin/sh", "-c", "printf %s "+cli.Quote(path)).Output()
		if string(out) != path {
			t.Errorf("%s: the shell reads %q, %v", path, out, err)
		}
	}
	for path, want := range map[string]string{"zz\nError: faked.db": `'zz\u000aError: faked.db'`, "a\tb": "'a\tb'"} {
		if got := cli.Quote(path); got != want {
			t.Errorf("%q is %s", path, got)
		}
	}
}
