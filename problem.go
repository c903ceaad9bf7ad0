package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"firefighters/internal/record"
)

// problem is an error as RFC 9457 has it: what the client is told.
type problem struct {
	Type      string        `json:"type"`
	Title     string        `json:"title"`
	Status    int           `json:"status"`
	Detail    string        `json:"detail"`
	Errors    record.FieldErrors `json:"errors,omitempty"`
	RequestID string        `json:"requestId"`

	header http.Header // to send with it
	cause  error       // for the log
}

const problemType = "application/problem+json"

func (p *problem) Error() string { return p.Detail }

// complete fills in what follows from the status.
func (p *problem) complete(requestID string) {
	p.Type, p.Title, p.RequestID = "about:blank", http.StatusText(p.Status), requestID
}

var retryLater = http.Header{"Retry-After": {"1"}} // in seconds

// problemOf finds the words for an error. Of one that is not foreseen the
// client learns nothing.
func problemOf(err error) *problem {
	var known *problem
	var faults record.FieldErrors
	var body record.BodyError
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &faults):
		return &problem{Status: http.StatusBadRequest, Detail: faults.Error(), Errors: faults}
	case errors.As(err, &body):
		return &problem{Status: http.StatusBadRequest, Detail: body.Error()}
	case errors.Is(err, errNotFound):
		return &problem{Status: http.StatusNotFound, Detail: "There is no firefighter with this id."}
	case errors.Is(err, errChanged):
		return &problem{Status: http.StatusPreconditionFailed,
			Detail: "The firefighter is not what the request's conditions ask for: somebody may have changed it since it was read."}
	case errors.Is(err, errBusy):
		return &problem{Status: http.StatusServiceUnavailable, Detail: "The database is busy.", header: retryLater, cause: err}
	case errors.Is(err, errClosed):
		return &problem{Status: http.StatusServiceUnavailable, Detail: "The service is shutting down.", header: retryLater, cause: err}
	case errors.Is(err, errFull):
		return &problem{Status: http.StatusInsufficientStorage,
			Detail: "The disk is full: nothing was written. Reading goes on.", cause: err}
	}
	return &problem{Status: http.StatusInternalServerError,
		Detail: "Something went wrong here. The log says more under this request's id.", cause: err}
}

// fail answers with err, and logs it if the fault is ours. path is that of
// the route, for the request's own may hold anything.
func (s *server) fail(w http.ResponseWriter, r *http.Request, path string, err error) {
	p := *problemOf(err)
	p.complete(w.Header().Get("X-Request-Id"))
	if p.Status >= http.StatusInternalServerError {
		s.log.Error("request failed", "requestId", p.RequestID, "status", p.Status,
			"method", r.Method, "path", path, "cause", fmt.Sprint(p.cause))
	}
	for name, values := range p.header {
		w.Header()[name] = values
	}
	if r.Header.Get("Expect") == "" { // else the client has not begun to send
		io.CopyN(io.Discard, r.Body, maxIgnoredBody)
	}
	w.Header().Set("Content-Type", problemType)
	body, _ := json.Marshal(p) // strings and numbers: it cannot fail
	respond(w, p.Status, body)
}

// failing answers every request with the same problem.
func (s *server) failing(p problem) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.fail(w, r, "", &p)
	})
}
