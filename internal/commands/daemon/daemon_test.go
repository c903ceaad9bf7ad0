package daemon

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// TestIsLoopback: the API answers to every name where others reach it.
func TestIsLoopback(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{"127.0.0.1:8080": true, "[::1]:8080": true, "0.0.0.0:8080": false, "[::]:8080": false, "192.0.2.1:8080": false} {
		addr, err := net.ResolveTCPAddr("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if got := isLoopback(addr); got != want {
			t.Errorf("%s: %t", address, got)
		}
	}
}

// answering is the least that a daemon can serve.
type answering struct {
	http.HandlerFunc
	finished *atomic.Bool
}

func (answering) ReloadKeys() error { return nil }
func (answering) WriteLate() error  { return nil }
func (answering) LogRefusals()      {}
func (a answering) Finish() error   { a.finished.Store(true); return nil }

// heard is what a daemon prints.
type heard struct {
	mu   sync.Mutex
	text strings.Builder
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(p)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// TestRun: a daemon makes a database with its first department, serves the API over it
// with its address in it, and leaves neither an address nor a -wal. That of the PC prints
// no key.
func TestRun(t *testing.T) {
	t.Parallel()
	for _, installed := range []bool{false, true} {
		o := Options{DB: filepath.Join(t.TempDir(), "x.db"), Listen: "127.0.0.1:0", Installed: installed}
		var finished atomic.Bool
		c := Commands{Database: testSchema(t), NewAPI: func(c Config) API {
			return answering{func(w http.ResponseWriter, _ *http.Request) {
				at, err := c.Store.Address()
				fmt.Fprintf(w, "local %t, office %t, at %s, %v", c.Local, c.Office, at, err)
			}, &finished}
		}}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		said, done := &heard{}, make(chan error, 1)
		go func() { done <- c.Run(cli.Env{Context: ctx, Stdout: said, Stderr: io.Discard}, o) }()
		listening := regexp.MustCompile(`(?m)^Listening on (http://\S+)\n`)
		for deadline := time.Now().Add(time.Minute); !listening.MatchString(said.String()); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("it says %q", said)
			}
		}
		url := listening.FindStringSubmatch(said.String())[1]
		response, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if want := "local true, office true, at " + url + ", <nil>"; err != nil || string(body) != want {
			t.Errorf("%q, %v, not %q", body, err, want)
		}
		if strings.Contains(said.String(), "ff_") == installed {
			t.Errorf("the service of the PC %t: it says %q", installed, said)
		}
		stop()
		if err := <-done; err != nil || !finished.Load() || osutil.Exists(o.DB+"-wal") {
			t.Errorf("it ended with %v; the API has finished: %t", err, finished.Load())
		}
		err = c.Database.With(cli.Env{Context: t.Context(), Stderr: io.Discard}, o.DB, false, func(s *store.Store) error {
			if _, err := s.Tenant(store.FirstDepartment); err != nil {
				return err
			}
			at, err := s.Address()
			if at != "" {
				t.Errorf("the address is still %q", at)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// testSchema returns the schema of the program, without upgrades.
func testSchema(t *testing.T) database.Schema {
	t.Helper()
	text, err := os.ReadFile("../../../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	return database.Schema{Files: store.Format(string(text), 1)}
}

// TestCurl: in PowerShell curl is another program.
func TestCurl(t *testing.T) {
	t.Parallel()
	for system, want := range map[string]string{
		"linux":   "  curl -H \"Authorization: Bearer ff_1\" http://x\n",
		"windows": "  curl.exe -H \"Authorization: Bearer ff_1\" http://x\n",
	} {
		if got := curl(system, "ff_1", "http://x"); got != want {
			t.Errorf("%s: %q", system, got)
		}
	}
}
