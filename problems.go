package main

import (
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

// The kinds of problems that this API has beside those of any.
var (
	kindRecord    = httpapi.Kind{Code: "record", Status: http.StatusNotFound}
	kindImport    = httpapi.Kind{Code: "import", Status: http.StatusNotFound}
	kindPosition  = httpapi.Kind{Code: "position", Status: http.StatusGone} // of the list of changes
	kindTakenBack = httpapi.Kind{Code: "taken_back", Status: http.StatusConflict}
)

// The problems that are always the same.
var (
	errNoPath = &httpapi.Problem{Kind: httpapi.Path, Detail: "There is nothing at this path.", Header: toDocument}
	errMethod = &httpapi.Problem{Kind: httpapi.Method,
		Detail: "This path does not take this method; the header Allow says which it takes."}
	// RFC 9110 has Misdirected Request for a host that this is not. A request
	// without a Host is let in: a browser always sends one.
	errOtherHost = &httpapi.Problem{Kind: httpapi.Host,
		Detail: "This service listens on this machine alone, and answers to the hosts localhost and 127.0.0.1 only."}
	errInFlight = &httpapi.Problem{Kind: httpapi.InFlight, Header: httpapi.RetryLater,
		Detail: "A request with this Idempotency-Key is being answered."}
	errLost = &httpapi.Problem{Kind: httpapi.Unavailable, Header: httpapi.RetryLater,
		Detail: "The files of the database were deleted, moved or replaced. The log says what to do."}
	errReadOnlyKey = &httpapi.Problem{Kind: httpapi.Scope, Detail: "This API key may only read.",
		Header: http.Header{"Www-Authenticate": {`Bearer realm="firefighters", error="insufficient_scope"`}}}
)

func notReady(cause error) *httpapi.Problem {
	return &httpapi.Problem{Kind: httpapi.Unavailable, Header: httpapi.RetryLater, Cause: cause,
		Detail: "The database does not answer."}
}

// problemOf is the one place where an error becomes a problem. Of an
// unforeseen error the client learns nothing.
func problemOf(err error) *httpapi.Problem {
	var problem *httpapi.Problem
	var fields record.FieldErrors
	var body record.BodyError
	switch {
	case errors.As(err, &problem):
		return problem
	case importsProblem(err) != nil:
		return importsProblem(err)
	case errors.As(err, &fields):
		return &httpapi.Problem{Kind: httpapi.Invalid, Detail: fields.Error(), Errors: fields}
	case errors.As(err, &body):
		return &httpapi.Problem{Kind: httpapi.Malformed, Detail: body.Error()}
	case errors.Is(err, store.ErrRemoved): // and so the keys of the department
		return errUnknownKey
	case errors.Is(err, store.ErrNotFound):
		return &httpapi.Problem{Kind: kindRecord, Detail: "There is no firefighter with this id."}
	case errors.Is(err, httpapi.ErrPreconditionFailed):
		return &httpapi.Problem{Kind: httpapi.Precondition,
			Detail: "The firefighter is not what the request's conditions ask for: somebody may have changed it since it was read."}
	case errors.Is(err, store.ErrReused):
		return &httpapi.Problem{Kind: httpapi.KeyReused, Detail: "This Idempotency-Key was used with another body before."}
	case errors.Is(err, store.ErrLost):
		return errLost
	case errors.Is(err, store.ErrBusy):
		return &httpapi.Problem{Kind: httpapi.Busy, Detail: "The database is busy.", Header: httpapi.RetryLater, Cause: err}
	case errors.Is(err, store.ErrClosed):
		return &httpapi.Problem{Kind: httpapi.Stopping, Detail: "The service is shutting down.", Header: httpapi.RetryLater, Cause: err}
	case errors.Is(err, store.ErrFull):
		return &httpapi.Problem{Kind: httpapi.Full, Detail: "The disk is full: nothing was written. Reading goes on.", Cause: err}
	}
	return &httpapi.Problem{Kind: httpapi.Internal, Cause: err,
		Detail: "Something went wrong here. The log says more under this request's id."}
}

// fail answers with err, and logs it if the fault is the service's. path is
// that of the route, because that of the request may hold anything.
func (s *server) fail(w http.ResponseWriter, r *http.Request, path string, err error) {
	if errors.Is(err, httpapi.ErrNotModified) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	s.explain(w, r, path, err).Write(w)
}

// explain returns the problem that err is, and logs it if the fault is the
// service's.
func (s *server) explain(w http.ResponseWriter, r *http.Request, path string, err error) *httpapi.Problem {
	p := problemOf(err)
	if p.Status >= http.StatusInternalServerError && p != errLost { // the guard has logged the loss, once
		s.log.Error("request failed", "requestId", w.Header().Get("X-Request-Id"), "status", p.Status,
			"method", r.Method, "path", path, "cause", fmt.Sprint(p.Cause))
	}
	return p
}

// always answers every request with the same problem.
func (s *server) always(p *httpapi.Problem) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, "", p) })
}

// The OpenAPI document of the service. docs/openapi.yaml is written by hand,
// docs/openapi.json is generated from it (CONTRIBUTING.md).

//go:embed docs/openapi.json
var openAPIJSON []byte

//go:embed docs/openapi.yaml
var openAPIYAML []byte

const documentPath = "/api/v1/openapi.json"

// toDocument is the Header of a response that leads to the document (RFC 8631).
var toDocument = http.Header{"Link": {"<" + documentPath + `>; rel="service-desc"; type="application/json"`}}

// serveDocument answers with a file that is part of the program. Its entity
// tag is weak, because it may be sent compressed or not.
func serveDocument(contentType string, body []byte) handler {
	etag := "W/" + httpapi.ETag(body)
	return func(_ *server, w http.ResponseWriter, r *http.Request, _ string, _ caller) error {
		h := w.Header()
		httpapi.VaryByEncoding(h)
		conditions, err := httpapi.ParseConditions(r)
		if err != nil {
			return err
		}
		h["Etag"] = []string{etag}
		err = conditions.CheckRead(etag)
		switch {
		case errors.Is(err, httpapi.ErrPreconditionFailed):
			return &httpapi.Problem{Kind: httpapi.Precondition, Detail: "This is not what the request's conditions ask for."}
		case err != nil:
			return err
		}
		h.Set("Content-Type", contentType)
		httpapi.Respond(w, http.StatusOK, httpapi.Compress(h, r, body))
		return nil
	}
}

// What a client asks about its key, and about the service.

func (s *server) handleWhoAmI(w http.ResponseWriter, _ *http.Request, _ string, c caller) error {
	info, err := s.store.KeyInfo(c.key)
	if errors.Is(err, store.ErrNotFound) {
		err = errUnknownKey // erased at this moment
	}
	if err != nil {
		return err
	}
	return httpapi.RespondJSON(w, http.StatusOK, info)
}

func (s *server) handleHealth(w http.ResponseWriter, _ *http.Request, _ string, _ caller) error {
	httpapi.Respond(w, http.StatusOK, []byte(`{"status":"ok"}`))
	return nil
}

// readiness is the body of /readyz.
type readiness struct {
	Status  string        `json:"status"`
	Writing *writingState `json:"writing,omitempty"` // nil where it works
	Backup  *backupState  `json:"backup,omitempty"`  // nil without backups
}

// writingState is what /readyz says where nothing can be written.
type writingState struct {
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// backupState is what /readyz says of the backups. No file is named in it.
type backupState struct {
	OK     bool       `json:"ok"`
	Last   *time.Time `json:"last,omitempty"`  // the time of the last valid backup
	Since  *time.Time `json:"since,omitempty"` // when they began to fail
	Detail string     `json:"detail,omitempty"`
}

func (s *server) handleReady(w http.ResponseWriter, _ *http.Request, _ string, _ caller) error {
	if err := s.store.Ping(); errors.Is(err, store.ErrLost) {
		return err
	} else if err != nil {
		return notReady(err)
	}
	ready := readiness{Status: "ready"}
	if fault := s.store.DB().WritingFault(); fault != nil {
		ready.Writing = &writingState{Detail: "nothing can be written: " + fault.Error()}
	}
	if s.backups != nil {
		ready.Backup = new(backupState(s.backups()))
	}
	return httpapi.RespondJSON(w, http.StatusOK, ready)
}
