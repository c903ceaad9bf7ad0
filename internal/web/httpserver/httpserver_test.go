package httpserver

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// patience is long enough for busy machines.
const patience = time.Minute

const (
	short = 300 * time.Millisecond // a timeout that a test waits for
	never = 2 * patience           // a timeout that no test reaches
)

// syncBuffer is a log that can be read while a server writes to it.
type syncBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// running is a server that runs until the end of the test.
type running struct {
	address string
	plain   string // the address of the second listener
	log     *syncBuffer
	stop    context.CancelFunc
	done    chan error // what Serve returns
}

func start(t *testing.T, config Config, handler http.HandlerFunc, limits ...func(*Server)) *running {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	r := &running{listener.Addr().String(), plain.Addr().String(), &syncBuffer{}, stop, make(chan error, 1)}
	config.Log = slog.New(slog.NewTextHandler(r.log, nil))
	server, err := New(config)
	must(t, err)
	for _, limit := range limits {
		limit(server)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.done <- server.Serve(ctx, listener, plain, handler)
	}()
	t.Cleanup(func() { stop(); <-ended })
	return r
}

// dial connects to the server with a deadline, so that no test hangs.
func (r *running) dial(t *testing.T) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", r.address)
	must(t, err)
	t.Cleanup(func() { c.Close() })
	must(t, c.SetDeadline(time.Now().Add(patience)))
	return c
}

// send sends the exact bytes of a request and returns the response.
func send(t *testing.T, c net.Conn, request string) (status int, body string) {
	t.Helper()
	go io.WriteString(c, request)
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	must(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(t, err)
	return response.StatusCode, string(text)
}

const get = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

// ok is a handler that reads the body and answers "ok".
func ok(w http.ResponseWriter, r *http.Request) {
	if _, err := io.ReadAll(r.Body); err != nil {
		w.WriteHeader(http.StatusBadRequest)
	}
	io.WriteString(w, "ok")
}

// isServed checks that another client gets a response.
func (r *running) isServed(t *testing.T) {
	t.Helper()
	if status, body := send(t, r.dial(t), get); status != 200 || body != "ok" {
		t.Errorf("%d %s", status, body)
	}
}

// ends returns the result of Serve.
func (r *running) ends(t *testing.T) error {
	t.Helper()
	select {
	case err := <-r.done:
		return err
	case <-time.After(patience):
		t.Fatal("Serve did not return")
		return nil
	}
}

func TestServe(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, ok)
	r.isServed(t)
	r.stop()
	must(t, r.ends(t))
	if _, err := net.Dial("tcp", r.address); err == nil {
		t.Error("the listener is still open")
	}
	if log := r.log.String(); log != "" {
		t.Errorf("unexpected log:\n%s", log)
	}
}

func TestServeFails(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	must(t, listener.Close())
	server, err := New(Config{Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	err = server.Serve(t.Context(), listener, nil, http.NotFoundHandler())
	if !errors.Is(err, net.ErrClosed) || !strings.HasPrefix(err.Error(), "serving: ") {
		t.Errorf("got %v", err)
	}
}

// TestShutdown checks that a request in flight is answered and that no new one is accepted.
func TestShutdown(t *testing.T) {
	t.Parallel()
	begun, finish := make(chan bool), make(chan bool)
	r := start(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		begun <- true
		<-finish
		ok(w, r)
	})
	c := r.dial(t)
	io.WriteString(c, get)
	<-begun
	r.stop()
	for stopping := false; !stopping; {
		other, err := net.Dial("tcp", r.address)
		if stopping = err != nil; !stopping {
			other.Close()
		}
	}
	close(finish)
	if status, body := send(t, c, ""); status != 200 || body != "ok" {
		t.Errorf("%d %s", status, body)
	}
	must(t, r.ends(t))
	if log := r.log.String(); log != "" {
		t.Errorf("unexpected log:\n%s", log)
	}
}

// TestShutdownLimit checks that requests are cut off at the shutdown timeout.
func TestShutdownLimit(t *testing.T) {
	t.Parallel()
	begun, finish := make(chan bool), make(chan bool)
	r := start(t, Config{}, func(http.ResponseWriter, *http.Request) {
		begun <- true
		<-finish
	}, func(s *Server) { s.shutdown = time.Millisecond })
	defer close(finish)
	c := r.dial(t)
	io.WriteString(c, get)
	<-begun
	r.stop()
	must(t, r.ends(t))
	if answer, err := io.ReadAll(c); len(answer) > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%q, %v", answer, err)
	}
	if log := r.log.String(); !strings.Contains(log, "cut off requests") {
		t.Errorf("unexpected log:\n%s", log)
	}
}

// TestSlowClients checks that clients that send one byte at a time are cut off, and that other clients
// are served in the meantime.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		begin string
		limit func(*Server)
	}{
		{"GET / HTTP/1.1\r\nX: ", func(s *Server) { s.http.ReadHeaderTimeout, s.http.ReadTimeout = short, never }},
		{"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n", func(s *Server) { s.http.ReadTimeout = short }},
	} {
		r := start(t, Config{}, ok, tt.limit)
		var slow atomic.Int64
		var dribbling sync.WaitGroup
		for range 50 {
			c := r.dial(t)
			slow.Add(1)
			dribbling.Go(func() {
				defer slow.Add(-1)
				dribble(t, c, tt.begin)
			})
		}
		for slow.Load() > 0 {
			r.isServed(t)
			time.Sleep(short / 10) // leaves time for other tests
		}
		dribbling.Wait()
	}
}

// dribble sends one byte at a time until it is cut off.
func dribble(t *testing.T, c net.Conn, begin string) {
	_, err := io.WriteString(c, begin)
	for ; err == nil; time.Sleep(short / 10) {
		_, err = c.Write([]byte("x"))
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a client that sent %q was not cut off", begin)
	}
}

// TestClientsThatDoNotRead checks that clients that do not read the response are cut off.
func TestClientsThatDoNotRead(t *testing.T) {
	t.Parallel()
	written := make(chan error, 1)
	r := start(t, Config{}, func(w http.ResponseWriter, _ *http.Request) {
		var err error
		for large := make([]byte, 1<<20); err == nil; {
			_, err = w.Write(large)
		}
		written <- err
	}, func(s *Server) { s.http.WriteTimeout = short })
	io.WriteString(r.dial(t), get)
	select {
	case err := <-written:
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("handler error: %v", err)
		}
	case <-time.After(patience):
		t.Error("the handler still waits for the client")
	}
}

func TestMaxHeaderBytes(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, ok)
	const begin, end = "GET / HTTP/1.1\r\nHost: localhost\r\nX-Large: ", "\r\n\r\n"
	for size, want := range map[int]int{64 << 10: 200, 64<<10 + 1: 431, 2 << 20: 431} {
		request := begin + strings.Repeat("x", size-len(begin)-len(end)) + end
		if status, _ := send(t, r.dial(t), request); status != want {
			t.Errorf("%d bytes: status %d, want %d", size, status, want)
		}
	}
}
