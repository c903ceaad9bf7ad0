package managers

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// managerIn returns the manager of an environment.
func managerIn(environment map[string]string) Manager {
	return NewManager(func(name string) string { return environment[name] })
}

// TestDelay: with the five seconds of the manager the tries are 5, 10, 20, 40, … and at
// most 300 seconds apart.
func TestDelay(t *testing.T) {
	t.Parallel()
	for failed, want := range map[int]time.Duration{0: 0, 1: 0, 2: 5, 3: 15, 4: 35, 6: 155, 7: 295, 8: 295, 1 << 40: 295} {
		if got := delay(failed); got != want*time.Second {
			t.Errorf("after %d failures: %v", failed, got)
		}
	}
}

// TestAwaitTurn: starts count until one is ready, and only what failed before makes one
// wait.
func TestAwaitTurn(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" { // whose manager counts by itself
		return
	}
	folder := t.TempDir()
	count := filepath.Join(folder, "failed-starts")
	m := managerIn(map[string]string{"RUNTIME_DIRECTORY": folder + ":/nowhere"})
	counted := func(want string) {
		t.Helper()
		if text, _ := os.ReadFile(count); string(text) != want {
			t.Errorf("it has counted %q, not %q", text, want)
		}
	}
	for _, want := range []string{"1", "2"} {
		if !m.AwaitTurn(t.Context()) {
			t.Error("it may not start")
		}
		counted(want)
	}
	must(t, m.Ready("Listening"))
	counted("")
	must(t, os.WriteFile(count, []byte("5"), 0o600))
	stopped, stop := context.WithCancel(t.Context())
	waited := make(chan bool)
	go func() { waited <- m.AwaitTurn(stopped) }()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if text, _ := os.ReadFile(count); string(text) == "6" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("a start that waits is not counted")
		}
	}
	stop()
	if <-waited {
		t.Error("it starts, and it was told to stop")
	}
	counted("")
	if m := managerIn(nil); !m.AwaitTurn(stopped) || m.Ready("") != nil || m.RestartsAll() {
		t.Error("without a manager it does not start")
	}
	if !managerIn(map[string]string{"XPC_SERVICE_NAME": "org.firefighter-records.firefighters"}).RestartsAll() {
		t.Error("launchd is not known")
	}
}

// TestNotify: what systemd is told arrives at its socket.
func TestNotify(t *testing.T) {
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
	m := managerIn(environment)
	if m.Interval() != 20*time.Second {
		t.Errorf("an interval of %v", m.Interval())
	}
	for want, say := range map[string]func() error{
		"READY=1\nSTATUS=Listening on http://127.0.0.1:8080": func() error { return m.Ready("Listening on http://127.0.0.1:8080") },
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
	// A command that another test starts has the socket until it begins.
	for deadline := time.Now().Add(time.Minute); m.Alive() == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nobody listens, and that is no error")
		}
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
		m := managerIn(environment)
		if m.Interval() != 0 {
			t.Errorf("%v: an interval of %v", environment, m.Interval())
		}
	}
	var m Manager
	if err := m.Ready(""); err != nil {
		t.Error(err)
	}
}
