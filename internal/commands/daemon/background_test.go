package daemon

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/web/callers"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// TestRepeat checks that a job that panics is logged once and repeated each second, together with the
// others.
func TestRepeat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		ctx, stop := context.WithCancel(t.Context())
		began, calls, others := time.Now(), 0, 0
		each := func() time.Duration { return time.Minute }
		repeat(ctx, slog.New(slog.NewTextHandler(&log, nil)), each, &job{failure: "it failed", do: func() error {
			switch calls++; calls {
			case 3:
				return nil
			case 4:
				stop()
				return nil
			}
			panic("broken")
		}}, &job{failure: "the other failed", do: func() error { others++; return nil }})
		if took := time.Since(began); calls != 4 || others != 4 || took != 2*time.Second+time.Minute {
			t.Errorf("%d and %d calls in %v", calls, others, took)
		}
		if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, `level=WARN msg="it failed" cause="panic: broken"`) {
			t.Errorf("the log:\n%s", text)
		}
	})
}

// TestPause checks how long the guard waits between two checks of the files.
func TestPause(t *testing.T) {
	t.Parallel()
	schema, err := os.ReadFile("../../../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.db")
	create := func(c *sqlite.Conn) error { return store.Create(c, string(schema)) }
	if err := errors.Join(os.WriteFile(path, nil, 0o600), store.Format(string(schema), 1).Migrate(path, 0, 1, create)); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		s, err := store.Open(path, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		log := slog.New(slog.DiscardHandler)
		d := &daemon{service: site.Service{Store: s, Log: log, Callers: callers.New(s, log, nil)}}
		pause := d.pause(t.Context())
		request := func() { d.service.Callers.Find(httptest.NewRequest("GET", "/", nil), "key", http.Header{}) }
		takes := func(when string, inDoubt bool, want time.Duration) {
			t.Helper()
			began := time.Now()
			if pause(inDoubt); time.Since(began) != want {
				t.Errorf("%s: %v, want %v", when, time.Since(began), want)
			}
		}
		request()
		takes("after a request", false, busyCheck)
		time.Sleep(busyFor)
		takes("without requests", false, idleCheck)
		takes("in doubt", true, busyCheck)
		go func() { time.Sleep(time.Second); request() }()
		takes("until a request", false, time.Second)
		takes("after this request", false, busyCheck)
	})
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
