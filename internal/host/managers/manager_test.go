package managers

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"
)

func managerIn(environment map[string]string) Manager {
	return NewManager(func(name string) string { return environment[name] })
}

// TestNotify checks the messages to the socket of systemd.
func TestNotify(t *testing.T) {
	t.Parallel()
	folder, err := os.MkdirTemp("", "ffm") // sockets need a short path
	must(t, err)
	defer os.RemoveAll(folder)
	socket := filepath.Join(folder, "s")
	listener, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil && runtime.GOOS == "windows" { // no such sockets
		return
	}
	must(t, err)
	defer listener.Close()
	environment := map[string]string{"NOTIFY_SOCKET": socket, "WATCHDOG_USEC": "60000000", "WATCHDOG_PID": strconv.Itoa(os.Getpid())}
	m := managerIn(environment)
	if m.Interval() != 20*time.Second {
		t.Errorf("an interval of %v", m.Interval())
	}
	for want, send := range map[string]func() error{
		"READY=1\nSTATUS=Listening on http://127.0.0.1:8080": func() error { return m.Ready("Listening on http://127.0.0.1:8080") },
		"WATCHDOG=1": m.Alive, "STOPPING=1\nSTATUS=Stopping": m.Stopping,
	} {
		must(t, send())
		message := make([]byte, 1000)
		must(t, listener.SetReadDeadline(time.Now().Add(time.Minute)))
		n, err := listener.Read(message)
		if err != nil || string(message[:n]) != want {
			t.Errorf("got %q, %v; want %q", message[:n], err, want)
		}
	}
	listener.Close()
	// A process that another test forks keeps the socket open until it execs.
	for deadline := time.Now().Add(time.Minute); m.Alive() == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no error without a listener")
		}
	}
}

// TestNoManager checks a Manager without a socket, and that it ignores another process's watchdog.
func TestNoManager(t *testing.T) {
	t.Parallel()
	for _, environment := range []map[string]string{
		{"WATCHDOG_USEC": "60000000"}, {"NOTIFY_SOCKET": "/x", "WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "1"},
	} {
		if m := managerIn(environment); m.Interval() != 0 {
			t.Errorf("%v: an interval of %v", environment, m.Interval())
		}
	}
	must(t, Manager{}.Ready(""))
}
