package cli_test

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
)

// openTerminal returns a terminal and its other end, where a person types and reads.
func openTerminal(t *testing.T) (terminal, person *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminal: %v", err)
	}
	t.Cleanup(func() { person.Close() })
	fd := int(person.Fd())
	number, err := unix.IoctlGetUint32(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Skipf("no terminal: %v", err)
	}
	t.Cleanup(func() { terminal.Close() })
	return terminal, person
}

// TestDataOnTerminal checks that binary output is escaped on a terminal.
func TestDataOnTerminal(t *testing.T) {
	t.Parallel()
	terminal, person := openTerminal(t)
	env, _, _ := newEnv(t)
	env.Stdout = terminal
	runOne(env, func(env cli.Env) error {
		_, err := io.WriteString(env.Data(), "a,\x1b[2J\r\n")
		return err
	})
	shown := make([]byte, 100)
	n, err := person.Read(shown)
	if got := strings.ReplaceAll(string(shown[:n]), "\r", ""); err != nil || got != `a,\u001b[2J`+"\n" {
		t.Errorf("%v, the terminal shows %q", err, got)
	}
}

// TestQROnTerminal checks that a QR code has colors on a terminal only, and that paper is inverted.
func TestQROnTerminal(t *testing.T) {
	t.Parallel()
	terminal, person := openTerminal(t)
	env, stdout, _ := newEnv(t)
	draw := func(env cli.Env) error { return env.PrintQR("# ", "AGE", true) }
	runOne(env, draw)
	env.Stdout = terminal
	runOne(env, draw)
	shown := make([]byte, 10000)
	n, err := person.Read(shown)
	first, _, _ := strings.Cut(string(shown[:n]), "\r\n")
	printed, _, _ := strings.Cut(stdout.String(), "\n")
	if light := strings.Repeat("█", 29); err != nil || first != "# \x1b[38;5;231;48;5;16m"+light+"\x1b[0m" || printed != "# "+strings.Repeat(" ", 29) {
		t.Errorf("%v, the terminal begins with %q, the paper with %q", err, first, printed)
	}
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]bool{"yes\n": true, " yes \n": true, "y\n": false, "YES\n": false, "\n": false, "yes\x04\x04": false} {
		terminal, person := openTerminal(t)
		env, stdout, stderr := newEnv(t)
		env.Stdin = terminal
		io.WriteString(person, typed)
		err := env.Confirm("Erase it?")
		if !want && (err == nil || err.Error() != "Nothing was changed.") || want && err != nil {
			t.Errorf("%q: %v", typed, err)
		}
		if stdout.Len() > 0 || stderr.String() != "Erase it? Type yes: " {
			t.Errorf("stdout %q, stderr %q", stdout, stderr)
		}
	}
}

// TestProgress checks that progress is drawn after a second, and then at most ten times a second.
func TestProgress(t *testing.T) {
	t.Parallel()
	terminal, person := openTerminal(t)
	synctest.Test(t, func(t *testing.T) {
		env, _, _ := newEnv(t)
		env.Stderr = terminal
		short := env.StartProgress("Copying")
		time.Sleep(900 * time.Millisecond)
		short.End()
		p := env.StartProgress("Importing")
		time.Sleep(999 * time.Millisecond)
		for range 1000 {
			p.Set(5, 10)
		}
		time.Sleep(50 * time.Millisecond)
		p.Set(0, 0)
		time.Sleep(100 * time.Millisecond)
		p.End()
		p.End()
	})
	terminal.Close()
	shown, _ := io.ReadAll(person) // the error is the closed terminal
	bar := "Importing [" + strings.Repeat("=", 15) + strings.Repeat(" ", 15) + "] 5 of 10"
	width := strings.Repeat(" ", len(bar)-len("Importing: 1 second"))
	want := "\r" + bar + "\rImporting: 1 second" + width + "\r" + strings.Repeat(" ", len(bar)) + "\r"
	if string(shown) != want {
		t.Errorf("got %q, want %q", shown, want)
	}
}
