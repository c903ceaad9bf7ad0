package invite

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/windows"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
)

// TestElevate: a process that was started with the verb for more rights gets its
// arguments as they are, and its exit code comes back. Where Windows would ask
// somebody, the test does not.
func TestElevate(t *testing.T) {
	const code, odd = 7, `a "quoted" word\`
	if last := os.Args[len(os.Args)-1]; last == odd {
		if err := os.WriteFile(os.Args[len(os.Args)-2], []byte(strings.Join(os.Args[1:], "\n")), 0o600); err != nil {
			os.Exit(1)
		}
		os.Exit(code)
	}
	if !windows.GetCurrentProcessToken().IsElevated() {
		t.Skip("Windows would ask for the rights")
	}
	file, err := os.CreateTemp("", "with space")
	must(t, err)
	path := file.Name()
	must(t, file.Close())
	t.Cleanup(func() { os.Remove(path) })
	args := []string{"-test.run=^TestElevate$", path, odd}
	var stderr strings.Builder
	e, err := elevate(cli.Env{Context: t.Context(), Stderr: &stderr}, args)
	if errors.Is(err, errCannotAsk) {
		t.Skip("there is no shell that starts programs")
	}
	must(t, err)
	select {
	case <-e.ended:
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != strings.Join(args, "\n") || e.code != code {
		t.Errorf("code %d, %v, arguments:\n%s", e.code, err, got)
	}
	if want := "Opening the page needs the rights of an administrator. Windows asks for them.\n"; stderr.String() != want {
		t.Errorf("stderr %q", &stderr)
	}
}
