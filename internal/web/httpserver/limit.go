package httpserver

import (
	"container/list"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

const (
	connectionLimit = 4096 // each takes some 20 KB
	minConnections  = 4    // that a useful server needs
	// At the limit, a connection is closed in favor of a new client after it has waited this long for
	// its first or for another request. A client usually sends its first request at once, and clients
	// that have already sent one take precedence.
	firstWait   = 100 * time.Millisecond
	furtherWait = time.Second
)

// ErrFewFiles means that the limit of open files leaves too few connections.
var ErrFewFiles = errors.New("this program may not open enough files to serve clients")

// maxConnections returns how many connections the limit of open files allows next to other files.
func maxConnections(files int) (int, error) {
	left := osutil.MaxOpenFiles() - files
	if left < minConnections {
		return 0, ErrFewFiles
	}
	return min(connectionLimit, left), nil
}

// limitListener limits the number of open connections. At the limit, a new client replaces the
// connection that has waited longest for its first request, or otherwise for another request. While
// all connections have a request, or had one within furtherWait, the new client waits.
//
// With netutil.LimitListener of golang.org/x/net, idle clients could lock out all others. Its
// connections also lack CloseWrite: after a response to a request that net/http has not read
// completely (413, 431), the client would see a connection reset.
type limitListener struct {
	net.Listener
	*limit
	closed chan struct{}
	close  func()
}

func limited(listener net.Listener, l *limit) net.Listener {
	closed := make(chan struct{})
	return &limitListener{listener, l, closed, sync.OnceFunc(func() { close(closed) })}
}

// limit is the limit that the listeners of a program share.
type limit struct {
	readTimeout time.Duration // of the servers
	slots       chan struct{} // one for each open connection

	mu             sync.Mutex
	first, further queue // connections that wait for their first or for another request
}

// queue holds connections without a request. The first has waited longest.
type queue struct {
	*list.List               // of *limitedConn
	patience   time.Duration // how long a connection may wait when all slots are taken
}

func newLimit(connections int, readTimeout time.Duration) *limit {
	return &limit{readTimeout: readTimeout, slots: make(chan struct{}, connections),
		first: queue{list.New(), firstWait}, further: queue{list.New(), furtherWait}}
}

func (l *limitListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if err := l.takeSlot(); err != nil {
		c.Close()
		return nil, err
	}
	return &limitedConn{Conn: c, release: sync.OnceFunc(func() { <-l.slots })}, nil
}

// takeSlot waits for a slot and dismisses waiting connections to free one.
func (l *limitListener) takeSlot() error {
	select {
	case l.slots <- struct{}{}:
		return nil
	default:
	}
	for {
		select {
		case l.slots <- struct{}{}:
			return nil
		case <-l.closed:
			return net.ErrClosed
		case <-time.After(l.dismiss()):
		}
	}
}

// dismiss closes the connection that has waited longest if its time is up. It returns when to retry.
//
// It sets a read deadline in the past. If the server has already begun to read a request, the request
// is still answered: the server or setState sets another deadline before the headers are read. A
// request that arrives at the same moment may stay unread; it then has no effect.
func (l *limit) dismiss() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, wait := time.Now(), firstWait
	for _, q := range []queue{l.first, l.further} {
		front := q.Front()
		if front == nil {
			continue
		}
		c := front.Value.(*limitedConn)
		left := q.patience - now.Sub(c.since)
		if left <= 0 {
			q.MoveToBack(front)
			c.since, c.dismissed = now, true
			c.SetReadDeadline(now)
			return firstWait
		}
		wait = min(wait, left)
	}
	return wait
}

// setState is the ConnState hook of the server.
func (l *limit) setState(conn net.Conn, state http.ConnState) {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	c := conn.(*limitedConn)
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.place != nil {
		c.queue.Remove(c.place)
		c.place = nil
	}
	switch {
	case state == http.StateNew:
		c.join(l.first)
	case state == http.StateIdle:
		c.join(l.further)
	case state == http.StateActive && c.dismissed:
		c.SetReadDeadline(time.Now().Add(l.readTimeout))
	}
	c.dismissed = false
}

// Close closes the listener and ends each waiting Accept.
func (l *limitListener) Close() error {
	l.close()
	return l.Listener.Close()
}

// limitedConn is a connection that frees its slot when it is closed.
type limitedConn struct {
	net.Conn
	release func()

	// Protected by the mutex of limit:
	queue     queue
	place     *list.Element // in queue; nil during a request
	since     time.Time     // when it began to wait
	dismissed bool
}

// join appends the connection to a queue. The caller must hold the mutex.
func (c *limitedConn) join(q queue) {
	c.queue, c.place, c.since = q, q.PushBack(c), time.Now()
}

func (c *limitedConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}

// CloseWrite closes the sending half of the connection.
func (c *limitedConn) CloseWrite() error {
	if c, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return errors.ErrUnsupported
}
