package httpapi_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

const current = `"current"` // the entity tag in these tests

var (
	errFailed      = httpapi.ErrPreconditionFailed
	errNotModified = httpapi.ErrNotModified
	errInvalid     = errors.New("invalid") // stands for any *Problem
)

// parse returns the conditions of a request with these headers, or errInvalid.
func parse(headers ...string) (httpapi.Conditions, error) {
	c, err := httpapi.ParseConditions(newRequest(headers...))
	var p *httpapi.Problem
	if errors.As(err, &p) && p.Status == 400 {
		return c, errInvalid
	}
	return c, err
}

// check returns the errors of a read and a write with these conditions.
func check(etag string, headers ...string) [2]error {
	c, err := parse(headers...)
	if err != nil {
		return [2]error{err, err}
	}
	return [2]error{c.CheckRead(etag), c.CheckWrite(etag)}
}

func TestETag(t *testing.T) {
	t.Parallel()
	one, other := httpapi.ETag([]byte("one")), httpapi.ETag([]byte("other"))
	if one == other || one != httpapi.ETag([]byte("one")) || !regexp.MustCompile(`^"[-_0-9A-Za-z]{16}"$`).MatchString(one) {
		t.Errorf("entity tags %s and %s", one, other)
	}
}

func TestIfMatch(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]error{
		`"current"`:              nil,
		`*`:                      nil,
		` * `:                    nil,
		`"x", "current"`:         nil,
		`"x","current",W/"y"`:    nil,
		`,, "a,b" , "current" ,`: nil,
		`W/"current"`:            nil, // from nginx
		`"x", W/"current"`:       nil,
		`"current-gzip"`:         nil, // from Apache
		`"current;gzip"`:         nil,
		`"current-zstd"`:         nil,
		`"current-br"`:           nil,
		`W/"current-deflate"`:    nil,
		`"x-gzip"`:               errFailed,
		`"current-gzip-gzip"`:    errFailed,
		`"current-xz"`:           errFailed,
		`"currentgzip"`:          errFailed,
		`"current-gzip"x`:        errInvalid,
		`"x"`:                    errFailed,
		`""`:                     errFailed,
		`"*"`:                    errFailed,
		`,`:                      errFailed,
		``:                       errFailed,
		`x`:                      errInvalid,
		`"current" "current"`:    errInvalid,
		`"current"x`:             errInvalid,
		`"x`:                     errInvalid,
		`"x y"`:                  errInvalid,
		`*, "current"`:           errInvalid,
		`"current", *`:           errInvalid,
	} {
		if got := check(current, "If-Match", value); got != [2]error{want, want} {
			t.Errorf("%s: %v, want %v", value, got, want)
		}
	}
	if got := check(current, "If-Match", `"x"`, "If-Match", current); got != [2]error{} {
		t.Errorf("the second header was ignored: %v", got)
	}
	if got := check(`W/`+current, "If-Match", `W/`+current); got != [2]error{errFailed, errFailed} {
		t.Errorf("a weak tag passed the strong comparison: %v", got)
	}
}

func TestIfNoneMatch(t *testing.T) {
	t.Parallel()
	for value, want := range map[string][2]error{
		`"current"`:            {errNotModified, errFailed},
		`W/"current"`:          {errNotModified, errFailed},
		`"x", W/"y","current"`: {errNotModified, errFailed},
		`"current-gzip"`:       {errNotModified, errFailed},
		`W/"current;br"`:       {errNotModified, errFailed},
		`"x-gzip"`:             {},
		`*`:                    {errNotModified, errFailed},
		`"x"`:                  {},
		`W/"x"`:                {},
		`,`:                    {},
		`x`:                    {errInvalid, errInvalid},
		`*,"x"`:                {errInvalid, errInvalid},
	} {
		for _, etag := range []string{current, "W/" + current} {
			if got := check(etag, "If-None-Match", value); got != want {
				t.Errorf("%s with the tag %s: %v, want %v", value, etag, got, want)
			}
		}
	}
}

func TestConditions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		headers []string
		want    [2]error
	}{
		{nil, [2]error{}},
		{[]string{"If-Modified-Since", "Sat, 21 Nov 2026 00:00:00 GMT"}, [2]error{}},
		{[]string{"If-Match", `"x"`, "If-None-Match", current}, [2]error{errFailed, errFailed}},
		{[]string{"If-Match", current, "If-None-Match", current}, [2]error{errNotModified, errFailed}},
		{[]string{"If-Match", current, "If-None-Match", `"x"`}, [2]error{}},
	} {
		if got := check(current, tt.headers...); got != tt.want {
			t.Errorf("%q: %v, want %v", tt.headers, got, tt.want)
		}
		c, _ := parse(tt.headers...)
		if c.IsZero() != !slices.ContainsFunc(tt.headers, func(h string) bool { return strings.HasSuffix(h, "Match") }) {
			t.Errorf("%q: IsZero = %t", tt.headers, c.IsZero())
		}
	}
}

// TestInvalidConditions checks that all errors are reported at once.
func TestInvalidConditions(t *testing.T) {
	t.Parallel()
	_, err := httpapi.ParseConditions(newRequest("If-None-Match", "x", "If-Match", "y"))
	const want = `{"type":"about:blank","title":"Bad Request","status":400,"code":"invalid",` +
		`"detail":"There are 2 faults. The first: If-Match must be * or a list of entity tags, like \"xyzzy\".",` +
		`"errors":[{"field":"If-Match","code":"invalid","detail":"If-Match must be * or a list of entity tags, like \"xyzzy\"."},` +
		`{"field":"If-None-Match","code":"invalid","detail":"If-None-Match must be * or a list of entity tags, like \"xyzzy\"."}],"requestId":"mine"}`
	if got := written(t, err).Body.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The grammar of If-Match as a regular expression, without the asterisk.
var (
	tagListForm = regexp.MustCompile(`^[ \t,]*((W/)?"[^\x00-\x20\x7f"]*"[ \t]*(,[ \t,]*|$))*$`)
	tagForm     = regexp.MustCompile(`(W/)?"[^"]*"`)
)

// FuzzParseETags compares the parser with the grammar and looks up each tag.
func FuzzParseETags(f *testing.F) {
	for _, seed := range []string{``, `*`, `"a"`, `W/"a", "b"`, `"a,b",,`, `"`, `W/`, "\"\x80\""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := parse("If-Match", text)
		anyTag := strings.Trim(text, " \t,") == "*"
		if valid := anyTag || tagListForm.MatchString(text); valid != (err == nil) {
			t.Fatalf("%q: %v", text, err)
		}
		if err != nil {
			return
		}
		for _, tag := range tagForm.FindAllString(text, -1) {
			if weak := strings.HasPrefix(tag, "W/"); (check(tag, "If-Match", text)[0] == errFailed) != weak {
				t.Errorf("%q does not match %q", text, tag)
			}
			if check(tag, "If-None-Match", text)[0] != errNotModified {
				t.Errorf("%q does not contain %q", text, tag)
			}
		}
		if other := `"` + text + `x"`; !anyTag && check(other, "If-Match", text)[0] != errFailed {
			t.Errorf("%q matches %q", text, other)
		}
	})
}
