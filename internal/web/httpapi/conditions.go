package httpapi

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

var (
	// ErrNotModified means that the client has the current representation.
	ErrNotModified = errors.New("not modified")
	// ErrPreconditionFailed means that a condition of the request is false.
	ErrPreconditionFailed = errors.New("precondition failed")
)

// ETag returns a strong entity tag for a body.
func ETag(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}

// Conditions are If-Match and If-None-Match (RFC 9110, section 13). The zero value is always met.
type Conditions struct{ match, noneMatch etagList }

// ParseConditions parses the conditions of a request. The error is a *Problem.
func ParseConditions(r *http.Request) (Conditions, error) {
	return parseConditions(r.Header["If-Match"], r.Header["If-None-Match"])
}

// ParseNoneMatch is ParseConditions for lists and documents, which ignore If-Match.
func ParseNoneMatch(r *http.Request) (Conditions, error) {
	return parseConditions(nil, r.Header["If-None-Match"])
}

func parseConditions(match, noneMatch []string) (Conditions, error) {
	var invalid []FieldError
	parse := func(name string, values []string) etagList {
		list, ok := parseETags(values)
		if !ok {
			invalid = append(invalid, invalidHeader(name, name+` must be * or a list of entity tags, like "xyzzy".`))
		}
		return list
	}
	c := Conditions{match: parse("If-Match", match), noneMatch: parse("If-None-Match", noneMatch)}
	if len(invalid) > 0 {
		return Conditions{}, InvalidFields(invalid...)
	}
	return c, nil
}

// IsZero reports whether there are no conditions, so that the entity tag need not be computed.
func (c Conditions) IsZero() bool { return c.match == nil && c.noneMatch == nil }

// CheckRead checks a GET or HEAD request. It returns nil, ErrPreconditionFailed or ErrNotModified.
func (c Conditions) CheckRead(etag string) error { return c.check(etag, ErrNotModified) }

// CheckWrite checks a write against the previous tag. It returns nil or ErrPreconditionFailed.
func (c Conditions) CheckWrite(etag string) error { return c.check(etag, ErrPreconditionFailed) }

func (c Conditions) check(etag string, known error) error {
	switch {
	case c.match != nil && !c.match.hasStrong(etag):
		return ErrPreconditionFailed
	case c.noneMatch.hasWeak(etag):
		return known
	}
	return nil
}

// etagList is the value of If-Match or If-None-Match; nil if the header is missing.
type etagList []string

// anyETag is the only element of an etagList that matches every entity tag.
const anyETag = "*"

// codingSuffix is what Apache and others append to the tag of a response that they compress.
var codingSuffix = regexp.MustCompile(`[-;](gzip|zstd|br|deflate)"$`)

// hasStrong uses the strong comparison (RFC 9110, section 8.8.3.2), in which a weak etag never matches.
// A weak tag in the list may match, because a compressing proxy, such as nginx, weakens tags.
func (l etagList) hasStrong(etag string) bool {
	return slices.Contains(l, anyETag) || !strings.HasPrefix(etag, "W/") && l.hasWeak(etag)
}

func (l etagList) hasWeak(etag string) bool {
	opaque := strings.TrimPrefix(etag, "W/")
	return slices.ContainsFunc(l, func(tag string) bool {
		tag = strings.TrimPrefix(tag, "W/")
		return tag == anyETag || tag == opaque || codingSuffix.ReplaceAllString(tag, `"`) == opaque
	})
}

// parseETags parses * or a list of entity tags (RFC 9110, section 8.8.3). A tag may contain a comma.
// Empty elements are ignored.
func parseETags(values []string) (list etagList, ok bool) {
	if len(values) == 0 {
		return nil, true
	}
	list = etagList{}
	rest := strings.Trim(strings.Join(values, ","), " \t,")
	if rest == anyETag {
		return etagList{anyETag}, true
	}
	for rest != "" {
		tag, after, ok := cutETag(rest)
		if !ok {
			return nil, false
		}
		list = append(list, tag)
		after = strings.TrimLeft(after, " \t")
		if after != "" && after[0] != ',' {
			return nil, false
		}
		rest = strings.TrimLeft(after, " \t,")
	}
	return list, true
}

func cutETag(text string) (tag, after string, ok bool) {
	opaque, isOpaque := strings.CutPrefix(strings.TrimPrefix(text, "W/"), `"`)
	opaque, after, closed := strings.Cut(opaque, `"`)
	invalid := func(c rune) bool { return c <= ' ' || c == 0x7f }
	if !isOpaque || !closed || strings.ContainsFunc(opaque, invalid) {
		return "", "", false
	}
	return text[:len(text)-len(after)], after, true
}
