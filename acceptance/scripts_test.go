package acceptance

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/firefighter-records/firefighters/internal/people/record"
)

// shell returns a POSIX shell. Only on Windows must it be in the PATH.
func shell() string {
	if runtime.GOOS == "windows" {
		return "sh"
	}
	return "/bin/sh"
}

// typedArgs returns the arguments of a command line after the quoting of a shell.
func typedArgs(ts *testscript.TestScript, line string) []string {
	ts.Check(ts.Exec(shell(), "-c", `printf '%s\n' `+line))
	return strings.Split(strings.TrimSuffix(ts.ReadFile("stdout"), "\n"), "\n")
}

// TestScripts runs the sessions in testdata/scripts: typed commands and their output. In addition to
// the commands of testscript there are
//
//	firefighters ARGUMENTS        runs the program, which must succeed, or with ! exit with 1
//	wrong firefighters ARGUMENTS  must exit with 2 without standard output
//	prints LINES, says LINES      compare all of standard output or error; the log of a server in words
//	refuses LINES                 compares all output, which must be on standard error
//	people DEPARTMENT DB LINES    compares all exported people; flags may come before them
//	everything DB FILE            writes all data that an import could change into a file
//	pasted WORDS                  runs the printed command on a line with these words; with ! it must exit with 1
//	id VARIABLE DB NAME           sets a variable to the id of the person with a first name
//	sql DB STATEMENT              changes the database like another program
func TestScripts(t *testing.T) {
	t.Parallel()
	run := func(ts *testscript.TestScript, want int, args []string) {
		got, err := 0, ts.Exec(program, args...)
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			got = exit.ExitCode()
		}
		sawLog(strings.Join(args, " "), ts.ReadFile("stderr"))
		if slices.Contains(args, "--json") {
			for line := range strings.Lines(ts.ReadFile("stdout")) {
				if !json.Valid([]byte(line)) {
					ts.Fatalf("invalid JSON: %s", line)
				}
			}
		}
		if got != want || err != nil && exit == nil {
			ts.Fatalf("exit code %d, want %d: %v", got, want, err)
		}
	}
	silent := func(ts *testscript.TestScript) {
		if got := ts.ReadFile("stdout"); got != "" {
			ts.Fatalf("unexpected standard output %q", got)
		}
	}
	lines := func(stream string) func(*testscript.TestScript, bool, []string) {
		return func(ts *testscript.TestScript, _ bool, want []string) {
			if got := inWords(ts.ReadFile(stream)); got != strings.Join(append(want, ""), "\n") {
				ts.Fatalf("%s is\n%s", stream, got)
			}
		}
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/scripts",
		Setup: func(env *testscript.Env) error {
			env.Setenv("SHELL", shell())
			for _, name := range []string{"GORACE", "GOCOVERDIR"} {
				env.Setenv(name, os.Getenv(name))
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"firefighters": func(ts *testscript.TestScript, neg bool, args []string) { run(ts, map[bool]int{true: 1}[neg], args) },
			"wrong": func(ts *testscript.TestScript, _ bool, args []string) {
				run(ts, 2, args[1:])
				silent(ts)
			},
			"refuses": func(ts *testscript.TestScript, neg bool, args []string) {
				lines("stderr")(ts, neg, args)
				silent(ts)
			},
			"prints": lines("stdout"),
			"says":   lines("stderr"),
			"people": func(ts *testscript.TestScript, _ bool, args []string) {
				flags := []string{"export", "--tenant", args[0], "--db", args[1], "--format", "jsonl"}
				want := args[2:]
				for len(want) > 0 && strings.HasPrefix(want[0], "-") {
					flags, want = append(flags, want[0]), want[1:]
				}
				run(ts, 0, flags)
				var got []string
				for line := range strings.Lines(ts.ReadFile("stdout")) {
					var f record.Fields
					ts.Check(json.Unmarshal([]byte(line), &f))
					got = append(got, f.Summary())
				}
				if !slices.Equal(got, want) || ts.ReadFile("stderr") != "" {
					ts.Fatalf("people: %q", got)
				}
			},
			"everything": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(everything(t, ts.MkAbs(args[0]))), 0o600))
			},
			"pasted": func(ts *testscript.TestScript, neg bool, args []string) {
				for line := range strings.Lines(ts.ReadFile("stdout") + ts.ReadFile("stderr")) {
					if _, typed, ok := strings.Cut(line, "firefighters "); ok && strings.Contains(line, args[0]) {
						ts.Logf("%s", line)
						run(ts, map[bool]int{true: 1}[neg], typedArgs(ts, typed))
						return
					}
				}
				ts.Fatalf("no printed command on a line with %q", args[0])
			},
			"id": func(ts *testscript.TestScript, _ bool, args []string) {
				var id string
				scanSQL(t, ts.MkAbs(args[1]), `SELECT id FROM firefighters WHERE first_name = '`+args[2]+`'`, &id)
				ts.Setenv(args[0], id)
			},
			"sql": func(ts *testscript.TestScript, _ bool, args []string) { execSQL(t, ts.MkAbs(args[0]), args[1]) },
		},
	})
}
