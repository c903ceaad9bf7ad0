//go:build !windows && !darwin

package managers

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// newHost returns a system with systemd in a temporary folder. Its systemctl and journalctl are
// scripts: they print the file in(VERB), fail if in(VERB.fails) exists, and record their arguments,
// which calls returns and clears. newHost sets PATH, so its tests cannot be parallel.
func newHost(t *testing.T) (h Host, in func(name string) string, calls func() string) {
	t.Helper()
	h.Root = t.TempDir()
	scripts := t.TempDir()
	in = func(name string) string { return filepath.Join(scripts, name) }
	for program, word := range map[string]string{"systemctl": "$1", "journalctl": "log"} {
		script := fmt.Sprintf("#!/bin/sh\nname=%q/%s\nprintf '%s %%s\\n' \"$*\" >>%q\n[ ! -e \"$name\" ] || cat \"$name\"\n[ ! -e \"$name.fails\" ] || { echo it fails; exit 1; }\n",
			scripts, word, program, in("calls"))
		must(t, os.WriteFile(in(program), []byte(script), 0o700))
	}
	t.Setenv("PATH", scripts+":"+os.Getenv("PATH"))
	must(t, os.MkdirAll(h.path("/run/systemd/system"), 0o700))
	return h, in, func() string {
		text, _ := os.ReadFile(in("calls"))
		os.Remove(in("calls"))
		return string(text)
	}
}

const (
	loaded  = "LoadState=loaded\nActiveState=active\nSubState=running\nResult=success\n"
	waiting = "LoadState=loaded\nActiveState=activating\nSubState=auto-restart\nResult=exit-code\n"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

// content returns the content of a file, "none" if it cannot be read.
func content(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "none"
	}
	return string(text)
}

// TestPackage checks that the unit of a package replaces ours, and that an unneeded drop-in is
// removed. Package service tests the rest.
func TestPackage(t *testing.T) {
	h, in, calls := newHost(t)
	unit, dropIn := h.path(unitFile), h.path(dropInFile)
	d := Definition{Program: "/usr/local/bin/firefighters", Writes: []string{"/backup"}, Port: 8080}
	steps, err := h.Install(d)
	if err != nil || len(steps) != 3 || content(unit) != Unit(d.Program) || !strings.Contains(content(dropIn), "-/backup\n") {
		t.Fatalf("%q, %v", steps, err)
	}
	if want := "systemctl daemon-reload\nsystemctl enable firefighters.service\n"; calls() != want || !h.Installed() {
		t.Error("Install did not call systemd, or Installed returns false")
	}
	write(t, in("daemon-reload.fails"), "")
	if _, err := h.Install(d); err == nil || !strings.Contains(err.Error(), "daemon-reload") || !strings.Contains(err.Error(), "it fails") {
		t.Errorf("Install with a failing daemon-reload: %v", err)
	}
	must(t, os.Remove(in("daemon-reload.fails")))
	write(t, h.path(packagedUnit), Unit("/usr/bin/firefighters"))
	d = Definition{Program: "/usr/bin/firefighters", Port: 8080}
	if steps, err = h.Install(d); err != nil || len(steps) != 3 || content(unit) != "none" || content(dropIn) != "none" || !h.Installed() {
		t.Errorf("Install with a package: %q, %v", steps, err)
	}
	if h.Packaged(d.Program) == "" || h.Packaged("/usr/local/bin/firefighters") != "" {
		t.Error("Packaged does not identify the program of the package")
	}
}

// TestForeign checks that a unit written by hand is neither replaced nor removed.
func TestForeign(t *testing.T) {
	h, _, calls := newHost(t)
	const byHand = "[Service]\nExecStart=/opt/firefighters serve --no-office\n"
	write(t, h.path(unitFile), byHand)
	if h.Installed() {
		t.Error("Installed returns true")
	}
	_, prepareErr := h.Prepare(Definition{Data: h.path("/data")})
	_, uninstallErr := h.Uninstall("")
	for _, err := range []error{prepareErr, uninstallErr} {
		if !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), unitFile) {
			t.Error(err)
		}
	}
	if content(h.path(unitFile)) != byHand || calls() != "" {
		t.Error("the unit was changed")
	}
}

// TestCurrent checks the parsed state, with the error from the log if the service does not run.
func TestCurrent(t *testing.T) {
	h, in, _ := newHost(t)
	write(t, in("log"), `{"msg":"port 8080 is used by another program","try":"another port","exitCode":1}`)
	for _, tt := range []struct {
		show string
		want State
	}{
		{"LoadState=not-found\nActiveState=inactive\n", State{Detail: "inactive"}},
		{waiting, State{Installed: true, Detail: "activating (auto-restart), the last run ended with: exit-code",
			Error: "port 8080 is used by another program", Hint: "another port"}},
		{"LoadState=loaded\nActiveState=failed\nResult=exit-code\n", State{Installed: true, Detail: "failed, the last run ended with: exit-code",
			Error: "port 8080 is used by another program", Hint: "another port"}},
		{"LoadState=loaded\nActiveState=activating\nSubState=start\nResult=success\n", State{Installed: true, Detail: "activating (start)"}},
		{loaded + "StatusText=Listening on http://127.0.0.1:8080\nExecStart={ path=/x ; argv[]=/x service run ; }\nActiveEnterTimestamp=Thu 2026-01-01 10:00:00 UTC\nUnitFileState=disabled\n",
			State{Installed: true, Running: true, Manual: true, Program: "/x", Address: "http://127.0.0.1:8080", Since: time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC), Detail: "active (running)"}},
	} {
		write(t, in("show"), tt.show)
		if got, err := h.Current(); err != nil || got != tt.want {
			t.Errorf("%s: %+v, %v", tt.show, got, err)
		}
	}
	write(t, in("show.fails"), "")
	if _, err := h.Current(); err == nil {
		t.Error("no error with a failing systemctl")
	}
	must(t, os.RemoveAll(h.path("/run")))
	if _, err := h.Current(); !errors.Is(err, ErrUnsupported) {
		t.Errorf("without systemd: %v", err)
	}
}

// TestPrepare checks the user, the data folder, Share and MayRead.
func TestPrepare(t *testing.T) {
	h, in, calls := newHost(t)
	me, err := user.Current()
	must(t, err)
	h.User = me.Username
	d := Definition{Data: h.DataFolder()}
	if steps, err := h.Prepare(d); !errors.Is(err, os.ErrNotExist) || steps != nil {
		t.Errorf("without the parent folder: %q, %v", steps, err)
	}
	must(t, os.MkdirAll(filepath.Dir(d.Data), 0o755))
	for _, want := range []int{1, 0} {
		if steps, err := h.Prepare(d); err != nil || len(steps) != want || calls() != "" {
			t.Errorf("%q, %v", steps, err)
		}
	}
	folder, file := h.path("/copies"), h.path("/key.pem")
	must(t, h.Share(folder))
	write(t, file, "")
	must(t, h.MayRead(file))
	if err := h.MayRead(file + ".gone"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	h.User = "missing-user"
	if h.Share(folder) == nil || h.MayRead(file) == nil {
		t.Error("no error for a missing user")
	}
	script := fmt.Sprintf("#!/bin/sh\necho \"sysusers $*\" >>%q\n", in("calls"))
	must(t, os.WriteFile(in("systemd-sysusers"), []byte(script), 0o700))
	config := h.path("/etc/sysusers.d/firefighters.conf")
	if _, err := h.Prepare(d); err == nil || calls() != "sysusers "+config+"\n" || content(config) != Sysusers {
		t.Errorf("systemd-sysusers creates no user: %v", err)
	}
	must(t, os.WriteFile(in("systemd-sysusers"), []byte("#!/bin/sh\nexit 1\n"), 0o700))
	if _, err := h.Prepare(d); err == nil || !strings.Contains(err.Error(), "systemd-sysusers "+config) {
		t.Errorf("systemd-sysusers fails: %v", err)
	}
	must(t, os.RemoveAll(h.path("/run")))
	if _, err := h.Prepare(d); !errors.Is(err, ErrUnsupported) {
		t.Errorf("without systemd: %v", err)
	}
}

func TestDropIn(t *testing.T) {
	t.Parallel()
	type definition struct {
		writes []string
		port   int
	}
	for want, d := range map[string]definition{
		"":                                 {[]string{"/var/lib/firefighters/backups", "/mnt/usb/backups", "/media/usb"}, 8080},
		"ReadWritePaths=-/var/backups/x\n": {[]string{"/var/backups/x"}, 0},
		"ReadWritePaths=-\"/var/100%% of \\\"it\\\"\"\n":                                                          {[]string{`/var/100% of "it"`}, 0},
		"ReadWritePaths=-/var/good\n":                                                                             {[]string{"/x\x00ExecStartPre=+/y", "/x\rExecStartPre=+/y", "/x\nExecStartPre=+/y", "/var/good"}, 0},
		"ReadWritePaths=-/mnt2\nReadWritePaths=-/var/lib/firefighters-old\n":                                      {[]string{"/mnt2", "/var/lib/firefighters-old"}, 0},
		"AmbientCapabilities=CAP_NET_BIND_SERVICE\nCapabilityBoundingSet=CAP_NET_BIND_SERVICE\nPrivateUsers=no\n": {nil, 443},
	} {
		got := dropIn(d.writes, d.port)
		if _, lines, _ := strings.Cut(got, "[Service]\n"); lines != want || want == "" && got != "" {
			t.Errorf("%+v: %q", d, got)
		}
	}
}

func TestHides(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"/home/ana/x": true, "/home": true, "/homes/x": false, "/tmp/../etc/x": false, "/mnt/home": false, "/root": true} {
		if (Host{}).Hides(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

func TestFirewall(t *testing.T) {
	h, _, _ := newHost(t)
	check := func(want string) {
		t.Helper()
		if name, command := h.Firewall(8443); name+": "+command != want {
			t.Errorf("%s: %s, want %s", name, command, want)
		}
	}
	check(": ")
	must(t, os.MkdirAll(h.path("/sys/fs/cgroup/system.slice/firewalld.service"), 0o755))
	must(t, os.MkdirAll(h.path("/etc/ufw"), 0o755))
	must(t, os.WriteFile(h.path("/etc/ufw/ufw.conf"), []byte("# ENABLED\nENABLED=no\n"), 0o644))
	check("firewalld: sudo firewall-cmd --permanent --add-port=8443/tcp && sudo firewall-cmd --reload")
	must(t, os.WriteFile(h.path("/etc/ufw/ufw.conf"), []byte("# ENABLED\nENABLED=yes\n"), 0o644))
	check("ufw: sudo ufw allow 8443/tcp")
}

func TestAdminCommand(t *testing.T) {
	t.Parallel()
	want := "sudo firefighters service install --backup-dir '/srv/my backups/firefighters'"
	if got := AdminCommand("service", "install", "--backup-dir", "/srv/my backups/firefighters"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
