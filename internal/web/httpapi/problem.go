// Package httpapi implements the parts of HTTP that any JSON API needs: problem details, conditional
// requests, links, compression, CORS, rate limits and request parsing.
package httpapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
)

// Problem is an error and its description for the client (RFC 9457). Problems must not be modified.
type Problem struct {
	Kind
	Detail string      // a sentence for people
	Errors any         // a JSON list with one entry for each mistake; or nil
	Header http.Header // further response headers
	Cause  error       // for the log; never sent
}

// Explain returns the problem of an error and logs server errors. path is the path of the route.
type Explain func(w http.ResponseWriter, r *http.Request, path string, err error) *Problem

func (p *Problem) Error() string { return p.Detail }

func (p *Problem) Unwrap() error { return p.Cause }

// NotAllowed returns the problem of a method that a path does not support. allow is its Allow header.
func NotAllowed(allow string) *Problem {
	return &Problem{Kind: Method, Header: http.Header{"Allow": {allow}}, Detail: "Method not allowed. This path supports " + allow + "."}
}

// RetryLater is the Header of a temporary Problem.
var RetryLater = http.Header{"Retry-After": {"1"}} // in seconds

type problemDetails struct {
	Type      string `json:"type"`
	Title     string `json:"title"`
	Status    int    `json:"status"`
	Code      string `json:"code"`
	Detail    string `json:"detail"`
	Errors    any    `json:"errors,omitempty"`
	RequestID string `json:"requestId"`
}

var problemType = []string{"application/problem+json"}

// Write sends the problem with the request id in the X-Request-Id header of the response.
func (p *Problem) Write(w http.ResponseWriter) {
	RespondJSON(w, p.Status, p.details(w.Header())) // cannot fail; see Errors
}

// WriteWith is Write with the members of a JSON object (RFC 9457, section 3.2).
func (p *Problem) WriteWith(w http.ResponseWriter, object []byte) {
	members, _ := json.Marshal(p.details(w.Header())) // cannot fail; see Errors
	members[len(members)-1] = ','
	w.WriteHeader(p.Status)
	w.Write(members)
	w.Write(object[1:]) // an error means that the client has disconnected
}

// details sets the response headers and returns the members of the problem.
func (p *Problem) details(h http.Header) problemDetails {
	maps.Copy(h, p.Header)
	h["Content-Type"] = problemType
	return problemDetails{"about:blank", p.title(), p.Status, p.Code, p.Detail, p.Errors, h.Get("X-Request-Id")}
}

// FieldError describes an invalid header of a request or an invalid part of a form.
type FieldError struct {
	Field  string `json:"field"`
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// InvalidFields returns a problem for one or more invalid headers or form parts.
func InvalidFields(list ...FieldError) *Problem {
	detail := list[0].Detail
	if len(list) > 1 {
		detail = fmt.Sprintf("There are %d faults. The first: %s", len(list), detail)
	}
	return &Problem{Kind: Invalid, Detail: detail, Errors: list}
}

func invalidHeader(name, detail string) FieldError { return FieldError{name, "invalid", detail} }

// Kind is a problem code and its HTTP status. docs/openapi.yaml lists all codes, which never change.
type Kind struct {
	Code   string
	Status int
}

// The kinds of problems that any API has.
var (
	KeyMissing   = Kind{"key_missing", http.StatusUnauthorized}
	KeyUnknown   = Kind{"key_unknown", http.StatusUnauthorized}
	KeyRevoked   = Kind{"key_revoked", http.StatusUnauthorized}
	KeyExpired   = Kind{"key_expired", http.StatusUnauthorized}
	Scope        = Kind{"scope", http.StatusForbidden}
	Path         = Kind{"path", http.StatusNotFound}
	Method       = Kind{"method", http.StatusMethodNotAllowed}
	Host         = Kind{"host", http.StatusMisdirectedRequest}
	Invalid      = Kind{"invalid", http.StatusBadRequest}   // with errors
	Malformed    = Kind{"malformed", http.StatusBadRequest} // the body as a whole
	TooLarge     = Kind{"too_large", http.StatusRequestEntityTooLarge}
	ContentType  = Kind{"content_type", http.StatusUnsupportedMediaType}
	Precondition = Kind{"precondition", http.StatusPreconditionFailed}
	KeyReused    = Kind{"key_reused", http.StatusUnprocessableEntity}
	InFlight     = Kind{"in_flight", http.StatusConflict}
	TooMany      = Kind{"rate_limit", http.StatusTooManyRequests}
	Busy         = Kind{"busy", http.StatusServiceUnavailable}
	Stopping     = Kind{"stopping", http.StatusServiceUnavailable}
	Unavailable  = Kind{"unavailable", http.StatusServiceUnavailable}
	TempFiles    = Kind{"temp_files", http.StatusServiceUnavailable}
	Full         = Kind{"full", http.StatusInsufficientStorage}
	Internal     = Kind{"internal", http.StatusInternalServerError}
)

// title returns the reason phrase of the status in RFC 9110, where Go still has two older ones.
func (k Kind) title() string {
	switch k.Status {
	case http.StatusRequestEntityTooLarge:
		return "Content Too Large"
	case http.StatusUnprocessableEntity:
		return "Unprocessable Content"
	}
	return http.StatusText(k.Status)
}
