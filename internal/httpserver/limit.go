package httpserver

import (
	"errors"
	"net"
	"sync"
)

// limitListener accepts only so many connections at a time. Further clients
// wait.
//
// It differs from netutil.LimitListener of golang.org/x/net in one thing: its
// connections have CloseWrite. net/http ends a response with that if it has not
// read the whole request (413, 431). Without it the client meets a reset
// instead of the end of the response.
type limitListener struct {
	net.Listener
	slots  chan struct{} // one for each open connection
	closed chan struct{}
	once   sync.Once
}

func newLimitListener(listener net.Listener, connections int) *limitListener {
	return &limitListener{Listener: listener, slots: make(chan struct{}, connections), closed: make(chan struct{})}
}

func (l *limitListener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &limitedConn{Conn: c, release: sync.OnceFunc(func() { <-l.slots })}, nil
}

// Close also ends an Accept that waits for a connection to close.
func (l *limitListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// limitedConn lets the next client in when it closes.
type limitedConn struct {
	net.Conn
	release func()
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
