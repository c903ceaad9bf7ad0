//go:build !windows

package managers

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// newMac returns a Mac in a temporary folder. Its launchctl is a script whose state is in files:
// loaded exists while the service runs, and stuck prevents it from ending. newMac sets PATH, so its
// tests cannot be parallel.
func newMac(t *testing.T) (h launchd, state func(name string) string) {
	t.Helper()
	h.Root = t.TempDir()
	folder := t.TempDir()
	script := fmt.Sprintf(`#!/bin/sh
cd %q || exit 9
echo "$1" >>calls
case $1 in
bootstrap) [ ! -e loaded ] && : >loaded ;;
bootout) [ ! -e stuck ] && rm loaded ;;
print) [ -e loaded ] && printf '\tstate = running\n' ;;
esac
`, folder)
	must(t, os.WriteFile(filepath.Join(folder, "launchctl"), []byte(script), 0o700))
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	return h, func(name string) string { return filepath.Join(folder, name) }
}

// TestLaunchd checks the property list from Install to Uninstall, and that it remains if the
// service does not end.
func TestLaunchd(t *testing.T) {
	defer func(before time.Duration) { endLimit = before }(endLimit)
	endLimit = 0
	h, state := newMac(t)
	loaded := func() bool { _, err := os.Stat(state("loaded")); return err == nil }
	if now, err := h.Current(); err != nil || now.Installed || h.Installed() {
		t.Fatalf("installed before Install: %+v, %v", now, err)
	}
	if err := h.Start(); !errors.Is(err, ErrNotInstalled) {
		t.Errorf("Start before Install: %v", err)
	}
	h.User = "_firefighters"
	steps, err := h.Install(Definition{Program: "/usr/local/bin/firefighters", Data: "/Library/x"})
	if err != nil || len(steps) != 2 || !h.Installed() {
		t.Fatalf("%q, %v", steps, err)
	}
	if text, _ := os.ReadFile(h.path(plistFile)); string(text) != plist("/usr/local/bin/firefighters", "/Library/x", "_firefighters") {
		t.Errorf("%s", text)
	}
	if now, err := h.Current(); err != nil || !now.Installed || now.Running || now.Detail != "stopped" || now.Program != h.InstalledProgram() {
		t.Errorf("before Start: %+v, %v", now, err)
	}
	for range 2 {
		if err := h.Start(); err != nil || !loaded() {
			t.Errorf("Start: %v", err)
		}
	}
	if calls, _ := os.ReadFile(state("calls")); strings.Count(string(calls), "kickstart") != 1 {
		t.Errorf("want one kickstart in %s", calls)
	}
	if now, err := h.Current(); err != nil || !now.Running {
		t.Errorf("%+v, %v", now, err)
	}
	must(t, os.WriteFile(state("stuck"), nil, 0o600))
	if _, err := h.Uninstall(""); err == nil || !strings.Contains(err.Error(), "did not stop") || !h.Installed() {
		t.Errorf("Uninstall of a stuck service: %v, installed: %v", err, h.Installed())
	}
	must(t, os.Remove(state("stuck")))
	if steps, err := h.Uninstall(""); err != nil || len(steps) != 2 || h.Installed() || loaded() {
		t.Errorf("%q, %v", steps, err)
	}
	if _, err := h.Uninstall(""); !errors.Is(err, ErrNotInstalled) {
		t.Errorf("second Uninstall: %v", err)
	}
}

func TestLaunchdTexts(t *testing.T) {
	t.Parallel()
	text := plist("/usr/local/bin/firefighters", "/Library/R&D", "_firefighters")
	for _, want := range []string{"<string>/usr/local/bin/firefighters</string>\n\t\t<string>service</string>\n\t\t<string>run</string>", "<string>/Library/R&amp;D</string>", "<string>_firefighters</string>", "<key>ThrottleInterval</key>\n\t<integer>60</integer>", "<string>/Library/Logs/firefighters.log</string>"} {
		if !strings.Contains(text, want) {
			t.Errorf("the property list lacks %q", want)
		}
	}
	s := parseLaunchdState("system/x = {\n\tactive count = 1\n\tstate = running\n\tpid = 7\n\tendpoints = {\n\t\tstate = waiting\n\t}\n}\n")
	if !s.Running || s.Detail != "running" {
		t.Errorf("%+v", s)
	}
	if s = parseLaunchdState("\tstate = not running\n\tlast exit code = 1\n"); s.Running || s.Detail != "not running, the last run ended with: 1" {
		t.Errorf("%+v", s)
	}
	if got := freeID("daemon 1\n_a 400\n_b   401\n_c 403\n"); got != "402" {
		t.Errorf("the free ID is %s", got)
	}
}
