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

// Header values that all responses share. They must not be modified.
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

// SetSecurityHeaders sets the security headers of every response. They forbid caching and prevent
// browsers from running the response as a page or script. With tls, browsers use only HTTPS for a
// year.
func SetSecurityHeaders(h http.Header, tls bool) {
	for _, header := range securityHeaders {
		h[header.name] = header.value
	}
	if tls {
		h["Strict-Transport-Security"] = strictTransport
	}
}

// Respond sends a complete body. The Content-Type defaults to JSON.
func Respond(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	if h["Content-Type"] == nil {
		h["Content-Type"] = jsonType
	}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	w.Write(body) // an error means that the client has disconnected
}

// RespondJSON sends a value as JSON, without HTML escapes. If it returns an error, nothing was sent.
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

func addVary(h http.Header, name string) {
	if names := h.Get("Vary"); names != "" {
		name = names + ", " + name
	}
	h["Vary"] = []string{name}
}

// lingering is how long a closing connection still reads from the client. If the connection were
// reset while the client sends, the client might never read the response.
const lingering = 500 * time.Millisecond

// IsLast reports whether a request must be the last on its connection: its body exceeds limit and
// may stay unread, or it has a Transfer-Encoding and possibly also a Content-Length, which net/http
// hides (RFC 9112, section 6.1).
func IsLast(r *http.Request, limit int64) bool {
	return len(r.TransferEncoding) > 0 || r.ContentLength > limit
}

// EndConnection closes the connection after the response. The caller must call done after handling
// the request. net/http then reads the rest of the body for at most lingering.
func EndConnection(w http.ResponseWriter) (done func()) {
	w.Header()["Connection"] = []string{"close"}
	return func() { http.NewResponseController(w).SetReadDeadline(time.Now().Add(lingering)) }
}

// maxLinks is the maximum size of all links of a page, in bytes. By default, nginx accepts responses
// with 4 KB of headers.
const maxLinks = 2500

// Links returns the Link header (RFC 8288) of one page of a list, with links to the first, previous,
// next and last page. They repeat the query without page and cursor. The next link contains cursor,
// and exists only if cursor is not empty. The query must be valid. Links returns only the next link
// if all links together exceed 2500 bytes.
func Links(path, rawQuery string, page, totalPages int64, cursor string) string {
	// Package url rejects a bare semicolon; browsers send it.
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
	last := max(totalPages, 1)
	links := link("first", "", 1)
	if page > 1 {
		links += ", " + link("prev", "", min(page-1, last))
	}
	if next != "" {
		links += ", " + next
	}
	if links += ", " + link("last", "", last); len(links) > maxLinks {
		return next
	}
	return links
}
