//go:build unix

package acceptance

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
)

// desktop is a simulated desktop whose browser opener records its arguments and the file that
// it opens.
type desktop struct{ home, programs, record string }

// newDesktop returns a desktop whose opener ends with these lines of shell.
func newDesktop(t *testing.T, end string) desktop {
	t.Helper()
	d := desktop{t.TempDir(), t.TempDir(), t.TempDir()}
	script := "#!/bin/sh\nrecord=" + cli.Quote(d.record) + "\ncat \"$1\" >\"$record/page\"\nls -ld \"$1\" >\"$record/mode\"\n" +
		"printf '%s\\n' \"$@\" >\"$record/new\"\nmv \"$record/new\" \"$record/arguments\"\n" + end + "\n"
	for _, name := range []string{"xdg-open", "open"} { // the latter on macOS
		must(t, os.WriteFile(filepath.Join(d.programs, name), []byte(script), 0o700))
	}
	return d
}

// command prepares a command on the desktop with further environment variables.
func (d desktop) command(t *testing.T, settings []string, args ...string) (*exec.Cmd, *syncBuffer) {
	t.Helper()
	cmd, output := process(t, args...)
	cmd.Env = append(cmd.Env, "HOME="+d.home, "TMPDIR="+d.home, "PATH="+d.programs+":/usr/bin:/bin", "DISPLAY=:9", "WAYLAND_DISPLAY=", "SUDO_USER=",
		"GOCOVERDIR="+d.record) // a writable folder for -cover
	cmd.Env = append(cmd.Env, settings...)
	return cmd, output
}

// saw waits until the opener has run and returns a record of it.
func (d desktop) saw(t *testing.T, what string) string {
	t.Helper()
	path := filepath.Join(d.record, "arguments") // is written last
	eventually(t, "the browser", func() bool { return exists(path) })
	text, err := os.ReadFile(filepath.Join(d.record, what))
	must(t, err)
	return string(text)
}

// opens waits until the browser was opened with a private file. It returns the path of the file
// and the code.
func (d desktop) opens(t *testing.T, url string) (path, code string) {
	t.Helper()
	path = strings.TrimSuffix(d.saw(t, "arguments"), "\n")
	link := regexp.MustCompile(`content="0; url=` + regexp.QuoteMeta(url) + `/office/sign-in#code=([0-9A-Z-]{14})"`).FindStringSubmatch(d.saw(t, "page"))
	if link == nil || strings.Contains(path, link[1]) || !strings.HasPrefix(path, d.home+"/") || strings.Contains(path, "\n") || strings.Contains(path, "/.") {
		t.Fatalf("the browser opens %q, which contains %s", path, d.saw(t, "page"))
	}
	if mode := d.saw(t, "mode"); !strings.HasPrefix(mode, "-rw------- ") {
		t.Errorf("the file has the mode %s", mode)
	}
	return path, link[1]
}

// TestOpen checks that open shows the page in the browser by a file that only its owner can read,
// that the file is removed after the sign-in, and that no process list shows the code.
func TestOpen(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := newDesktop(t, "")
	cmd, output := d.command(t, nil, "open", "--db", s.db)
	must(t, cmd.Start())
	path, code := d.opens(t, s.url)
	if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v, %v", info, err)
	}
	s.letsIn(t, code)
	if err := cmd.Wait(); err != nil || output.String() != "Opening the page in the browser. Press its button to sign in.\n" {
		t.Errorf("%v, output:\n%s", err, output)
	}
	if left := namesIn(t, d.home); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if keys, _ := works(t, "keys", "list", "--db", s.db); !regexp.MustCompile(`(?m)^2 +active +admin .* default +\S+$`).MatchString(keys) {
		t.Errorf("the keys are\n%s", keys)
	}
}

// TestOpenStopped checks that an interrupted open removes its file while the opener is still
// running, and that the link stays valid.
func TestOpenStopped(t *testing.T) {
	t.Parallel()
	s := start(t)
	newKey(t, s.db, "Engine 7")
	d := newDesktop(t, "while [ ! -e "+filepath.Join(t.TempDir(), "end")+" ] && [ -e \"$1\" ]; do sleep 0.1; done")
	cmd, output := d.command(t, nil, "open", "--db", s.db, "--tenant", "Engine 7")
	must(t, cmd.Start())
	_, code := d.opens(t, s.url)
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	if err := cmd.Wait(); err != nil || len(namesIn(t, d.home)) > 0 {
		t.Errorf("%v, left behind: %q, output:\n%s", err, namesIn(t, d.home), output)
	}
	s.letsIn(t, code)
}

// TestOpenPrints checks that open prints the link and leaves no file if there is no browser or
// it cannot be opened.
func TestOpenPrints(t *testing.T) {
	t.Parallel()
	s := start(t)
	const none, fails = "There is no browser here.", "The browser could not be opened (OPENER: exit status 3)."
	cases := map[string]struct {
		settings []string
		want     string
	}{
		"no opener":     {[]string{"PATH=/nowhere"}, none},
		"it fails":      {nil, fails},
		"no home":       {[]string{"HOME="}, fails},
		"no folder":     {[]string{"HOME=/nowhere", "TMPDIR=/nowhere"}, "The browser could not be opened (stat /nowhere: no such file or directory)."},
		"no display":    {[]string{"DISPLAY="}, none},
		"other display": {[]string{"DISPLAY=", "WAYLAND_DISPLAY=wayland-0"}, fails},
		"sudo":          {[]string{"SUDO_USER=ana"}, "No browser is opened under sudo."},
	}
	if runtime.GOOS == "darwin" { // macOS always has a display
		delete(cases, "no display")
	}
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesktop(t, "exit 3")
			cmd, _ := d.command(t, tt.settings, "open", "--db", s.db)
			var stdout, stderr strings.Builder
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			must(t, cmd.Run())
			link := invitationForm.FindStringSubmatch(stdout.String())
			if link == nil || link[1] != s.url || stdout.String() != link[0] {
				t.Fatalf("stdout %q, stderr %q", &stdout, &stderr)
			}
			_, message, _ := strings.Cut(stderr.String(), "in the browser. Press its button to sign in.\n")
			if message == "" { // the opener did not run
				message = stderr.String()
			}
			want := tt.want + " Open this link in a browser within 15 minutes, and press the button:\n" +
				"Note: the link works only on this computer, because the server listens on 127.0.0.1\n"
			if got := strings.NewReplacer(d.programs+"/xdg-open", "OPENER", d.programs+"/open", "OPENER").Replace(message); got != want {
				t.Errorf("stderr:\n%swant:\n%s", got, want)
			}
			if left := namesIn(t, d.home); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
			s.letsIn(t, link[2])
		})
	}
}
