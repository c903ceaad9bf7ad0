// Package upload transfers large data between clients and the service: uploaded files, exported files
// and long pages. Data that is too large for memory is buffered in private temporary files, so that
// slow clients occupy neither a place to work nor a database connection.
package upload

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

// Places limits how many requests do one kind of work at the same time, because each needs memory and
// a database connection.
type Places chan struct{}

var (
	// Reading is for requests that parse a file. The rows of a large file take over 100 MB.
	Reading = make(Places, 1)
	// Writing is for exports and long pages.
	Writing = make(Places, 2)
)

// patience is how long a request waits for a place.
const patience = time.Minute

var errBusy = &httpapi.Problem{Kind: httpapi.Busy, Header: httpapi.RetryLater,
	Detail: "Too many files are being imported or exported at this moment."}

// enter waits for a place, which the caller must leave. The error is errBusy or the error of ctx.
func (p Places) enter(ctx context.Context) (leave func(), err error) {
	leave = func() { <-p }
	select {
	case p <- struct{}{}: // even if ctx has ended
		return leave, nil
	default:
	}
	tooLong := time.NewTimer(patience)
	defer tooLong.Stop()
	select {
	case p <- struct{}{}:
		return leave, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-tooLong.C:
		return nil, errBusy
	}
}

// Work waits for a place, calls do, frees the place and sends the response that do wrote. If it returns
// an error, nothing was sent and the headers are unchanged.
//
// The request's context ends when the client closes the connection or only its sending half; the
// service cannot tell which. If do returns the context's error, Work aborts the request with a
// panic, as net/http expects. If do has succeeded, Work sends the response anyway.
func Work(w http.ResponseWriter, r *http.Request, owner int64, places Places, do func(w http.ResponseWriter) error) error {
	control := http.NewResponseController(w)
	control.SetReadDeadline(time.Time{}) // net/http would treat the deadline as a disconnected client
	control.SetWriteDeadline(time.Now().Add(2 * patience))
	before := maps.Clone(w.Header())
	a := &bufferedResponse{ResponseWriter: w, file: spool{owner: owner}}
	defer a.file.Close()
	err := a.fill(r, places, do)
	if err != nil && errors.Is(err, r.Context().Err()) {
		panic(http.ErrAbortHandler)
	}
	if err != nil {
		control.SetReadDeadline(time.Now().Add(patience)) // for Ignore
		clear(w.Header())
		maps.Copy(w.Header(), before)
		return err
	}
	a.send()
	return nil
}

// Respond is httpapi.Respond with a buffer for slow clients. After an error, nothing was sent.
func Respond(w http.ResponseWriter, owner int64, status int, body []byte) error {
	a := &bufferedResponse{ResponseWriter: w, status: status, file: spool{owner: owner}}
	defer a.file.Close()
	if _, err := a.Write(body); err != nil {
		return err
	}
	a.send()
	return nil
}

// bufferedResponse is a response that is buffered until it is complete.
type bufferedResponse struct {
	http.ResponseWriter
	status int
	file   spool
	err    error // of the spool
}

func (a *bufferedResponse) fill(r *http.Request, places Places, do func(w http.ResponseWriter) error) error {
	leave, err := places.enter(r.Context())
	if err != nil {
		return err
	}
	defer leave()
	if err := do(a); err != nil {
		return err
	}
	return a.err
}

// WriteHeader stores the first status.
func (a *bufferedResponse) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

// Write buffers a part of the body.
func (a *bufferedResponse) Write(p []byte) (n int, err error) {
	a.WriteHeader(http.StatusOK)
	if a.err != nil {
		return 0, a.err
	}
	n, a.err = a.file.Write(p)
	return n, a.err
}

// Unwrap supports http.ResponseController.
func (a *bufferedResponse) Unwrap() http.ResponseWriter { return a.ResponseWriter }

func (a *bufferedResponse) send() {
	if h := a.Header(); h["Content-Length"] == nil && a.file.size > 0 {
		h["Content-Length"] = []string{strconv.FormatInt(a.file.size, 10)}
	}
	http.NewResponseController(a.ResponseWriter).SetWriteDeadline(time.Now().Add(timeFor(a.file.size)))
	a.ResponseWriter.WriteHeader(a.status)
	io.Copy(a.ResponseWriter, a.file.reader()) // an error means that the client has disconnected
}

// timeFor returns how long a client may take to transfer size bytes.
func timeFor(size int64) time.Duration {
	const slowest = 64 << 10 // bytes per second
	return time.Minute + time.Duration(size/slowest)*time.Second
}

// Attachment describes a file for download.
type Attachment struct {
	Name        string // ASCII
	ContentType string
}

// Describe sets the response headers of the file.
func (a Attachment) Describe(h http.Header) {
	h.Set("Content-Type", a.ContentType)
	h.Set("Content-Disposition", `attachment; filename="`+a.Name+`"`)
}

// Send answers with a file that write writes, within Work. A HEAD request gets only the headers; write
// is not called. If Send returns an error, nothing was sent.
func Send(w http.ResponseWriter, r *http.Request, owner int64, a Attachment, write func(io.Writer) error) error {
	if r.Method == http.MethodHead {
		a.Describe(w.Header())
		w.WriteHeader(http.StatusOK)
		return nil
	}
	return Work(w, r, owner, Writing, func(w http.ResponseWriter) error {
		if err := write(w); err != nil {
			return err
		}
		a.Describe(w.Header())
		w.WriteHeader(http.StatusOK)
		return nil
	})
}
