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
	mostConnections  = 4096 // of some 20 KB each
	leastConnections = 4    // that make a server of use
	// A connection is closed in favour of another client after it has waited so
	// long, at least: for its first request, or for a further one. The first comes
	// with the connection, and clients that have sent one are worth more.
	firstWait   = 100 * time.Millisecond
	furtherWait = time.Second
)

// ErrFewFiles says that the limit of open files leaves too few connections.
var ErrFewFiles = errors.New("this program may not open enough files to serve clients")

// connectionsBeside returns how many connections the limit of open files
// leaves to a program that opens so many other files.
func connectionsBeside(files int) (int, error) {
	left := osutil.MaxOpenFiles() - files
	if left < leastConnections {
		return 0, ErrFewFiles
	}
	return min(mostConnections, left), nil
}

// limitListener accepts only so many connections at a time. When another
// client comes it closes the connection that has waited longest for its first
// request, or else the one that has waited longest for a further one. While all
// others have a request, or have just had one, the client waits.
//
// netutil.LimitListener of golang.org/x/net makes no room: with it, clients that keep
// idle connections open keep all others out. Its connections have no CloseWrite, with
// which net/http ends a response if it has not read the whole request (413, 431).
// Without that the client meets a reset instead of the end.
type limitListener struct {
	net.Listener
	*limit
}

// limit is what the listeners of a server share.
type limit struct {
	readTimeout time.Duration // of the server
	slots       chan struct{} // one for each open connection
	closed      chan struct{}
	once        sync.Once

	mu             sync.Mutex
	first, further line // of connections that wait for their first request, or for a further one
}

// line is a line of connections without a request. The first has waited longest.
type line struct {
	*list.List               // *limitedConn
	patience   time.Duration // how long each may wait when all slots are taken
}

func newLimit(connections int, readTimeout time.Duration) *limit {
	return &limit{readTimeout: readTimeout, slots: make(chan struct{}, connections),
		closed: make(chan struct{}), first: line{list.New(), firstWait}, further: line{list.New(), furtherWait}}
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
	return &limitedConn{Conn: c, limit: l.limit, release: sync.OnceFunc(func() { <-l.slots })}, nil
}

// takeSlot waits for a slot. It sees to it that one becomes free.
func (l *limit) takeSlot() error {
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

// dismiss ends the connection that has waited longest, if that is long enough.
// It returns after which time another one may have to go.
//
// It does so by a deadline in the past. If the server has begun to read a
// request at this moment, the request is answered: by the time that its headers
// are read there is another deadline, set by the server or by setState. A request
// that comes in at this moment may be left unread. Nothing of it was done then.
func (l *limit) dismiss() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, wait := time.Now(), firstWait
	for _, line := range []line{l.first, l.further} {
		front := line.Front()
		if front == nil {
			continue
		}
		c := front.Value.(*limitedConn)
		left := line.patience - now.Sub(c.since)
		if left <= 0 {
			line.MoveToBack(front)
			c.since, c.dismissed = now, true
			c.SetReadDeadline(now)
			return firstWait
		}
		wait = min(wait, left)
	}
	return wait
}

// setState is the hook ConnState of the server.
func (l *limit) setState(conn net.Conn, state http.ConnState) {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	c := conn.(*limitedConn)
	l.mu.Lock()
	defer l.mu.Unlock()
	c.leaveLine()
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

// Close also ends an Accept that waits for a slot, of each listener.
func (l *limitListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// limitedConn lets the next client in when it closes.
type limitedConn struct {
	net.Conn
	limit   *limit
	release func()

	// With the mutex of the limit:
	line      line
	place     *list.Element // in the line; nil while there is a request
	since     time.Time     // it waits for a request
	dismissed bool
}

// join puts the connection at the end of a line. The caller has the mutex of the limit.
func (c *limitedConn) join(line line) {
	c.line, c.place, c.since = line, line.PushBack(c), time.Now()
}

// leaveLine takes the connection out of its line. The caller has the mutex of the
// limit.
func (c *limitedConn) leaveLine() {
	if c.place != nil {
		c.line.Remove(c.place)
		c.place = nil
	}
}

func (c *limitedConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}

// CloseWrite ends what is sent and lets the client go on sending.
func (c *limitedConn) CloseWrite() error {
	if c, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return errors.ErrUnsupported
}
