// Package acceptance tests the program as users run it: built once, run as a process, with a
// database in a file and HTTP over loopback. Nothing is mocked.
package acceptance

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// On macOS the temporary folder is behind a link, and messages contain resolved paths.
func init() {
	if folder, err := filepath.EvalSymlinks(os.TempDir()); err == nil {
		os.Setenv("TMPDIR", folder)
	}
}

// program is the path of the program under test.
var program string

func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.list").Value.String() != "" {
		os.Exit(m.Run())
	}
	testTogether()
	os.Exit(runAll(m))
}

func runAll(m *testing.M) int {
	folder, err := os.MkdirTemp("", "acceptance-")
	if err == nil {
		defer os.RemoveAll(folder)
		program, err = build(folder)
	}
	if err == nil {
		err = buildCurl(folder)
	}
	if err == nil {
		err = os.Chmod(folder, 0o755) // other users also run the program
	}
	if err == nil {
		err = leaveUser(folder)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return testify(m.Run())
}

// build builds the program into a folder: with the race detector if the tests use it, and with
// coverage counters if GOCOVERDIR is set.
func build(folder string) (path string, err error) {
	path = filepath.Join(folder, "firefighters")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	args := []string{"build", "-buildvcs=false", "-o", path}
	if withRace { // the detector does not see the memory of SQLite
		args = append(args, "-race", "-gcflags=modernc.org/sqlite/lib=-race=false")
	}
	if os.Getenv("GOCOVERDIR") != "" {
		args = append(args, "-cover")
	}
	out, err := exec.Command("go", append(args, "..")...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building the program: %w\n%s", err, out)
	}
	return path, nil
}

// buildCurl builds the curl of docs/operations.md into a folder.
func buildCurl(folder string) error {
	out, err := exec.Command("go", "build", "-buildvcs=false", "-o", folder, "./testdata/curl").CombinedOutput()
	if err != nil {
		return fmt.Errorf("building curl: %w\n%s", err, out)
	}
	return nil
}

// unlessRace returns the size of a test: usual, or fewer with the race detector, which slows
// each step.
func unlessRace(usual, fewer int) int {
	if withRace {
		return fewer
	}
	return usual
}

// kept are the environment variables that the program receives. PATHEXT and those after it are
// for Windows.
var kept = []string{"PATH", "TMPDIR", "GOCOVERDIR", "TZ", "LANG", "LC_ALL", "PATHEXT", "SYSTEMROOT", "SYSTEMDRIVE", "TEMP", "TMP"}

// leaveUser removes the settings of the current user from the environment and gives the program
// a separate home folder.
func leaveUser(folder string) error {
	for _, setting := range os.Environ() {
		if name, _, _ := strings.Cut(setting, "="); !slices.Contains(kept, strings.ToUpper(name)) {
			os.Unsetenv(name)
		}
	}
	home := filepath.Join(folder, "home")
	os.Setenv("HOME", home)
	os.Setenv("LOCALAPPDATA", home)
	os.Setenv("GORACE", fmt.Sprintf("halt_on_error=1 exitcode=%d atexit_sleep_ms=0", raceCode))
	return os.Mkdir(home, 0o700)
}

// testTogether runs more tests at once than there are processors, because tests spend half of
// their time waiting for disks and processes.
func testTogether() {
	if parallel := flag.Lookup("test.parallel"); parallel.Value.String() == parallel.DefValue {
		parallel.Value.Set(fmt.Sprint(2 * runtime.GOMAXPROCS(0)))
	}
}

// raceCode is the exit code of the program after a data race.
const raceCode = 66

// process prepares a command as a separate process. The test fails if the race detector reports
// a data race in it.
func process(t *testing.T, args ...string) (cmd *exec.Cmd, output *syncBuffer) {
	t.Helper()
	cmd, output = exec.Command(program, args...), &syncBuffer{}
	cmd.Env = append(os.Environ(), "LC_ALL=C") // the language decides the likeliest encoding of a list
	cmd.Stdin, cmd.Stdout, cmd.Stderr = new(bytes.Reader), output, output
	cmd.SysProcAttr = processGroup()
	t.Cleanup(func() {
		if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == raceCode {
			t.Errorf("%q: a data race: %v %v", args, cmd.Stdout, cmd.Stderr)
		}
	})
	return cmd, output
}
