package httpserver

import (
	"container/list"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"firefighters/internal/osutil"
)

const (
	mostConnections  = 4096 // of some 20 KB each
	leastConnections = 4
	// shortestWait is how long a connection has waited for a request, at
	// least, before it is closed in favour of another client.
	shortestWait = 100 * time.Millisecond
)

// connectionsBeside returns how many connections the limit of open files
// leaves to a program that opens so many other files.
func connectionsBeside(files int) int {
	return min(mostConnections, max(leastConnections, osutil.MaxOpenFiles()-files))
}

// limitListener accepts only so many connections at a time. When another
// client comes it closes the connection that has waited longest for a request.
// While all others have a request, or have just had one, the client waits.
//
// Its connections have CloseWrite, unlike those of netutil.LimitListener of
// golang.org/x/net. net/http ends a response with that if it has not read the
// whole request (413, 431). Without it the client meets a reset instead of the
// end of the response.
type limitListener struct {
	net.Listener
	readTimeout time.Duration // of the server
	slots       chan struct{} // one for each open connection
	closed      chan struct{}
	once        sync.Once

	mu      sync.Mutex
	waiting *list.List // *limitedConn without a request; the first has waited longest
}

func newLimitListener(listener net.Listener, connections int, readTimeout time.Duration) *limitListener {
	return &limitListener{Listener: listener, readTimeout: readTimeout, slots: make(chan struct{}, connections),
		closed: make(chan struct{}), waiting: list.New()}
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
	return &limitedConn{Conn: c, listener: l, release: sync.OnceFunc(func() { <-l.slots })}, nil
}

// takeSlot waits for a slot. It sees to it that one becomes free.
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

// dismiss ends the connection that has waited longest, if that is long enough.
// It returns after which time another one may have to go.
//
// It does so by a deadline in the past. If a request comes in at this very
// moment, the server has set another deadline by the time it has read the
// headers, or setState does, and the request is answered.
func (l *limitListener) dismiss() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := l.waiting.Front()
	if first == nil {
		return shortestWait
	}
	c, now := first.Value.(*limitedConn), time.Now()
	if waited := now.Sub(c.since); waited < shortestWait {
		return shortestWait - waited
	}
	l.waiting.MoveToBack(first)
	c.since, c.dismissed = now, true
	c.SetReadDeadline(now)
	return shortestWait
}

// setState is the hook ConnState of the server.
func (l *limitListener) setState(conn net.Conn, state http.ConnState) {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	c := conn.(*limitedConn)
	l.mu.Lock()
	defer l.mu.Unlock()
	c.leaveLine()
	switch {
	case state == http.StateNew || state == http.StateIdle:
		c.since, c.place = time.Now(), l.waiting.PushBack(c)
	case state == http.StateActive && c.dismissed:
		c.SetReadDeadline(time.Now().Add(l.readTimeout))
	}
	c.dismissed = false
}

// Close also ends an Accept that waits for a slot.
func (l *limitListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// limitedConn lets the next client in when it closes.
type limitedConn struct {
	net.Conn
	listener *limitListener
	release  func()

	// With the mutex of the listener:
	place     *list.Element // nil while there is a request
	since     time.Time     // it waits for a request
	dismissed bool
}

// leaveLine is called with the mutex of the listener.
func (c *limitedConn) leaveLine() {
	if c.place != nil {
		c.listener.waiting.Remove(c.place)
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
