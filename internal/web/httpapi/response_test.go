package httpapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

func TestRespond(t *testing.T) {
	t.Parallel()
	for contentType, want := range map[string]string{"": "application/json; charset=utf-8", "text/x": "text/x"} {
		w := httptest.NewRecorder()
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		httpapi.Respond(w, 201, []byte(`{"a":1}`))
		if got := fmt.Sprint(w.Code, w.Header(), w.Body); got != fmt.Sprintf(`201 map[Content-Length:[7] Content-Type:[%s]] {"a":1}`, want) {
			t.Errorf("got %s", got)
		}
	}
}

// TestRespondJSON: what is no JSON is an error, and not an empty answer.
func TestRespondJSON(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	if err := httpapi.RespondJSON(w, 201, map[string]string{"a": "<&>\u2028"}); err != nil || w.Code != 201 || w.Body.String() != `{"a":"<&>\u2028"}` {
		t.Errorf("%d %s, %v", w.Code, w.Body, err)
	}
	w = httptest.NewRecorder()
	if err := httpapi.RespondJSON(w, 201, make(chan int)); err == nil || len(w.Header()) > 0 || w.Body.Len() > 0 {
		t.Errorf("%v %s, %v", w.Header(), w.Body, err)
	}
}

func TestSecurityHeaders(t *testing.T) {
	t.Parallel()
	want := http.Header{
		"Cache-Control":                {"no-store"},
		"X-Content-Type-Options":       {"nosniff"},
		"Content-Security-Policy":      {"default-src 'none'; frame-ancestors 'none'"},
		"Referrer-Policy":              {"no-referrer"},
		"Cross-Origin-Resource-Policy": {"same-origin"},
		"X-Frame-Options":              {"DENY"},
	}
	for _, tls := range []bool{false, true} {
		if tls {
			want.Set("Strict-Transport-Security", "max-age=31536000")
		}
		h := http.Header{}
		httpapi.SetSecurityHeaders(h, tls)
		if fmt.Sprint(h) != fmt.Sprint(want) {
			t.Errorf("TLS %t: %v", tls, h)
		}
		for name := range h { // what one response adds is not in the next
			h.Add(name, "changed")
		}
	}
}

func TestDeprecation(t *testing.T) {
	t.Parallel()
	zagreb := time.FixedZone("CET", 3600)
	h := http.Header{"Link": {"first"}}
	(*httpapi.Deprecation)(nil).Announce(h)
	if len(h) != 1 {
		t.Errorf("announced though nothing is deprecated: %v", h)
	}
	old := &httpapi.Deprecation{Since: time.Date(2026, 11, 20, 1, 0, 0, 0, zagreb),
		Sunset: time.Date(2027, 12, 1, 0, 30, 0, 0, zagreb), Link: "https://example.org/api#old"}
	old.Announce(h)
	want := `[@1795132800] [Tue, 30 Nov 2027 23:30:00 GMT] [first <https://example.org/api#old>; rel="deprecation"; type="text/html"]`
	if got := fmt.Sprint(h["Deprecation"], h["Sunset"], h["Link"]); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
