package systemd

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestManager: what systemd is told arrives at its socket.
func TestManager(t *testing.T) {
	t.Parallel()
	folder, err := os.MkdirTemp("", "ffm") // a short path, as sockets need
	must(t, err)
	defer os.RemoveAll(folder)
	socket := filepath.Join(folder, "s")
	listener, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil && runtime.GOOS == "windows" { // which has no such sockets, and no systemd
		return
	}
	must(t, err)
	defer listener.Close()
	environment := map[string]string{"NOTIFY_SOCKET": socket, "WATCHDOG_USEC": "60000000", "WATCHDOG_PID": strconv.Itoa(os.Getpid())}
	m := NewManager(func(name string) string { return environment[name] })
	if m.Interval() != 20*time.Second {
		t.Errorf("an interval of %v", m.Interval())
	}
	for want, say := range map[string]func() error{
		"READY=1\nSTATUS=Listening on http://127.0.0.1:8080": func() error { return m.Ready("Listening on http://127.0.0.1:8080") },
		"STATUS=waiting 35s, because the last start failed":  func() error { return m.Waiting(35 * time.Second) },
		"WATCHDOG=1": m.Alive, "STOPPING=1\nSTATUS=Stopping": m.Stopping,
	} {
		must(t, say())
		heard := make([]byte, 1000)
		must(t, listener.SetReadDeadline(time.Now().Add(time.Minute)))
		n, err := listener.Read(heard)
		if err != nil || string(heard[:n]) != want {
			t.Errorf("heard %q, %v; not %q", heard[:n], err, want)
		}
	}
	listener.Close()
	if err := m.Alive(); err == nil {
		t.Error("nobody listens, and that is no error")
	}
}

// TestNoManager: without a manager nothing is said, and a watchdog that is meant for
// another process does not count.
func TestNoManager(t *testing.T) {
	t.Parallel()
	for _, environment := range []map[string]string{
		{}, {"WATCHDOG_USEC": "60000000"}, {"NOTIFY_SOCKET": "/x"}, {"NOTIFY_SOCKET": "/x", "WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "1"},
		{"NOTIFY_SOCKET": "/x", "WATCHDOG_USEC": "soon"}, {"NOTIFY_SOCKET": "/x", "WATCHDOG_USEC": "0"},
	} {
		m := NewManager(func(name string) string { return environment[name] })
		if m.Interval() != 0 {
			t.Errorf("%v: an interval of %v", environment, m.Interval())
		}
	}
	var m Manager
	if err := m.Ready(""); err != nil {
		t.Error(err)
	}
}

func TestUnit(t *testing.T) {
	t.Parallel()
	text := Unit("/usr/bin/firefighters")
	for _, want := range []string{"Type=notify\n", "ExecStart=/usr/bin/firefighters service run\n", "WatchdogSec=60\n", "User=firefighters\n", "Restart=on-failure\n",
		"UMask=0077\n", "StateDirectoryMode=0700\n", "LimitCORE=0\n", "RestartPreventExitStatus=2\n", "RuntimeDirectory=firefighters\n", "RuntimeDirectoryPreserve=restart\n",
		"Wants=network-online.target\n", "After=network-online.target ", "ReadWritePaths=-/mnt -/media -/run/media -/srv\n"} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%q is not there once", want)
		}
	}
	if !IsOurs(text) || FormerFlags(text) != nil {
		t.Error("the unit is not known to be ours")
	}
	byHand := "[Service]\nExecStart=/usr/local/bin/firefighters serve --db /srv/x.db \\\n  --no-office\n"
	if got := FormerFlags(byHand); IsOurs(byHand) || !slices.Equal(got, []string{"--db", "/srv/x.db", "--no-office"}) {
		t.Errorf("flags of a unit by hand: %q", got)
	}
	if got := FormerFlags("ExecStart=/bin/sh -c 'firefighters serve'\n"); got != nil {
		t.Errorf("flags that cannot be known: %q", got)
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
		got := DropIn(d.writes, d.port)
		if _, lines, _ := strings.Cut(got, "[Service]\n"); lines != want || want == "" && got != "" {
			t.Errorf("%+v: %q", d, got)
		}
	}
}

func TestParseState(t *testing.T) {
	t.Parallel()
	running := "LoadState=loaded\nActiveState=active\nSubState=running\nResult=success\nStatusText=Listening on http://127.0.0.1:8080\n" +
		"ActiveEnterTimestamp=Sun 2026-11-22 10:32:06 UTC\nExecStart={ path=/usr/bin/firefighters ; argv[]=/usr/bin/firefighters service run ; ignore_errors=no }\n"
	s := ParseState(running)
	if !s.Installed || !s.Running || s.Program != "/usr/bin/firefighters" || s.Since.Unix() != 1795343526 || s.Detail != "active (running)" ||
		s.Status != "Listening on http://127.0.0.1:8080" {
		t.Errorf("%+v", s)
	}
	if s.Manual || !ParseState("LoadState=loaded\nUnitFileState=disabled\n").Manual {
		t.Error("whether it starts with the system is not known")
	}
	s = ParseState("LoadState=loaded\nActiveState=activating\nSubState=auto-restart\nResult=exit-code\nActiveEnterTimestamp=\n")
	if !s.Installed || s.Running || !s.Failed || !s.Since.IsZero() || s.Detail != "activating (auto-restart), the last run ended with: exit-code" {
		t.Errorf("%+v", s)
	}
	s = ParseState("LoadState=loaded\nActiveState=activating\nSubState=start\nResult=success\nStatusText=waiting 35s, because the last start failed\n")
	if s.Running || !s.Failed || s.Detail != "waiting 35s, because the last start failed" {
		t.Errorf("it waits: %+v", s)
	}
	s = ParseState("LoadState=loaded\nActiveState=inactive\nSubState=dead\nResult=success\nStatusText=waiting 35s, because the last start failed\n")
	if s.Running || s.Failed || s.Detail != "inactive (dead)" {
		t.Errorf("it was stopped while it waited: %+v", s)
	}
	if s = ParseState("LoadState=not-found\nActiveState=inactive\nSubState=dead\n"); s.Installed || s.Running {
		t.Errorf("%+v", s)
	}
	for log, want := range map[string][2]string{
		"Try: w\nError: one\nTry: x\nError: two\nTry: y\nTry: z\n": {"two", "y"}, "Error: one\nTry: x\nError: two": {"two", ""}, "nothing": {},
	} {
		if got, hint := ErrorIn(log); got != want[0] || hint != want[1] {
			t.Errorf("in %q the last error is %q, with the hint %q", log, got, hint)
		}
	}
}

func TestHides(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"/home/ana/x": true, "/home": true, "/homes/x": false, "/tmp/../etc/x": false, "/mnt/home": false, "/root": true} {
		if Hides(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
