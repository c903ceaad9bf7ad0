package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Header values that all responses share. Nothing may change them in place.
var (
	jsonType        = []string{"application/json; charset=utf-8"}
	securityHeaders = []struct {
		name  string
		value []string
	}{
		{"Cache-Control", []string{"no-store"}},
		{"X-Content-Type-Options", []string{"nosniff"}},
		{"Content-Security-Policy", []string{"default-src 'none'; frame-ancestors 'none'"}},
		{"Referrer-Policy", []string{"no-referrer"}},
		{"Cross-Origin-Resource-Policy", []string{"same-origin"}},
		{"X-Frame-Options", []string{"DENY"}},
	}
	strictTransport = []string{"max-age=31536000"}
)

// SetSecurityHeaders sets the headers that every response has. No cache may keep the
// response, and a browser takes it for data and nothing else. With tls, a browser uses
// nothing but TLS for a year.
func SetSecurityHeaders(h http.Header, tls bool) {
	for _, header := range securityHeaders {
		h[header.name] = header.value
	}
	if tls {
		h["Strict-Transport-Security"] = strictTransport
	}
}

// Respond sends a complete body, so that no error can follow the status. The
// body is JSON unless the response has a Content-Type.
func Respond(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	if h["Content-Type"] == nil {
		h["Content-Type"] = jsonType
	}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	w.Write(body) // an error means that the client has gone
}

// RespondJSON sends a value as JSON. It escapes what JSON and JavaScript demand,
// and not what HTML does. After an error nothing was sent.
func RespondJSON(w http.ResponseWriter, status int, value any) error {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	Respond(w, status, bytes.TrimSuffix(body.Bytes(), []byte("\n")))
	return nil
}

// addVary adds the name of a header to the one Vary line of a response.
func addVary(h http.Header, name string) {
	if names := h.Get("Vary"); names != "" {
		name = names + ", " + name
	}
	h["Vary"] = []string{name}
}

// lingering is how long a connection that ends takes what its client still
// sends. A client that meets a reset while it sends may never read the response.
const lingering = 500 * time.Millisecond

// IsLast reports whether a request must be the last of its connection: because
// no one reads its body of more than limit bytes, or because it may have both a
// Content-Length, which net/http hides, and a Transfer-Encoding (RFC 9112, section 6.1).
func IsLast(r *http.Request, limit int64) bool {
	return len(r.TransferEncoding) > 0 || r.ContentLength > limit
}

// EndConnection makes the response the last of its connection. The caller calls done
// when the request has been handled: done sends the response, and net/http then waits no
// longer than lingering for the rest of the body.
func EndConnection(w http.ResponseWriter) (done func()) {
	w.Header()["Connection"] = []string{"close"}
	return func() { http.NewResponseController(w).SetReadDeadline(time.Now().Add(lingering)) }
}

// maxLinkedQuery is the longest query, in bytes, that all links repeat: many clients and proxies
// refuse headers of more than 8 KB.
const maxLinkedQuery = 2000

// Links returns the Link header (RFC 8288) of one page of a list: links to the
// first, previous, next and last page, with all parameters of the query but page and
// cursor. There is a next one if there is a cursor, which it has. The query must be
// well-formed. If a link would have over 2000 bytes Links returns the next one alone.
func Links(path, rawQuery string, page, totalPages int64, cursor string) string {
	// To package url a bare semicolon is an error, to browsers it is not.
	query, _ := url.ParseQuery(strings.ReplaceAll(rawQuery, ";", "%3B"))
	query.Del("page")
	query.Del("cursor")
	base := path + "?"
	if len(query) > 0 {
		base += query.Encode() + "&"
	}
	link := func(rel, parameters string, page int64) string {
		return fmt.Sprintf(`<%s%spage=%d>; rel="%s"`, base, parameters, page, rel)
	}
	next := ""
	if cursor != "" {
		next = link("next", "cursor="+cursor+"&", page+1)
	}
	if len(base) > maxLinkedQuery {
		return next
	}
	last := max(totalPages, 1)
	links := link("first", "", 1)
	if page > 1 {
		links += ", " + link("prev", "", min(page-1, last))
	}
	if next != "" {
		links += ", " + next
	}
	return links + ", " + link("last", "", last)
}
