package daemon

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/managers"
)

// TestPanicInBackground checks that a panic of background work is logged once and the work continues.
func TestPanicInBackground(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	ctx, stop := context.WithCancel(t.Context())
	calls := 0
	repeat(ctx, slog.New(slog.NewTextHandler(&log, nil)), time.Millisecond, "it failed", func() error {
		if calls++; calls == 3 {
			stop()
			return nil
		}
		panic("broken")
	})
	if text := log.String(); calls != 3 || strings.Count(text, "\n") != 1 || !strings.Contains(text, `level=WARN msg="it failed" cause="panic: broken"`) {
		t.Errorf("%d calls, the log:\n%s", calls, text)
	}
}

// TestShowLife checks that the watchdog is reset unless a restart could help.
func TestShowLife(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" { // no such sockets
		return
	}
	folder, err := os.MkdirTemp("", "ffw") // sockets need a short path
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	socket := filepath.Join(folder, "s")
	listener, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	d := daemon{manager: managers.NewManager(func(name string) string { return map[string]string{"NOTIFY_SOCKET": socket}[name] })}
	broken := errors.New("it broke")
	if err := d.showLife(broken); err != broken {
		t.Errorf("a failing database: %v", err)
	}
	for _, ping := range []error{nil, sqlite.ErrLost, sqlite.ErrFull} {
		if err := errors.Join(d.showLife(ping), listener.SetReadDeadline(time.Now().Add(time.Minute))); err != nil {
			t.Fatal(err)
		}
		message := make([]byte, 100)
		if n, err := listener.Read(message); err != nil || string(message[:n]) != "WATCHDOG=1" {
			t.Errorf("%v: got %q, %v", ping, message[:n], err)
		}
	}
}
