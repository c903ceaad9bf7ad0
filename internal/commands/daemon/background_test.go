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

// TestPanicBesideRequests: a panic of background work is logged once, and the
// work goes on.
func TestPanicBesideRequests(t *testing.T) {
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

// TestShowLife: what a restart does not heal shows life; what it may heal does not.
func TestShowLife(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" { // whose manager has no such socket
		return
	}
	folder, err := os.MkdirTemp("", "ffw") // a short path, as sockets need
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
		t.Errorf("a database that fails: %v", err)
	}
	for _, ping := range []error{nil, sqlite.ErrLost, sqlite.ErrFull} {
		if err := errors.Join(d.showLife(ping), listener.SetReadDeadline(time.Now().Add(time.Minute))); err != nil {
			t.Fatal(err)
		}
		heard := make([]byte, 100)
		if n, err := listener.Read(heard); err != nil || string(heard[:n]) != "WATCHDOG=1" {
			t.Errorf("%v: heard %q, %v", ping, heard[:n], err)
		}
	}
}
