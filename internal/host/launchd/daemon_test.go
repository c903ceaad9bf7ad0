package launchd

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
	d := Daemon{Root: t.TempDir(), Run: system.run}
	if d.Installed() {
		t.Fatal("it is installed")
	}
	if err := d.Install("/usr/local/bin/firefighters", "/Library/x", "_firefighters"); err != nil || !d.Installed() {
		t.Fatal(err)
	}
	plist, _ := os.ReadFile(d.path(PlistFile))
	rotation, _ := os.ReadFile(d.path(RotationFile))
	if string(plist) != Plist("/usr/local/bin/firefighters", "/Library/x", "_firefighters") || string(rotation) != Rotation("_firefighters") {
		t.Errorf("%s\n%s", plist, rotation)
	}
	for range 2 {
		if err := d.Start(); err != nil || !system.loaded {
			t.Errorf("it does not start: %v", err)
		}
	}
	if got := strings.Join(system.asked, " "); strings.Count(got, "kickstart") != 1 {
		t.Errorf("started twice: %s", got)
	}
	if state, ok := d.Current(); !ok || !state.Running || state.PID != "7" {
		t.Errorf("%+v, %v", state, ok)
	}
	system.stuck = true
	if err := d.Uninstall(); !errors.Is(err, ErrNotEnded) || !d.Installed() {
		t.Errorf("it does not end: %v; it is installed: %v", err, d.Installed())
	}
	system.stuck = false
	if err := d.Uninstall(); err != nil || d.Installed() || system.loaded {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(d.path(RotationFile)); !os.IsNotExist(err) {
		t.Errorf("the rotation of the log is left: %v", err)
	}
	if err := d.Uninstall(); !os.IsNotExist(err) {
		t.Errorf("again: %v", err)
	}
}

// TestRotation: newsyslog takes words between tabs, and signals nobody.
func TestRotation(t *testing.T) {
	t.Parallel()
	lines := strings.Split(strings.TrimSuffix(Rotation("_firefighters"), "\n"), "\n")
	if words := strings.Fields(lines[len(lines)-1]); len(lines) != 2 || !strings.HasPrefix(lines[0], "#") || strings.Join(words, " ") != LogFile+" _firefighters:_firefighters 640 5 1000 * N" {
		t.Errorf("%q", lines)
	}
}
