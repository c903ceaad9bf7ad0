package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
)

// Media types of request bodies, which are JSON in UTF-8.
const (
	JSON       = "application/json"
	MergePatch = "application/merge-patch+json" // RFC 7396
)

// AcceptPatch is the Accept-Patch header (RFC 5789). Many clients send a merge patch as plain JSON.
const AcceptPatch = MergePatch + ", " + JSON

// ReadBody reads a JSON body of at most limit bytes and removes a byte order mark. It rejects a
// larger Content-Length without reading. The error is a *Problem.
func ReadBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if err := checkType(r); err != nil {
		return nil, err
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, &Problem{Kind: ContentType, Detail: "The body must not be compressed."}
	}
	tooLarge := &Problem{Kind: TooLarge, Detail: fmt.Sprintf("The body must not exceed %d bytes.", limit)}
	if r.ContentLength > limit {
		return nil, tooLarge
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return nil, tooLarge
	case err != nil:
		return nil, &Problem{Kind: Malformed, Detail: "The body ended early or could not be read."}
	}
	return bytes.TrimPrefix(body, []byte("\ufeff")), nil
}

// CheckOneType rejects two Content-Type headers, because a proxy may use the other one.
func CheckOneType(r *http.Request) error {
	if len(r.Header["Content-Type"]) > 1 {
		return &Problem{Kind: Malformed, Detail: "The request must not have more than one Content-Type header."}
	}
	return nil
}

// checkType rejects a Content-Type other than JSON in UTF-8. The header may be missing.
func checkType(r *http.Request) error {
	values := r.Header["Content-Type"]
	if len(values) == 0 || len(values) == 1 && values[0] == "" {
		return nil
	}
	if err := CheckOneType(r); err != nil {
		return err
	}
	mediaType, params, err := mime.ParseMediaType(values[0])
	charset, hasCharset := params["charset"]
	patch := r.Method == http.MethodPatch
	isJSON := err == nil && (mediaType == JSON || patch && mediaType == MergePatch)
	if isJSON && (!hasCharset || strings.EqualFold(charset, "utf-8") || strings.EqualFold(charset, "utf8")) {
		return nil
	}
	p, types := &Problem{Kind: ContentType}, JSON
	if patch {
		p.Header, types = http.Header{"Accept-Patch": {AcceptPatch}}, MergePatch+" or "+JSON // RFC 5789, section 2.2
	}
	if p.Detail = fmt.Sprintf("Content-Type must be %s, not %.100q.", types, values[0]); isJSON {
		p.Detail = fmt.Sprintf("The charset of Content-Type must be UTF-8, not %.100q.", charset)
	}
	return p
}

// RequestIDs creates request ids.
type RequestIDs struct {
	Prefix string // random, so that ids differ after a restart
	last   atomic.Uint64
}

// For returns the request's X-Request-Id if it is safe for logs and headers, otherwise a new id.
func (ids *RequestIDs) For(r *http.Request) string {
	const safe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."
	if id := r.Header.Get("X-Request-Id"); id != "" && len(id) <= 64 && strings.Trim(id, safe) == "" {
		return id
	}
	return ids.Prefix + strconv.FormatUint(ids.last.Add(1), 36)
}

// IsLoopbackHost reports whether a Host header names the computer itself. Rejecting other names
// prevents DNS rebinding, in which a website lets its own name resolve to this computer.
func IsLoopbackHost(host string) bool {
	name, port, err := net.SplitHostPort(host)
	if err != nil { // there may be no port
		name, port, err = net.SplitHostPort(host + ":")
	}
	if err != nil || strings.Trim(port, "0123456789") != "" {
		return false
	}
	bracketed := strings.HasPrefix(host, "[")
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return !bracketed
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.IsLoopback() && addr.Is6() == bracketed
}

// maxIdempotencyKey is the maximum length of a key, in characters.
const maxIdempotencyKey = 255

// idempotencyKey matches a String of RFC 9651, or the bare characters that many clients send.
var idempotencyKey = regexp.MustCompile(`^(?:"((?:[ !#-\[\]-~]|\\["\\])*)"|[!#-\[\]-~]+)$`)

var unescape = strings.NewReplacer(`\\`, `\`, `\"`, `"`)

// IdempotencyKey returns the Idempotency-Key of the request, or "" if it has none
// (draft-ietf-httpapi-idempotency-key-header). The error is a *Problem.
func IdempotencyKey(r *http.Request) (string, error) {
	values := r.Header["Idempotency-Key"]
	if len(values) == 0 {
		return "", nil
	}
	key := strings.Trim(values[0], " \t")
	match := idempotencyKey.FindStringSubmatch(key)
	if strings.HasPrefix(key, `"`) && match != nil {
		key = unescape.Replace(match[1])
	}
	if len(values) > 1 || match == nil || key == "" || len(key) > maxIdempotencyKey {
		return "", InvalidFields(invalidHeader("Idempotency-Key",
			"Idempotency-Key must be a single string of 1 to 255 visible ASCII characters."))
	}
	return key, nil
}
