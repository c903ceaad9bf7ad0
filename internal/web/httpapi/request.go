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

// The media types of bodies, all JSON in UTF-8.
const (
	JSON       = "application/json"
	MergePatch = "application/merge-patch+json" // RFC 7396
)

// AcceptPatch are the media types that a patch may have: many clients send JSON as JSON,
// whatever it means. It is the content of a header (RFC 5789, section 3.1).
const AcceptPatch = MergePatch + ", " + JSON

// ReadBody reads a JSON body of at most limit bytes, without a byte order mark. It reads
// nothing of one that is declared to be larger. The error is a *Problem.
func ReadBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if err := checkType(r); err != nil {
		return nil, err
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, &Problem{Kind: ContentType, Detail: "The body must not be compressed."}
	}
	tooLarge := &Problem{Kind: TooLarge, Detail: fmt.Sprintf("The body may have at most %d bytes.", limit)}
	if r.ContentLength > limit {
		return nil, tooLarge
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return nil, tooLarge
	case err != nil:
		return nil, &Problem{Kind: Malformed, Detail: "The body could not be read to its end."}
	}
	return bytes.TrimPrefix(body, []byte("\ufeff")), nil
}

// CheckOneType refuses a request with two headers Content-Type: a proxy may believe the
// other one.
func CheckOneType(r *http.Request) error {
	if len(r.Header["Content-Type"]) > 1 {
		return &Problem{Kind: Malformed, Detail: "The request may have one header Content-Type."}
	}
	return nil
}

// checkType refuses a body that is not said to be JSON in UTF-8. One of which nothing is
// said is taken for that.
func checkType(r *http.Request) error {
	values := r.Header["Content-Type"]
	if len(values) == 0 || len(values) == 1 && values[0] == "" {
		return nil
	}
	if err := CheckOneType(r); err != nil {
		return err
	}
	mediaType, params, err := mime.ParseMediaType(values[0])
	charset, given := params["charset"]
	switch patch := r.Method == http.MethodPatch; {
	case err == nil && (mediaType == JSON || patch && mediaType == MergePatch) &&
		(!given || strings.EqualFold(charset, "utf-8") || strings.EqualFold(charset, "utf8")):
		return nil
	case patch:
		return &Problem{Kind: ContentType, Detail: "The body must be of Content-Type " + MergePatch + " or " + JSON + ".",
			Header: http.Header{"Accept-Patch": {AcceptPatch}}} // RFC 5789, section 2.2
	default:
		return &Problem{Kind: ContentType, Detail: "The body must be of Content-Type " + JSON + "."}
	}
}

// RequestIDs makes ids for requests that have none.
type RequestIDs struct {
	Prefix string // random, so that the ids of two runs of a program differ
	last   atomic.Uint64
}

// For returns the X-Request-Id of the request, or a new id if it has none that
// is safe in a log and in a header.
func (ids *RequestIDs) For(r *http.Request) string {
	const safe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."
	if id := r.Header.Get("X-Request-Id"); id != "" && len(id) <= 64 && strings.Trim(id, safe) == "" {
		return id
	}
	return ids.Prefix + strconv.FormatUint(ids.last.Add(1), 36)
}

// IsLoopbackHost reports whether a Host header names the machine itself. The
// page of another site can make its own name lead to this machine (DNS
// rebinding); the browser then sends that name.
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
	if addr, err := netip.ParseAddr(name); err == nil {
		return addr.IsLoopback() && addr.Is6() == bracketed
	}
	return !bracketed && (name == "localhost" || strings.HasSuffix(name, ".localhost"))
}

// maxIdempotencyKey is the longest key, in characters.
const maxIdempotencyKey = 255

// idempotencyKey matches an RFC 9651 string, or bare visible characters as many clients
// send them.
var idempotencyKey = regexp.MustCompile(`^(?:"((?:[ !#-\[\]-~]|\\["\\])*)"|[!#-\[\]-~]+)$`)

var unescape = strings.NewReplacer(`\\`, `\`, `\"`, `"`)

// IdempotencyKey returns the Idempotency-Key of the request, "" if it has none
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
			"Idempotency-Key must be one text of 1 to 255 visible ASCII characters."))
	}
	return key, nil
}
