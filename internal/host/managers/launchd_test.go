package managers

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// launchctl stands in for the one of macOS.
type launchctl struct {
	loaded, stuck, dead bool // stuck does not end, dead does not run
	asked               []string
}

func (l *launchctl) run(program string, args ...string) (string, error) {
	failed := errors.New(program + " fails")
	l.asked = append(l.asked, args[0])
	switch args[0] {
	case "bootstrap":
		if l.loaded {
			return "", failed
		}
		l.loaded = true
	case "bootout":
		if l.stuck || !l.loaded {
			return "", failed
		}
		l.loaded = false
	case "print":
		if !l.loaded {
			return "", failed
		}
		return map[bool]string{false: "\tstate = running\n\tpid = 7\n", true: "\tstate = not running\n\tlast exit code = 1\n"}[l.dead], nil
	}
	return "", nil
}

// TestDaemon: the descriptions are there from Install to Uninstall, and stay where the
// service does not end. It cannot run beside others: it sets a limit.
func TestDaemon(t *testing.T) {
	defer func(before time.Duration) { endLimit = before }(endLimit)
	endLimit = 0
	system := &launchctl{}
	d := daemon{root: t.TempDir(), run: system.run}
	if d.installed() {
		t.Fatal("it is installed")
	}
	if err := d.install("/usr/local/bin/firefighters", "/Library/x", "_firefighters"); err != nil || !d.installed() {
		t.Fatal(err)
	}
	described, _ := os.ReadFile(d.path(plistFile))
	rotated, _ := os.ReadFile(d.path(rotationFile))
	if string(described) != plist("/usr/local/bin/firefighters", "/Library/x", "_firefighters") || string(rotated) != rotation("_firefighters") {
		t.Errorf("%s\n%s", described, rotated)
	}
	for range 2 {
		if err := d.start(); err != nil || !system.loaded {
			t.Errorf("it does not start: %v", err)
		}
	}
	if got := strings.Join(system.asked, " "); strings.Count(got, "kickstart") != 1 {
		t.Errorf("started twice: %s", got)
	}
	if state, pid, ok := d.current(); !ok || !state.Running || pid != "7" {
		t.Errorf("%+v, %q, %v", state, pid, ok)
	}
	system.stuck = true
	if err := d.uninstall(); !errors.Is(err, errNotEnded) || !d.installed() {
		t.Errorf("it does not end: %v; it is installed: %v", err, d.installed())
	}
	system.stuck = false
	if err := d.uninstall(); err != nil || d.installed() || system.loaded {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(d.path(rotationFile)); !os.IsNotExist(err) {
		t.Errorf("the rotation of the log is left: %v", err)
	}
	if err := d.uninstall(); !os.IsNotExist(err) {
		t.Errorf("again: %v", err)
	}
}

// TestRotation: newsyslog takes words between tabs, and signals nobody.
func TestRotation(t *testing.T) {
	t.Parallel()
	lines := strings.Split(strings.TrimSuffix(rotation("_firefighters"), "\n"), "\n")
	if words := strings.Fields(lines[len(lines)-1]); len(lines) != 2 || !strings.HasPrefix(lines[0], "#") || strings.Join(words, " ") != launchdLog+" _firefighters:_firefighters 640 5 1000 * N" {
		t.Errorf("%q", lines)
	}
}

func TestLaunchdTexts(t *testing.T) {
	t.Parallel()
	text := plist("/usr/local/bin/firefighters", "/Library/R&D", "_firefighters")
	for _, want := range []string{"<string>/usr/local/bin/firefighters</string>\n\t\t<string>service</string>\n\t\t<string>run</string>", "<string>/Library/R&amp;D</string>", "<string>_firefighters</string>", "<key>ThrottleInterval</key>\n\t<integer>60</integer>", "<string>/Library/Logs/firefighters.log</string>"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not there", want)
		}
	}
	s, pid := parseDaemonState("system/x = {\n\tactive count = 1\n\tstate = running\n\tprogram = /usr/local/bin/firefighters\n\tpid = 7\n\tendpoints = {\n\t\tstate = waiting\n\t}\n}\n")
	if !s.Running || pid != "7" || s.Program != "/usr/local/bin/firefighters" || s.Detail != "running" {
		t.Errorf("%+v", s)
	}
	if s, _ = parseDaemonState("\tstate = not running\n\tlast exit code = 1\n"); s.Running || s.Detail != "not running, the last run ended with: 1" {
		t.Errorf("%+v", s)
	}
	if got := freeID("daemon 1\n_a 400\n_b   401\n_c 403\n"); got != "402" {
		t.Errorf("the free number is %s", got)
	}
	for text, want := range map[string]time.Duration{"05:07": 307 * time.Second, " 1-02:03:04\n": 93784 * time.Second, "02:00:00": 2 * time.Hour, "": 0} {
		if got := parseElapsed(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
