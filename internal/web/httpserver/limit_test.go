package httpserver

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// dialOr connects with TLS if the server has a certificate.
func (r *running) dialOr(t *testing.T, secure bool) net.Conn {
	t.Helper()
	c := r.dial(t)
	if secure {
		return tls.Client(c, &tls.Config{InsecureSkipVerify: true})
	}
	return c
}

// startLimited starts a server that allows this many connections.
func startLimited(t *testing.T, secure bool, slots int, handler http.HandlerFunc) *running {
	t.Helper()
	var config Config
	if secure {
		files := newPair(t).issueNow(t, "first")
		config.CertFile, config.KeyFile = files.certFile, files.keyFile
	}
	return start(t, config, handler, func(s *Server) { s.limit = newLimit(slots, s.http.ReadTimeout) })
}

// ask sends a request on a connection and keeps the connection open.
func ask(c net.Conn, reader *bufio.Reader) error {
	if _, err := io.WriteString(c, get); err != nil {
		return err
	}
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); err != nil || string(body) != "ok" {
		return fmt.Errorf("%d %s, %w", response.StatusCode, body, err)
	}
	return nil
}

func withAndWithoutTLS(t *testing.T, test func(t *testing.T, secure bool)) {
	t.Parallel()
	for name, secure := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, secure)
		})
	}
}

// TestIdleMakeRoom checks that connections without a request do not lock out other clients, whether
// they are new or have had a request.
func TestIdleMakeRoom(t *testing.T) {
	withAndWithoutTLS(t, func(t *testing.T, secure bool) {
		const slots = 4
		r := startLimited(t, secure, slots, ok)
		var idle []net.Conn
		for range 5 * slots {
			idle = append(idle, r.dial(t))
		}
		for range 2 * slots {
			c := r.dialOr(t, secure)
			must(t, ask(c, bufio.NewReader(c)))
		}
		for _, c := range idle {
			if rest, err := io.ReadAll(c); len(rest) > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatalf("got %q, %v", rest, err)
			}
		}
	})
}

// TestKnownStay checks that new connections are closed before connections that have had a request.
func TestKnownStay(t *testing.T) {
	t.Parallel()
	r := startLimited(t, false, 2, ok)
	known, idle, third := r.dial(t), r.dial(t), r.dial(t)
	reader := bufio.NewReader(known)
	must(t, ask(known, reader))
	must(t, ask(third, bufio.NewReader(third)))
	must(t, ask(known, reader))
	if rest, err := io.ReadAll(idle); len(rest) > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("idle connection: %q, %v", rest, err)
	}
}

// TestActiveStay checks that a new client waits while all connections have a request.
func TestActiveStay(t *testing.T) {
	withAndWithoutTLS(t, func(t *testing.T, secure bool) {
		begun, finish := make(chan bool, 3), make(chan bool)
		r := startLimited(t, secure, 2, func(w http.ResponseWriter, r *http.Request) {
			begun <- true
			<-finish
			ok(w, r)
		})
		var clients sync.WaitGroup
		defer clients.Wait()
		client := func() {
			c := r.dialOr(t, secure)
			clients.Go(func() {
				if err := ask(c, bufio.NewReader(c)); err != nil {
					t.Error(err)
				}
			})
		}
		client()
		client()
		<-begun
		<-begun
		client()
		select {
		case <-begun:
			t.Error("the third client was served although the limit is two")
		case <-time.After(2 * furtherWait):
		}
		close(finish)
	})
}

// TestStopWhileFull checks that a waiting client does not delay the shutdown.
func TestStopWhileFull(t *testing.T) {
	t.Parallel()
	begun, finish := make(chan bool), make(chan bool)
	r := startLimited(t, false, 1, func(w http.ResponseWriter, r *http.Request) {
		begun <- true
		<-finish
		ok(w, r)
	})
	one, waiting := r.dial(t), r.dial(t)
	io.WriteString(one, get)
	<-begun
	io.WriteString(waiting, get)
	r.stop()
	if answer, err := io.ReadAll(waiting); len(answer) > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%q, %v", answer, err)
	}
	close(finish)
	must(t, r.ends(t))
}

// TestDismissed checks that a request is answered if it arrives while its connection is being
// dismissed, even if its body takes a while.
func TestDismissed(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	limit := newLimit(1, patience)
	server := &http.Server{Handler: http.HandlerFunc(ok), ReadTimeout: patience, ConnState: func(c net.Conn, state http.ConnState) {
		if state == http.StateActive { // at the last moment
			time.Sleep(firstWait)
			limit.dismiss()
		}
		limit.setState(c, state)
	}}
	go server.Serve(limited(listener, limit))
	defer server.Close()
	c, err := net.Dial("tcp", listener.Addr().String())
	must(t, err)
	defer c.Close()
	io.WriteString(c, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n")
	time.Sleep(3 * firstWait)
	if status, _ := send(t, c, "body"); status != 200 {
		t.Errorf("%d", status)
	}
}

// TestPlain checks that the HTTP listener shares the limit on connections and ends with the server.
func TestPlain(t *testing.T) {
	t.Parallel()
	var server *Server
	r := start(t, Config{}, ok, func(s *Server) { s.limit, server = newLimit(1, patience), s })
	idle := r.dial(t)
	send(t, idle, get)
	address := r.address
	r.address = r.plain
	r.isServed(t) // replaces the other connection
	if answer, err := io.ReadAll(idle); len(answer) > 0 || errors.Is(err, os.ErrDeadlineExceeded) || server.Open() > 1 {
		t.Errorf("%q, %v, %d open connections", answer, err, server.Open())
	}
	r.stop()
	must(t, r.ends(t))
	for _, at := range []string{address, r.plain} {
		if c, err := net.Dial("tcp", at); err == nil {
			c.Close()
			t.Errorf("the listener %s is still open", at)
		}
	}
}

// TestBeside checks that two servers share the limit of connections, and that one serves after the
// other has stopped.
func TestBeside(t *testing.T) {
	t.Parallel()
	var server *Server
	first := start(t, Config{}, ok, func(s *Server) { s.limit, server = newLimit(1, patience), s })
	idle := first.dial(t)
	send(t, idle, get)
	second := start(t, Config{Beside: server}, ok)
	second.isServed(t) // replaces the connection of the first server
	if answer, err := io.ReadAll(idle); len(answer) > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%q, %v", answer, err)
	}
	second.stop()
	must(t, second.ends(t))
	first.isServed(t)
}

// TestMaxConnections checks that the limit of open files applies, and that New fails without enough
// connections.
func TestMaxConnections(t *testing.T) {
	t.Parallel()
	limit := osutil.MaxOpenFiles()
	for files, want := range map[int]int{limit - 5000: connectionLimit, limit - 10: 10, limit - minConnections: minConnections} {
		if got, err := maxConnections(files); got != want || err != nil {
			t.Errorf("%d other files: %d, %v", files, got, err)
		}
	}
	for _, files := range []int{limit - minConnections + 1, limit, limit + 10} {
		if _, err := New(Config{OtherFiles: files}); !errors.Is(err, ErrFewFiles) {
			t.Errorf("%d other files: %v", files, err)
		}
	}
}
