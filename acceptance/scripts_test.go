package acceptance

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs the sessions in testdata/scripts: what somebody types, and what the
// program prints. Beside the commands of testscript there are
//
//	firefighters ARGUMENTS        runs it, which must succeed; with a ! it ends with 1
//	wrong firefighters ARGUMENTS  is wrong usage: it ends with 2
//	prints LINES, says LINES      is all of its standard output, or error
func TestScripts(t *testing.T) {
	t.Parallel()
	run := func(ts *testscript.TestScript, want int, args []string) {
		got, err := 0, ts.Exec(program, args...)
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			got = exit.ExitCode()
		}
		sawLog(strings.Join(args, " "), ts.ReadFile("stderr"))
		if got != want || err != nil && exit == nil {
			ts.Fatalf("it ends with %d, not %d: %v", got, want, err)
		}
	}
	lines := func(stream string) func(*testscript.TestScript, bool, []string) {
		return func(ts *testscript.TestScript, _ bool, want []string) {
			if got := ts.ReadFile(stream); got != strings.Join(append(want, ""), "\n") {
				ts.Fatalf("%s is\n%s", stream, got)
			}
		}
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/scripts",
		Setup: func(env *testscript.Env) error {
			for _, name := range []string{"GORACE", "GOCOVERDIR"} {
				env.Setenv(name, os.Getenv(name))
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"firefighters": func(ts *testscript.TestScript, neg bool, args []string) { run(ts, map[bool]int{true: 1}[neg], args) },
			"wrong":        func(ts *testscript.TestScript, _ bool, args []string) { run(ts, 2, args[1:]) },
			"prints":       lines("stdout"),
			"says":         lines("stderr"),
		},
	})
}
