package httpapi_test

import (
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

func TestReadBody(t *testing.T) {
	t.Parallel()
	const limit = 64
	whole := func(size int) io.Reader { return strings.NewReader(strings.Repeat("x", size)) }
	for _, tt := range []struct {
		name   string
		body   io.Reader
		status int
		detail string
	}{
		{"empty", whole(0), 0, ""},
		{"largest", whole(limit), 0, ""},
		{"too large", whole(limit + 1), 413, "The body must not exceed 64 bytes."},
		{"much too large", whole(1 << 20), 413, "The body must not exceed 64 bytes."},
		{"behind a byte order mark", io.MultiReader(strings.NewReader("\ufeff"), whole(5)), 0, ""},
		{"unfinished", io.MultiReader(whole(5), iotest.ErrReader(io.ErrUnexpectedEOF)), 400, "The body ended early or could not be read."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest("POST", "/", tt.body)
			body, err := httpapi.ReadBody(httptest.NewRecorder(), r, limit)
			checkProblem(t, err, tt.status, tt.detail)
			if err == nil && strings.Trim(string(body), "x") != "" {
				t.Errorf("read %q", body)
			}
		})
	}
}

// TestDeclaredTooLarge checks that a body is not read if it is declared too large.
func TestDeclaredTooLarge(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest("POST", "/", iotest.ErrReader(errors.New("was read")))
	r.ContentLength = 65
	_, err := httpapi.ReadBody(httptest.NewRecorder(), r, 64)
	checkProblem(t, err, 413, "The body must not exceed 64 bytes.")
}

// checkProblem checks the status and detail of a problem. For status 0, err must be nil.
func checkProblem(t *testing.T, err error, status int, detail string) {
	t.Helper()
	var p *httpapi.Problem
	switch {
	case status == 0 && err != nil:
		t.Errorf("got %v", err)
	case status != 0 && (!errors.As(err, &p) || p.Status != status || p.Detail != detail):
		t.Errorf("got %v, want %d %s", err, status, detail)
	}
}

func TestBodyHeaders(t *testing.T) {
	t.Parallel()
	const wrongType, compressed = "Content-Type must be application/json, not ", "The body must not be compressed."
	for _, tt := range []struct{ name, value, detail string }{
		{"Content-Type", "", ""},
		{"Content-Type", "application/json", ""},
		{"Content-Type", "Application/JSON", ""},
		{"Content-Type", "application/json; charset=utf-8", ""},
		{"Content-Type", "application/json;charset=\"UTF-8\"", ""},
		{"Content-Type", "application/json; charset=utf8", ""},
		{"Content-Type", "application/json; charset=iso-8859-1", `The charset of Content-Type must be UTF-8, not "iso-8859-1".`},
		{"Content-Type", "application/x-www-form-urlencoded", wrongType + `"application/x-www-form-urlencoded".`},
		{"Content-Type", ";", wrongType + `";".`},
		{"Content-Encoding", "", ""},
		{"Content-Encoding", "Identity", ""},
		{"Content-Encoding", "gzip", compressed},
	} {
		t.Run(tt.name+" "+tt.value, func(t *testing.T) {
			r := httptest.NewRequest("PUT", "/", strings.NewReader("{}"))
			r.Header.Set(tt.name, tt.value)
			status := 0
			if tt.detail != "" {
				status = 415
			}
			_, err := httpapi.ReadBody(httptest.NewRecorder(), r, 64)
			checkProblem(t, err, status, tt.detail)
		})
	}
}

// TestMediaTypes checks that a patch can be a merge patch or JSON, and the Accept-Patch header.
func TestMediaTypes(t *testing.T) {
	t.Parallel()
	for contentType, detail := range map[string]string{
		"": "", "application/json": "", "application/merge-patch+json;charset=UTF-8": "",
		"text/plain": `Content-Type must be application/merge-patch+json or application/json, not "text/plain".`,
		"application/merge-patch+json;charset=utf-16": `The charset of Content-Type must be UTF-8, not "utf-16".`,
	} {
		r := httptest.NewRequest("PATCH", "/", strings.NewReader("{}"))
		if contentType != "" {
			r.Header.Set("Content-Type", contentType)
		}
		_, err := httpapi.ReadBody(httptest.NewRecorder(), r, 64)
		if detail == "" {
			checkProblem(t, err, 0, "")
			continue
		}
		checkProblem(t, err, 415, detail)
		if problem, _ := errors.AsType[*httpapi.Problem](err); problem.Header.Get("Accept-Patch") != httpapi.AcceptPatch {
			t.Errorf("%s: %v", contentType, problem.Header)
		}
	}
	r := httptest.NewRequest("POST", "/", strings.NewReader("{}"))
	r.Header["Content-Type"] = []string{"application/json", "application/json"}
	_, err := httpapi.ReadBody(httptest.NewRecorder(), r, 64)
	checkProblem(t, err, 400, "The request must not have more than one Content-Type header.")
}

func TestRequestIDs(t *testing.T) {
	t.Parallel()
	ids := httpapi.RequestIDs{Prefix: "p-"}
	for _, id := range []string{"abc-123_DEF.4", "7", strings.Repeat("x", 64)} {
		if got := ids.For(newRequest("X-Request-Id", id)); got != id {
			t.Errorf("id %q became %q", id, got)
		}
	}
	seen := map[string]bool{}
	for _, id := range []string{"", "a b", "a\tb", "<script>", "é", `"`, strings.Repeat("x", 65)} {
		got := ids.For(newRequest("X-Request-Id", id))
		if !strings.HasPrefix(got, "p-") || seen[got] || ids.For(newRequest("X-Request-Id", got)) != got {
			t.Errorf("id %q became %q", id, got)
		}
		seen[got] = true
	}
	if got := ids.For(newRequest()); !strings.HasPrefix(got, "p-") || seen[got] {
		t.Errorf("id of a request without one: %q", got)
	}
}

func TestIsLoopbackHost(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"localhost", "LocalHost", "localhost.", "app.localhost", "127.0.0.1", "127.1.2.3", "[::1]", "[::ffff:127.0.0.1]"} {
		if !httpapi.IsLoopbackHost(host) || !httpapi.IsLoopbackHost(host+":8080") {
			t.Errorf("%s is not recognized as loopback", host)
		}
	}
	for _, host := range []string{"", "x", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "notlocalhost", ".", "192.0.2.1",
		"0.0.0.0", "127.1", "2130706433", "[2001:db8::1]", "[::]", "[127.0.0.1]", "[localhost]", "::1", "[::1", "::1]", "[::1]x"} {
		if httpapi.IsLoopbackHost(host) || httpapi.IsLoopbackHost(host+":8080") {
			t.Errorf("%s is recognized as loopback", host)
		}
	}
	for _, host := range []string{"localhost:x", "localhost:80:80", "localhost:-1", "127.0.0.1:http"} {
		if httpapi.IsLoopbackHost(host) {
			t.Errorf("%s is recognized as loopback", host)
		}
	}
}

const idempotencyKey = "Idempotency-Key"

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	x255 := strings.Repeat("x", 255)
	for value, want := range map[string]string{
		"x": "x", "a,b;c=1": "a,b;c=1", "!#'()~": "!#'()~", "  padded\t": "padded", x255: x255, `"` + x255 + `"`: x255,
		`"a"`: "a", `"my key"`: "my key", `"a\"b"`: `a"b`, `"a\\b"`: `a\b`, "8e03978e-40d5-43dd-bc93-6894a57f9324": "8e03978e-40d5-43dd-bc93-6894a57f9324",
	} {
		if got, err := httpapi.IdempotencyKey(newRequest(idempotencyKey, value)); err != nil || got != want {
			t.Errorf("%s is %q, %v", value, got, err)
		}
	}
	if got, err := httpapi.IdempotencyKey(newRequest()); got != "" || err != nil {
		t.Errorf("request without a key: %q, %v", got, err)
	}
	if _, err := httpapi.IdempotencyKey(newRequest(idempotencyKey, "a", idempotencyKey, "a")); err == nil {
		t.Error("two keys were accepted")
	}
}

func TestInvalidIdempotencyKey(t *testing.T) {
	t.Parallel()
	const detail = "Idempotency-Key must be a single string of 1 to 255 visible ASCII characters."
	want := `{"type":"about:blank","title":"Bad Request","status":400,"code":"invalid","detail":"` + detail +
		`","errors":[{"field":"Idempotency-Key","code":"invalid","detail":"` + detail + `"}],"requestId":"mine"}`
	x256 := strings.Repeat("x", 256)
	for _, value := range []string{"", `""`, `"`, `"a`, `a"`, `"a"b`, "a b", "a\tb", `a\b`, `"a\b"`, `"a\`, "é", `"é"`, x256, `"` + x256 + `"`} {
		_, err := httpapi.IdempotencyKey(newRequest(idempotencyKey, value))
		if err == nil {
			t.Errorf("%q was accepted", value)
		} else if got := written(t, err).Body.String(); got != want {
			t.Errorf("%q: %s", value, got)
		}
	}
}

// FuzzIdempotencyKey checks that a key has 1 to 255 ASCII characters and is the same in quotes.
func FuzzIdempotencyKey(f *testing.F) {
	for _, seed := range []string{"x", `"a\"b"`, `"a\\b"`, `"my key"`, `"a"b`, ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		key, err := httpapi.IdempotencyKey(newRequest(idempotencyKey, value))
		if err != nil {
			return
		}
		invalid := func(c rune) bool { return c < ' ' || c > '~' }
		if key == "" || len(key) > 255 || strings.ContainsFunc(key, invalid) {
			t.Errorf("%q gives the key %q", value, key)
		}
		quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`
		if again, err := httpapi.IdempotencyKey(newRequest(idempotencyKey, quoted)); again != key || err != nil {
			t.Errorf("%q gives the key %q, but %s gives %q, %v", value, key, quoted, again, err)
		}
	})
}
