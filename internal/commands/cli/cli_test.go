package cli_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
)

// newEnv returns an environment without a terminal, and its output.
func newEnv(t *testing.T) (env cli.Env, stdout, stderr *strings.Builder) {
	stdout, stderr = &strings.Builder{}, &strings.Builder{}
	return cli.Env{Context: t.Context(), Stdin: strings.NewReader("yes\n"), Stdout: stdout, Stderr: stderr}, stdout, stderr
}

// runOne runs a command that calls do, and returns the exit code.
func runOne(env cli.Env, do func(env cli.Env) error) int {
	root := &cobra.Command{Use: "firefighters"}
	root.AddCommand(&cobra.Command{Use: "one", RunE: func(cmd *cobra.Command, _ []string) error { return do(cli.EnvOf(cmd)) }})
	return cli.Execute(env, root, []string{"one"}, nil)
}

// TestLostResult checks that a failed write is a failure even if the command ignores it, and that a
// closed pipe is a failure only of a command that does more than print.
func TestLostResult(t *testing.T) {
	t.Parallel()
	pipe := broken{&fs.PathError{Op: "write", Path: "stdout", Err: syscall.EPIPE}}
	careless := func(env cli.Env) error {
		env.Println("result")
		return nil
	}
	careful := func(env cli.Env) error { return env.Println("key") }
	list := func(env cli.Env) error { return env.Print("list\n") }
	for _, tt := range []struct {
		stdout  io.Writer
		command func(env cli.Env) error
		code    int
		stderr  string
	}{
		{&strings.Builder{}, careless, 0, ""},
		{broken{io.ErrClosedPipe}, careless, 1, "Error: writing the result: io: read/write on closed pipe\n"},
		{broken{io.ErrClosedPipe}, list, 1, "Error: io: read/write on closed pipe\n"},
		{pipe, careless, 0, ""},
		{pipe, list, 0, ""},
		{pipe, careful, 1, "Error: write stdout: broken pipe\n"},
	} {
		env, _, stderr := newEnv(t)
		env.Stdout = tt.stdout
		if code := runOne(env, tt.command); code != tt.code || stderr.String() != tt.stderr {
			t.Errorf("%v: code %d, stderr %q, want %d, %q", tt.stdout, code, stderr, tt.code, tt.stderr)
		}
	}
	env, _, stderr := newEnv(t)
	env.Stdout = broken{io.ErrClosedPipe}
	announce := func(env cli.Env) error {
		if err := env.Announce("hello"); !errors.Is(err, io.ErrClosedPipe) {
			t.Error(err)
		}
		return nil
	}
	if code := runOne(env, announce); code != 0 {
		t.Errorf("a lost announcement: code %d, stderr %q", code, stderr)
	}
}

// broken fails to write.
type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }

// newRoot returns a program with commands and flags of all kinds.
func newRoot() *cobra.Command {
	root := &cobra.Command{Use: "firefighters", Version: "1.0"}
	print := func(cmd *cobra.Command, args []string) error {
		db, _ := cmd.Flags().GetString("db")
		department, _ := cmd.Flags().GetString("department")
		return cli.EnvOf(cmd).Println(strings.Join(append([]string{cmd.Name()}, args...), ",") + " " + db + department)
	}
	command := func(use string) *cobra.Command {
		cmd := &cobra.Command{Use: use, RunE: print}
		cli.AddDB(cmd)
		return cmd
	}
	serve := command("serve")
	serve.Flags().String("listen", "", "address")
	cli.FromEnvironment(serve, "listen")
	keys := &cobra.Command{Use: "keys"}
	list, revoke := command("list"), command("revoke ID...")
	cli.AddDepartment(list)
	list.Flags().Bool("yes", false, "do not ask")
	list.Flags().Bool("new", false, "create it")
	list.Flags().Int("size", 0, "how many")
	keys.AddCommand(list, revoke)
	load := command("load FILE [NAME]")
	load.SuggestFor = []string{"upload", "keep"}
	load.Flags().String("name", "", "name")
	load.Flags().String("to", "", "target")
	load.MarkFlagsMutuallyExclusive("name", "to")
	load.AddCommand(command("undo NUMBER"))
	root.AddCommand(serve, keys, load)
	return root
}

// TestCommandLine checks valid and invalid command lines.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	const help = "\nTry: firefighters"
	for _, tt := range []struct {
		line, stdout, stderr string
	}{
		{"", "serve firefighters.db\n", ""},
		{"--db=x.db", "serve x.db\n", ""},
		{"--version", "firefighters version 1.0\n", ""},
		{"-v", "firefighters version 1.0\n", ""},
		{"load a.csv", "load,a.csv firefighters.db\n", ""},
		{"load undo 7", "undo,7 firefighters.db\n", ""},
		{"keys revoke 1 2 --db x.db", "revoke,1,2 x.db\n", ""},
		{"keys list --tenant B", "list firefighters.dbB\n", ""},

		{"keys", "", "Error: missing command: one of list, revoke" + help + " keys --help\n"},
		{"keys lsit", "", `Error: unknown command "lsit" for "firefighters keys"; did you mean list?` + help + " keys list --help\n"},
		{"help keys lsit", "", `Error: unknown command "lsit" for "firefighters keys"; did you mean list?` + help + " keys list --help\n"},
		{"upload", "", `Error: unknown command "upload" for "firefighters"; did you mean load?` + help + " load --help\n"},
		{"keep", "", `Error: unknown command "keep" for "firefighters"; did you mean load or keys?` + help + " load --help\n"},
		{"undo", "", `Error: unknown command "undo" for "firefighters"; did you mean load undo?` + help + " load undo --help\n"},
		{"serv", "", `Error: unknown command "serv" for "firefighters"; did you mean serve?` + help + " serve --help\n"},
		{"people.csv", "", `Error: unknown command "people.csv" for "firefighters"` + help + " import people.csv\n"},
		{"keys list --tenat x", "", "Error: unknown flag: --tenat; did you mean --tenant?" + help + " keys list --help\n"},
		{"serve --port 9000", "", "Error: unknown flag: --port; did you mean --listen?" + help + " serve --help\n"},
		{"keys list revoke", "", `Error: unexpected argument "revoke": a command comes first` + help + " keys revoke --help\n"},
		{"keys list --new", "", "Error: --new needs a name: add --department" + help + " keys list --help\n"},
		{"nonsense", "", `Error: unknown command "nonsense" for "firefighters"` + help + " --help\n"},
		{"x.db", "", `Error: unknown command "x.db" for "firefighters"` + help + " serve --db x.db\n"},
		{"--hlep", "", `Error: unknown flag: --hlep; did you mean --help?` + help + " serve --help\n"},
		{"keys list --databse x", "", "Error: unknown flag: --databse" + help + " keys list --help\n"},
		{"keys list --sise 3", "", "Error: unknown flag: --sise; did you mean --size?" + help + " keys list --help\n"},
		{"keys list --size big", "", `Error: --size cannot be "big"` + help + " keys list --help\n"},
		{"keys list --size", "", "Error: flag needs an argument: --size" + help + " keys list --help\n"},
		{"keys list --department --yes", "", "Error: --department needs a value" + help + " keys list --help\n"},
		{"keys list --db=", "", "Error: --db is empty" + help + " keys list --help\n"},
		{"load a.csv --name x --to y", "", "Error: --name and --to cannot be combined" + help + " load --help\n"},

		{"load", "", "Error: missing argument FILE" + help + " load --help\n"},
		{"keys revoke", "", "Error: missing argument ID" + help + " keys revoke --help\n"},
		{"load a b c", "", `Error: unexpected argument "c"` + help + " load --help\n"},
		{"serve 9000", "", `Error: unexpected argument "9000"` + help + " serve --listen 127.0.0.1:9000\n"},
		{"serve x.db", "", `Error: unexpected argument "x.db"` + help + " serve --db x.db\n"},
		{"keys list --yes Engine", "", `Error: unexpected argument "Engine"` + help + " keys list --yes --department Engine\n"},
		{"--db x.db keys list", "", `Error: unexpected argument "keys": a command comes first` + help + " keys --help\n"},
	} {
		env, stdout, stderr := newEnv(t)
		code := cli.Execute(env, newRoot(), strings.Fields(tt.line), nil)
		want := 0
		if tt.stderr != "" {
			want = 2
		}
		if code != want || stdout.String() != tt.stdout || stderr.String() != tt.stderr {
			t.Errorf("%s: code %d, stdout %q, stderr %q", tt.line, code, stdout, stderr)
		}
	}
	env, stdout, _ := newEnv(t)
	cli.Execute(env, newRoot(), []string{"keys", "--help"}, nil)
	if !strings.Contains(stdout.String(), "Usage:\n  firefighters keys [command]\n") {
		t.Errorf("help of a group:\n%s", stdout)
	}
	if code := cli.Execute(env, newRoot(), []string{"keys", "list", "--help"}, nil); code != 0 ||
		!strings.Contains(stdout.String(), `      --db file           database file [$FIREFIGHTERS_DB] (default "firefighters.db")`) || !strings.Contains(stdout.String(), "      --yes               do not ask\n") {
		t.Errorf("code %d, help:\n%s", code, stdout)
	}
}

// TestEnvironment checks that variables set flags that the command line lacks.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		line           string
		environ        []string
		stdout, stderr string
	}{
		{"serve", []string{"FIREFIGHTERS_DB=y.db"}, "serve y.db\n", ""},
		{"serve --db x.db", []string{"FIREFIGHTERS_DB=y.db"}, "serve x.db\n", ""},
		{"serve", []string{"FIREFIGHTERS_DB=", "FIREFIGHTERS_KEY=x", "FIREFIGHTERS_URL=x"}, "serve firefighters.db\n", ""},
		{"serve", []string{"FIREFIGHTERS_LISTN=x"}, "serve firefighters.db\n",
			"Warning: the environment variable FIREFIGHTERS_LISTN has no effect\n"},
		{"keys list", []string{"FIREFIGHTERS_YES=true"}, "list firefighters.db\n", "Warning: the environment variable FIREFIGHTERS_YES has no effect\n"},
	} {
		env, stdout, stderr := newEnv(t)
		env.Environ = tt.environ
		if code := cli.Execute(env, newRoot(), strings.Fields(tt.line), nil); code != 0 || stdout.String() != tt.stdout || stderr.String() != tt.stderr {
			t.Errorf("%s with %q: code %d, stdout %q, stderr %q", tt.line, tt.environ, code, stdout, stderr)
		}
	}
}

// TestStoppedCommand checks that Ctrl-C is not reported as an error.
func TestStoppedCommand(t *testing.T) {
	t.Parallel()
	env, _, stderr := newEnv(t)
	ctx, stop := context.WithCancel(t.Context())
	env.Context = ctx
	code := runOne(env, func(env cli.Env) error {
		stop()
		return fmt.Errorf("reading: %w", env.Context.Err())
	})
	if code != 1 || stderr.String() != "Stopped.\n" {
		t.Errorf("code %d, stderr %q", code, stderr)
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"Engine 7", "default", "B", "people.csv"}
	for typed, want := range map[string]string{"defualt": "default", "peple.csv": "people.csv", "ENGINE 7": "Engine 7", "C": "", "": "", "ladder": ""} {
		if got := cli.Nearest(typed, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", typed, got, want)
		}
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
		{base, 1, "Error: it broke\n"},
		{hinted, 1, "Error: it broke\nTry: repair it\n"},
		{fmt.Errorf("doing: %w", hinted), 1, "Error: doing: it broke\nTry: repair it\n"},
		{cli.WithHint(hinted, "replace it"), 1, "Error: it broke\nTry: replace it\n"},
		{wrong, 2, "Error: that is wrong\nTry: this\n"},
		{errors.Join(wrong, nil), 2, "Error: that is wrong\nTry: this\n"},
		{cli.Unfinished("Two rows were skipped.", ""), 1, "Two rows were skipped.\n"},
	} {
		env, _, stderr := newEnv(t)
		if code := env.PrintError(tt.err); code != tt.code || stderr.String() != tt.want {
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

// TestList checks that Stdout lacks the heading of a table, and that JSON has no heading.
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

// TestWithoutTerminal checks that Confirm fails and that no progress is drawn.
func TestWithoutTerminal(t *testing.T) {
	t.Parallel()
	env, stdout, stderr := newEnv(t)
	err := env.Confirm("Erase it?")
	want := cli.UsageError{What: "there is no terminal to ask: Erase it?", Hint: "add --yes"}
	if usage, ok := errors.AsType[*cli.UsageError](err); !ok || *usage != want {
		t.Errorf("%#v", err)
	}
	progress := env.StartProgress("Copying pages")
	progress.Set(1, 1)
	progress.End()
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

// TestQuote checks that a shell reads quoted names correctly.
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
