package main

import (
	"bytes"
	"fmt"
	"net"
	"strconv"
	"time"
)

// request is a formatted request with the answer that it expects. Formatting in
// advance keeps the cost of sending low.
type request struct {
	bytes  []byte
	status int
	want   []byte // a part of the body; nil for any body
}

// newRequest formats a request. A request without a body has no Content-Length.
func newRequest(method, path, key, body string, status int, want string) request {
	b := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n", method, path, key)
	if body != "" {
		b = fmt.Appendf(b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	return request{append(b, "\r\n"+body...), status, []byte(want)}
}

// client is a persistent connection with one request at a time. It reads only
// the parts of HTTP that it needs: status, length and body.
type client struct {
	conn   net.Conn
	buffer []byte
}

// clientLimit is the longest lifetime of a client, so that a server that does
// not answer cannot block it forever.
const clientLimit = time.Minute

// largestAnswer is the size of the read buffer. A page of a hundred people fits into it.
const largestAnswer = 256 << 10

func dial(address string) (*client, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	conn.SetDeadline(time.Now().Add(clientLimit))
	return &client{conn, make([]byte, largestAnswer)}, nil
}

// do sends a request and returns the body of the answer, which is valid until
// the next call. An unexpected answer is an error.
func (c *client) do(r *request) (body []byte, err error) {
	if _, err := c.conn.Write(r.bytes); err != nil {
		return nil, err
	}
	for filled := 0; ; {
		n, err := c.conn.Read(c.buffer[filled:])
		if err != nil {
			return nil, err
		}
		filled += n
		status, body, missing, err := parse(c.buffer[:filled])
		switch {
		case err != nil:
			return nil, err
		case missing > 0 && filled < len(c.buffer):
			continue
		case missing != 0 || status != r.status || !bytes.Contains(body, r.want):
			return nil, fmt.Errorf("%.60q was answered by %q, without %q", r.bytes, c.buffer[:filled], r.want)
		}
		return body, nil
	}
}

var (
	headEnd       = []byte("\r\n\r\n")
	contentLength = []byte("\r\nContent-Length: ")
)

const (
	statusAt = len("HTTP/1.1 ")
	noBody   = 204
)

// parse parses the received part of an answer. missing is the number of bytes
// that have not arrived, or 1 while that is unknown.
func parse(answer []byte) (status int, body []byte, missing int, err error) {
	head := bytes.Index(answer, headEnd)
	if head < statusAt+3 {
		return 0, nil, 1, nil
	}
	if status, err = strconv.Atoi(string(answer[statusAt : statusAt+3])); err != nil {
		return 0, nil, 0, err
	}
	body = answer[head+len(headEnd):]
	length := 0
	if status != noBody {
		if length, err = parseLength(answer[:head+2]); err != nil {
			return 0, nil, 0, err
		}
	}
	return status, body, length - len(body), nil
}

// parseLength returns the Content-Length. Every answer with a body must have
// one here.
func parseLength(head []byte) (length int, err error) {
	_, rest, found := bytes.Cut(head, contentLength)
	digits, _, _ := bytes.Cut(rest, headEnd[:2])
	if !found {
		return 0, fmt.Errorf("an answer without Content-Length: %q", head)
	}
	return strconv.Atoi(string(digits))
}

// fetch sends one request over a new connection.
func fetch(p *process, r request) ([]byte, error) {
	c, err := dial(p.address)
	if err != nil {
		return nil, err
	}
	defer c.conn.Close()
	return c.do(&r)
}
