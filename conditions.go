package main

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"firefighters/internal/record"
)

// Conditional requests, as RFC 9110 section 13 has them.

// etagOf is the strong entity tag of a record as it is answered.
func etagOf(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}

// conditions are those of a request. The zero value is always met.
type conditions struct {
	match, noneMatch etagList
}

// etagList is what an If-Match or If-None-Match header says; nil where there
// is none.
type etagList []string

// anyTag is an etagList's * for whatever there is.
const anyTag = "*"

var (
	// errChanged is for a condition that a record does not meet.
	errChanged = errors.New("the record is not what the request asks for")
	// errNotModified is for who has the newest already.
	errNotModified = errors.New("not modified")
)

func conditionsOf(r *http.Request) (c conditions, err error) {
	var faults record.FieldErrors
	read := func(name string) (list etagList) {
		given, ok := r.Header[name], true
		if len(given) > 0 {
			list, ok = parseETags(strings.Join(given, ","))
		}
		if !ok {
			faults.Add(name, record.Invalid, `%s must be * or a list of entity tags, like "xyzzy".`, name)
		}
		return list
	}
	c = conditions{match: read("If-Match"), noneMatch: read("If-None-Match")}
	if len(faults) > 0 {
		return conditions{}, faults
	}
	return c, nil
}

// parseETags reads * or a list of entity tags (RFC 9110, section 8.8.3), in
// which a comma may stand. Empty elements count for nothing.
func parseETags(text string) (list etagList, ok bool) {
	list = etagList{}
	rest := strings.Trim(text, " \t,")
	if rest == anyTag {
		return etagList{anyTag}, true
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

// cutETag gives the entity tag that text begins with, and what is after it.
func cutETag(text string) (tag, after string, ok bool) {
	opaque, weak := strings.CutPrefix(text, "W/")
	if !strings.HasPrefix(opaque, `"`) {
		return "", "", false
	}
	length := strings.IndexByte(opaque[1:], '"')
	odd := func(c rune) bool { return c <= ' ' || c == 0x7f }
	if length < 0 || strings.ContainsFunc(opaque[1:1+length], odd) {
		return "", "", false
	}
	end := length + len(`""`)
	if weak {
		end += len("W/")
	}
	return text[:end], text[end:], true
}

// has tells whether the list names an entity tag. In the strong comparison a
// weak one is never the same.
func (l etagList) has(etag string, strong bool) bool {
	for _, tag := range l {
		if tag == anyTag || tag == etag && !(strong && strings.HasPrefix(tag, "W/")) ||
			!strong && strings.TrimPrefix(tag, "W/") == strings.TrimPrefix(etag, "W/") {
			return true
		}
	}
	return false
}

// check gives errChanged or, where a reading is to be spared, errNotModified.
func (c conditions) check(etag string, reading bool) error {
	switch {
	case c.match != nil && !c.match.has(etag, true):
		return errChanged
	case !c.noneMatch.has(etag, false):
		return nil
	case reading:
		return errNotModified
	}
	return errChanged
}

// checkBefore is check for a record that is about to change.
func (c conditions) checkBefore(f record.Firefighter) error {
	if c.match == nil && c.noneMatch == nil {
		return nil
	}
	return c.check(etagOf(f.AppendJSON(nil)), false)
}

// checkList gives errNotModified for a list that the client has, without
// reading it.
func (s *server) checkList(w http.ResponseWriter, r *http.Request, c caller) error {
	on, err := conditionsOf(r)
	if err != nil || on.match == nil && on.noneMatch == nil {
		return err
	}
	version, err := s.store.version(c.tenant)
	if err != nil {
		return err
	}
	etag := s.listTag(c.tenant, version)
	if err = on.check(etag, true); err != nil {
		w.Header()["Etag"] = []string{etag}
	}
	return err
}

// listTag is the weak entity tag of all lists of a department at a version. It
// is of one start of the program, for a restored database counts again what it
// has counted before.
func (s *server) listTag(tenant tenantID, version int64) string {
	return `W/"` + s.idPrefix + strconv.FormatInt(int64(tenant), 36) + "-" + strconv.FormatInt(version, 36) + `"`
}
