package main

import (
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// maxConnections is how many clients are connected at most: each takes
	// some 20 KB.
	maxConnections = 4096
	minConnections = 16
	// emptyInterval is how often room is made at most, and fullWarning how
	// often it is logged that there is none.
	emptyInterval = time.Second
	fullWarning   = time.Minute
)

// connectionLimit is how many clients may be connected at once, so that the
// database and its backups never lack a file descriptor.
func connectionLimit() int {
	reserved := uint64(64 + 4*readerCount)
	files := max(fileLimit(), reserved)
	return int(min(max(files-reserved, minConnections), maxConnections))
}

// boundedListener accepts no more connections than it has slots for. Whoever
// comes when all are taken waits, and for the first of them the connections on
// which nothing goes on are closed.
type boundedListener struct {
	net.Listener
	slots      chan struct{} // one for each connection that is open
	httpServer *http.Server
	log        *slog.Logger
	emptied    time.Time // when room was made last
	warned     time.Time

	closing sync.Once
	closed  chan struct{}
}

func newBoundedListener(listener net.Listener, connections int, httpServer *http.Server, log *slog.Logger) *boundedListener {
	return &boundedListener{Listener: listener, slots: make(chan struct{}, connections),
		httpServer: httpServer, log: log, closed: make(chan struct{})}
}

func (l *boundedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if !l.takeSlot() {
		c.Close()
		return nil, net.ErrClosed
	}
	return boundedConn{c.(*net.TCPConn), sync.OnceFunc(func() { <-l.slots })}, nil
}

// takeSlot waits for a slot, in vain if the listener is closed.
func (l *boundedListener) takeSlot() bool {
	select {
	case l.slots <- struct{}{}:
		return true
	default:
	}
	for {
		l.makeRoom()
		select {
		case l.slots <- struct{}{}:
			return true
		case <-time.After(emptyInterval):
		case <-l.closed:
			return false
		}
	}
}

// makeRoom closes the connections that are idle or have not got to the end of
// their first headers in five seconds. This is the way in which net/http does
// it: it takes the next moment's answers their keep-alive, and no more.
func (l *boundedListener) makeRoom() {
	now := time.Now()
	if now.Sub(l.emptied) < emptyInterval {
		return // clients that are served, one request after another, lose their connections too
	}
	l.emptied = now
	l.httpServer.SetKeepAlivesEnabled(false)
	l.httpServer.SetKeepAlivesEnabled(true)
	if now.Sub(l.warned) > fullWarning {
		l.warned = now
		l.log.Warn("as many clients are connected as may be; more of them wait, and idle ones are disconnected", "connections", cap(l.slots))
	}
}

func (l *boundedListener) Close() error {
	l.closing.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// boundedConn gives its slot back when it is closed.
type boundedConn struct {
	*net.TCPConn
	release func()
}

func (c boundedConn) Close() error {
	defer c.release()
	return c.TCPConn.Close()
}

// halfCloser is a connection that can end what it sends and still listen.
type halfCloser interface{ CloseWrite() error }
