package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// What is not HTTP, or not the HTTP that package net/http speaks, it answers
// itself, in plain text and without asking us. Such an answer is made a
// problem like any other on its way to the client. On that way every answer
// has its security headers put in, which as entries of a http.Header would
// take a sixth of the time of a small request.

// problemListener accepts connections that answer every error with a problem,
// and send headers, whole lines, with every answer.
type problemListener struct {
	net.Listener
	server  *server
	headers string
}

func (l problemListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return problemConn{c, l.server, l.headers}, nil
}

type problemConn struct {
	net.Conn
	server  *server
	headers string
}

// Read reads nothing into the one byte of its own that net/http offers while a
// request is answered: it would learn from it only that the client has gone,
// which nobody here asks, at the price of a wait and a wake-up each time. That
// is a tenth of a small request.
func (c problemConn) Read(b []byte) (int, error) {
	if cap(b) == 1 {
		return 0, nil
	}
	return c.Conn.Read(b)
}

// Write replaces an answer of net/http's own, which it writes whole; ours say
// what type they have. Every answer begins with a call.
func (c problemConn) Write(b []byte) (int, error) {
	status, line := statusLine(b)
	switch {
	case status < 200: // nothing of that, or 100 Continue
		return c.Conn.Write(b)
	case status >= 400 && bytes.Contains(b, []byte("\r\n\r\n")) && !bytes.Contains(b, []byte("Content-Type: "+problemType)):
		return c.write(b, c.server.rawAnswer(protocolProblem(status), c.headers))
	}
	buffer := answers.Get().(*[]byte)
	defer answers.Put(buffer)
	*buffer = append(append(append((*buffer)[:0], b[:line]...), c.headers...), b[line:]...)
	return c.write(b, *buffer)
}

// answers are buffers for the first write of an answer.
var answers = sync.Pool{New: func() any { return new([]byte) }}

// write writes what is sent in the place of b.
func (c problemConn) write(b, sent []byte) (int, error) {
	if _, err := c.Conn.Write(sent); err != nil {
		return 0, err
	}
	return len(b), nil
}

// CloseWrite lets net/http end an answer to a client that is still sending.
func (c problemConn) CloseWrite() error { return c.Conn.(halfCloser).CloseWrite() }

// statusLine gives the status of an answer that begins in b, and the length of
// the line that says so; 0 if none begins there. No JSON body is mistaken for
// one, for it has no line breaks.
func statusLine(b []byte) (status, length int) {
	const version, longest = "HTTP/1.x ", 100
	if !bytes.HasPrefix(b, []byte("HTTP/1.")) || len(b) < len(version)+3 {
		return 0, 0
	}
	status, err := strconv.Atoi(string(b[len(version) : len(version)+3]))
	end := bytes.Index(b[:min(len(b), longest)], []byte("\r\n"))
	if err != nil || end < 0 {
		return 0, 0
	}
	return status, end + len("\r\n")
}

// protocolProblem is what is said of a request that could not be read. A
// transfer coding or version that net/http does not speak (501, 505) is the
// client's mistake all the same.
func protocolProblem(status int) *problem {
	p := &problem{Status: status, Detail: "The request is not well-formed HTTP/1.1."}
	switch {
	case status == http.StatusRequestHeaderFieldsTooLarge:
		p.Detail = headersTooLarge
	case status == http.StatusExpectationFailed:
		p.Detail = "The header Expect may only be 100-continue."
	case status >= http.StatusInternalServerError:
		p.Status = http.StatusBadRequest
	}
	return p
}

// rawAnswer is the whole answer, to the byte, to a request that net/http does
// not let us see.
func (s *server) rawAnswer(p *problem, headers string) []byte {
	p.complete(s.newRequestID())
	body, _ := json.Marshal(p) // strings and numbers: it cannot fail
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\n%sContent-Type: %s\r\nCache-Control: no-store\r\nX-Request-Id: %s\r\n"+
		"Date: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", p.Status, p.Title, headers, problemType, p.RequestID,
		time.Now().UTC().Format(http.TimeFormat), len(body), body)
}
