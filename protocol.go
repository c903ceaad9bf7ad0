package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"
)

// What is not HTTP, or not the HTTP that package net/http speaks, it answers
// itself, in plain text and without asking us. Such an answer is made a
// problem like any other on its way to the client.

// problemListener accepts connections that answer every error with a problem.
type problemListener struct {
	net.Listener
	rawAnswer func(*problem) []byte
}

func (l problemListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return problemConn{c, l.rawAnswer}, nil
}

type problemConn struct {
	net.Conn
	rawAnswer func(*problem) []byte
}

// Write replaces an answer of net/http's own, which it writes whole. Ours say
// what type they have.
func (c problemConn) Write(b []byte) (int, error) {
	status, ok := errorStatus(b)
	if !ok || bytes.Contains(b, []byte("Content-Type: "+problemType)) {
		return c.Conn.Write(b)
	}
	if _, err := c.Conn.Write(c.rawAnswer(protocolProblem(status))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// CloseWrite lets net/http end an answer to a client that is still sending.
func (c problemConn) CloseWrite() error { return c.Conn.(halfCloser).CloseWrite() }

// errorStatus is the status of an answer that begins in b, if it is an error.
// No JSON body is mistaken for one, for it has no line breaks.
func errorStatus(b []byte) (status int, ok bool) {
	rest, found := bytes.CutPrefix(b, []byte("HTTP/1."))
	if !found || len(rest) < 5 || (rest[2] != '4' && rest[2] != '5') || !bytes.Contains(rest, []byte("\r\n\r\n")) {
		return 0, false
	}
	status, err := strconv.Atoi(string(rest[2:5]))
	return status, err == nil
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
func (s *server) rawAnswer(p *problem, headers []header) []byte {
	p.complete(s.newRequestID())
	body, _ := json.Marshal(p) // strings and numbers: it cannot fail
	b := fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nX-Request-Id: %s\r\nDate: %s\r\nContent-Length: %d\r\nConnection: close\r\n",
		p.Status, p.Title, problemType, p.RequestID, time.Now().UTC().Format(http.TimeFormat), len(body))
	for _, h := range headers {
		b = fmt.Appendf(b, "%s: %s\r\n", h.name, h.values[0])
	}
	return fmt.Appendf(b, "\r\n%s", body)
}
