package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestHost: a service on loopback answers to loopback's names alone, on every
// route and before it looks at a key.
func TestHost(t *testing.T) {
	t.Parallel()
	s := start(t)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(s.url, "http://"))
	must(t, err)
	good := []string{"localhost", "LocalHost", "localhost.", "app.localhost", "127.0.0.1", "127.1.2.3", "[::1]", "[::ffff:127.0.0.1]"}
	bad := []string{"x", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "notlocalhost", "192.0.2.1", "0.0.0.0",
		"127.1", "2130706433", "[2001:db8::1]", "[::]", "[127.0.0.1]", "::1", "[::1", "localhost:x", "localhost:80:80"}
	routes := []string{"GET /healthz", "GET /readyz", "GET " + collection, "POST " + collection, "OPTIONS " + collection,
		"PATCH " + collection, "GET /nowhere", "OPTIONS *", "GET http://localhost" + collection}
	get := func(line, host string) answer {
		return rawRequest(t, s.dial(t), line+" HTTP/1.1\r\nHost: "+host+"\r\nAuthorization: Bearer "+s.key+"\r\nConnection: close\r\n\r\n")
	}
	for _, host := range good {
		get("GET "+collection, host).wants(t, 200)
		get("GET "+collection, host+":"+port).wants(t, 200)
		get("GET http://"+host+collection, "evil.example").wants(t, 200) // as RFC 9112 has it
	}
	for _, host := range bad {
		get("GET "+collection, host).wants(t, 421)
	}
	get("GET http://evil.example"+collection, "localhost").wants(t, 421)
	for _, route := range routes[:len(routes)-1] {
		get(route, "evil.example:"+port).wants(t, 421)
	}
	rawRequest(t, s.dial(t), "GET /healthz HTTP/1.0\r\n\r\n").wants(t, 200)
	rawRequest(t, s.dial(t), "GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n").wants(t, 200)
}

// TestHostBeyondLoopback: there a service has names that it does not know.
func TestHostBeyondLoopback(t *testing.T) {
	t.Parallel()
	s := openServer(t, filepath.Join(t.TempDir(), "x.db"), time.Now)
	elsewhere := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 8080}
	s.server.guardBy(newGuard(), elsewhere)
	r, err := http.NewRequest("GET", s.url+"/healthz", nil)
	must(t, err)
	r.Host = "records.example"
	response, err := s.Do(r)
	must(t, err)
	if response.Body.Close(); response.StatusCode != 200 {
		t.Errorf("%d", response.StatusCode)
	}
}

// TestExposed: who listens beyond loopback without TLS is warned, loudly.
func TestExposed(t *testing.T) {
	t.Parallel()
	files := newPair(t).issueNow(t, "name")
	secure := newGuard()
	secure.certFile, secure.keyFile = files.certFile, files.keyFile
	must(t, secure.prepare())
	for _, tt := range []struct {
		address string
		g       *guard
		warned  bool
	}{
		{"127.0.0.1:8080", newGuard(), false},
		{"[::1]:8080", newGuard(), false},
		{"0.0.0.0:8080", newGuard(), true},
		{"[::]:8080", newGuard(), true},
		{"192.0.2.1:8080", newGuard(), true},
		{"0.0.0.0:8080", secure, false},
	} {
		addr, err := net.ResolveTCPAddr("tcp", tt.address)
		must(t, err)
		var stderr strings.Builder
		tt.g.warn(&program{t.Context(), nil, io.Discard, &stderr}, addr, filepath.Join(t.TempDir(), "x.db"))
		if got := stderr.String(); tt.warned != strings.Contains(got, "WARNING: listening on "+tt.address+" without TLS") || !tt.warned && got != "" {
			t.Errorf("%s: %q", tt.address, got)
		}
	}
}

// startGuarded serves a new database behind g.
func startGuarded(t *testing.T, g *guard) *service {
	t.Helper()
	db := filepath.Join(t.TempDir(), "x.db")
	return serving(t, db, func(ctx context.Context, s *service) error {
		p := &program{ctx, nil, s.stdout, s.stderr}
		return p.serveDatabase(serveOptions{db: db, listen: "127.0.0.1:0", guard: g}, p.announceFirst)
	})
}

// TestSlowClients: five hundred that send a byte now and then are all cut off,
// and others are served all the while.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	g := newGuard()
	g.timeouts.headers, g.timeouts.request = 4*time.Second, 6*time.Second
	s := startGuarded(t, g)
	body := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: 60000\r\n\r\n", collection, s.key)
	var slow atomic.Int64
	var running sync.WaitGroup
	for i := range 500 {
		c, begin := s.dial(t), "GET /healthz HTTP/1.1\r\nX: "
		if i%2 == 0 {
			begin = body
		}
		slow.Add(1)
		running.Go(func() {
			defer slow.Add(-1)
			dribble(t, c, begin)
		})
	}
	served := 0
	for ; slow.Load() > 0; served++ {
		s.create(t, ana)
		s.do(t, "GET", collection, "").wants(t, 200)
		time.Sleep(20 * time.Millisecond) // other tests want to run too
	}
	running.Wait()
	if served == 0 || s.list(t, "").TotalCount != int64(served) {
		t.Errorf("%d records, %d times", s.list(t, "").TotalCount, served)
	}
}

// dribble sends a byte now and then until it is cut off, which must be before
// the test loses its patience.
func dribble(t *testing.T, c net.Conn, begin string) {
	_, err := io.WriteString(c, begin)
	for ; err == nil; time.Sleep(100 * time.Millisecond) {
		_, err = c.Write([]byte("x"))
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("a slow client was not cut off")
	}
}

// TestClientsThatDoNotRead: more of them than the database has connections pin
// nothing, and are cut off.
func TestClientsThatDoNotRead(t *testing.T) {
	t.Parallel()
	g := newGuard()
	g.timeouts.answer = 6 * time.Second
	s := startGuarded(t, g)
	for range 100 {
		s.create(t, ana)
	}
	request := fmt.Sprintf("GET %s?pageSize=100 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", collection, s.key)
	var stuck atomic.Int64
	var running sync.WaitGroup
	for range 4 * readerCount {
		c := s.dial(t)
		stuck.Add(1)
		running.Go(func() {
			defer stuck.Add(-1)
			var err error
			for err == nil { // until the service reads no more, for it cannot write, and ends it
				_, err = io.WriteString(c, request)
			}
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("a client that does not read was not cut off")
			}
		})
	}
	for stuck.Load() > 0 {
		s.do(t, "GET", collection, "").wants(t, 200)
		s.do(t, "PUT", collection+"/"+nobody, ana).wants(t, 404)
		time.Sleep(20 * time.Millisecond)
	}
	running.Wait()
}

// TestConnections: when there are as many as may be, idle ones make room, and
// whoever comes waits for the busy ones.
func TestConnections(t *testing.T) {
	t.Parallel()
	g := newGuard()
	g.connections = 5
	g.timeouts.request = 4 * time.Second
	s := startGuarded(t, g)
	healthz := func(c net.Conn) {
		t.Helper()
		io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
		response, err := http.ReadResponse(bufio.NewReader(c), nil)
		must(t, err)
		if response.StatusCode != 200 {
			t.Errorf("%d", response.StatusCode)
		}
	}
	for range 4 * g.connections { // which are idle then
		healthz(s.dial(t))
	}
	if log := s.stderr.String(); !strings.Contains(log, "more of them wait") {
		t.Errorf("the log:\n%s", log)
	}
	for range g.connections { // which are busy then
		c := s.dial(t)
		fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n", collection, s.key)
		_, err := bufio.NewReader(c).ReadString('\n')
		must(t, err)
	}
	healthz(s.dial(t))
}

// TestSlowHandshakes: the timeouts hold before TLS has begun, too.
func TestSlowHandshakes(t *testing.T) {
	t.Parallel()
	files := newPair(t).issueNow(t, "name")
	g := newGuard()
	g.certFile, g.keyFile, g.timeouts.headers = files.certFile, files.keyFile, 4*time.Second
	s := startGuarded(t, g)
	var running sync.WaitGroup
	for _, begin := range []string{"", "\x16\x03\x01\x10\x00", "GET / HTTP/1.1\r\n"} {
		for range 20 {
			c := s.dial(t)
			running.Go(func() { dribble(t, c, begin) })
		}
	}
	running.Wait()
	if name := s.shown(t); name != "name" {
		t.Errorf("it shows the certificate %q", name)
	}
}

func TestConnectionLimit(t *testing.T) {
	t.Parallel()
	if n := connectionLimit(); n < minConnections || n > maxConnections || uint64(n) > fileLimit() {
		t.Errorf("%d connections, %d files", n, fileLimit())
	}
}

// TestModes: the files are for their owner alone even if the user's umask
// would let everybody in.
func TestModes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no umask")
	}
	db := filepath.Join(t.TempDir(), "x.db")
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command("sh", "-c", `umask 0; exec "$0" --db "$1" --listen 127.0.0.1:0`, self, db)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	c := startCommand(t, cmd)
	c.create(t, ana)
	for _, suffix := range []string{"", "-wal", "-shm", "-lock"} {
		if !exists(db + suffix) {
			t.Errorf("there is no %s file", suffix)
		}
	}
	checkModes(t, filepath.Dir(db))
}

// TestLooseModes: a file that others may read is warned of and left alone.
func TestLooseModes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	db := invented(t, 1, 1)
	must(t, os.Chmod(db, 0o640))
	s := startOn(t, db)
	if !strings.Contains(s.stderr.String(), "Warning: other users of this machine may read or write "+db) ||
		!strings.Contains(s.stderr.String(), "Try: chmod 600 "+db) {
		t.Errorf("stderr:\n%s", s.stderr)
	}
	info, err := os.Stat(db)
	if must(t, err); info.Mode().Perm() != 0o640 {
		t.Errorf("its mode is %v", info.Mode())
	}
}
