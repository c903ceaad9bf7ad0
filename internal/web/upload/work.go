// Package upload carries what is large between clients and the service: files
// that they send, files that they get, and long pages. What is too large for
// memory waits in a private temporary file, so that a client may be slow: no place
// to work and no connection to the database waits for it.
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

// Places limits how many requests do one kind of work at the same time: each needs memory, and one
// of the few connections that read the database.
type Places chan struct{}

var (
	// Reading is for requests that read a file. The rows of a large one take more than a hundred
	// megabytes.
	Reading = make(Places, 1)
	// Writing is for exports and long pages.
	Writing = make(Places, 2)
)

// patience is how long a request waits for a place.
const patience = time.Minute

var errBusy = &httpapi.Problem{Kind: httpapi.Busy, Header: httpapi.RetryLater,
	Detail: "Too many files are being imported or exported at this moment."}

// enter waits for a place. The caller calls leave when it has worked. The error is errBusy, or that
// of ctx.
func (p Places) enter(ctx context.Context) (leave func(), err error) {
	leave = func() { <-p }
	select {
	case p <- struct{}{}: // also if ctx has ended
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

// Work calls do when there is one of these places. What do answers is sent when others can work
// again. After an error nothing was sent, and the headers are as they were.
//
// The context of the request ends when the client sends no more. The client has then gone,
// or has closed only its sending half: the service cannot tell which. do may return the
// error of the context; Work then ends the request by a panic, as net/http wants it. An
// answer that do has finished is sent all the same.
func Work(w http.ResponseWriter, r *http.Request, owner int64, places Places, do func(w http.ResponseWriter) error) error {
	control := http.NewResponseController(w)
	control.SetReadDeadline(time.Time{}) // net/http takes the deadline for a client that has gone
	control.SetWriteDeadline(time.Now().Add(2 * patience))
	before := maps.Clone(w.Header())
	a := &answer{ResponseWriter: w, file: spool{owner: owner}}
	defer a.file.Close()
	err := a.make(r, places, do)
	if err != nil && errors.Is(err, r.Context().Err()) {
		panic(http.ErrAbortHandler)
	}
	if err != nil {
		clear(w.Header())
		maps.Copy(w.Header(), before)
		return err
	}
	a.send()
	return nil
}

// Respond sends a complete body as httpapi.Respond does. A long one waits on disk. After an error
// nothing was sent.
func Respond(w http.ResponseWriter, owner int64, status int, body []byte) error {
	a := &answer{ResponseWriter: w, status: status, file: spool{owner: owner}}
	defer a.file.Close()
	if _, err := a.Write(body); err != nil {
		return err
	}
	a.send()
	return nil
}

// answer is a response that is kept until it can be sent.
type answer struct {
	http.ResponseWriter
	status int
	file   spool
	err    error // of the spool
}

func (a *answer) make(r *http.Request, places Places, do func(w http.ResponseWriter) error) error {
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

// WriteHeader notes the status.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

// Write keeps a part of the response.
func (a *answer) Write(p []byte) (n int, err error) {
	a.WriteHeader(http.StatusOK)
	if a.err != nil {
		return 0, a.err
	}
	n, a.err = a.file.Write(p)
	return n, a.err
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// send sends the response.
func (a *answer) send() {
	if h := a.Header(); h["Content-Length"] == nil && a.file.size > 0 {
		h["Content-Length"] = []string{strconv.FormatInt(a.file.size, 10)}
	}
	http.NewResponseController(a.ResponseWriter).SetWriteDeadline(time.Now().Add(timeFor(a.file.size)))
	a.ResponseWriter.WriteHeader(a.status)
	io.Copy(a.ResponseWriter, a.file.reader()) // an error means that the client has gone
}

// timeFor returns how long a client may take for so many bytes.
func timeFor(size int64) time.Duration {
	const slowest = 64 << 10 // bytes in a second
	return time.Minute + time.Duration(size/slowest)*time.Second
}

// Attachment is a file for a client to keep.
type Attachment struct {
	Name        string // in ASCII
	ContentType string
}

// Describe sets the headers of a response that is the file.
func (a Attachment) Describe(h http.Header) {
	h.Set("Content-Type", a.ContentType)
	h.Set("Content-Disposition", `attachment; filename="`+a.Name+`"`)
}

// Send answers with a file that write writes, as Work does. To a HEAD request it makes no file. After an error nothing was sent.
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
