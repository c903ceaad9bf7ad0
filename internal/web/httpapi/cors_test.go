package httpapi_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

const (
	roster  = "https://roster.example.org"
	wallMap = "http://localhost:3000"
)

// handleCORS returns the response to a request, and whether it was answered.
func handleCORS(origins []string, method string, headers ...string) (*httptest.ResponseRecorder, bool) {
	r, w := newRequest(headers...), httptest.NewRecorder()
	r.Method = method
	answered := httpapi.AllowOrigins(w, r, origins)
	return w, answered
}

func TestCORS(t *testing.T) {
	t.Parallel()
	allowed := []string{roster, wallMap}
	preflight := []string{"Access-Control-Request-Method", "PUT"}
	const exposed = "Access-Control-Expose-Headers:[Accept-Patch, Content-Disposition, Content-Encoding, Date, ETag, Idempotency-Replayed, Link, Location, " +
		"RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id]"
	const may = "Access-Control-Allow-Headers:[Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, X-Request-Id] " +
		"Access-Control-Allow-Methods:[GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS] "
	for _, tt := range []struct {
		name, method string
		origins      []string
		headers      []string
		answered     bool
		want         string
	}{
		{"no origins", "GET", nil, []string{"Origin", roster}, false, ""},
		{"no origins, preflight", "OPTIONS", nil, append(preflight, "Origin", roster), false, ""},
		{"no origin sent", "GET", allowed, nil, false, "Vary:[Origin]"},
		{"another origin", "GET", allowed, []string{"Origin", roster + ".evil.example"}, false, "Vary:[Origin]"},
		{"another origin, preflight", "OPTIONS", allowed, append(preflight, "Origin", "null"), false, "Vary:[Origin]"},
		{"simple", "GET", allowed, []string{"Origin", wallMap}, false,
			"Access-Control-Allow-Origin:[" + wallMap + "] " + exposed + " Vary:[Origin]"},
		{"not a preflight", "OPTIONS", allowed, []string{"Origin", roster}, false,
			"Access-Control-Allow-Origin:[" + roster + "] " + exposed + " Vary:[Origin]"},
		{"not OPTIONS", "PUT", allowed, append(preflight, "Origin", roster), false,
			"Access-Control-Allow-Origin:[" + roster + "] " + exposed + " Vary:[Origin]"},
		{"preflight", "OPTIONS", allowed, append(preflight, "Origin", roster), true,
			may + "Access-Control-Allow-Origin:[" + roster + "] " + exposed + " Access-Control-Max-Age:[600] Vary:[Origin]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, answered := handleCORS(tt.origins, tt.method, tt.headers...)
			if answered != tt.answered || answered && (w.Code != 204 || w.Body.Len() > 0) {
				t.Errorf("answered is %t, with %d %s", answered, w.Code, w.Body)
			}
			if got := fmt.Sprint(w.Header()); got != "map["+tt.want+"]" {
				t.Errorf("\ngot  %s\nwant map[%s]", got, tt.want)
			}
		})
	}
}

// TestOrigins: an origin is allowed only if it is sent exactly as configured.
func TestOrigins(t *testing.T) {
	t.Parallel()
	for _, origin := range []string{"", "null", "*", "https://", "https://ROSTER.example.org", roster + "/", roster + ":443",
		"http://roster.example.org", "http://localhost:3001", roster + ", " + wallMap, roster + ".evil.example"} {
		w, _ := handleCORS([]string{roster, wallMap}, "GET", "Origin", origin)
		if got := w.Header().Get("Access-Control-Allow-Origin"); got != "" {
			t.Errorf("%q may as %s", origin, got)
		}
	}
}

func TestValidOrigin(t *testing.T) {
	t.Parallel()
	for _, origin := range []string{roster, wallMap, "http://[::1]:8000", "http://192.0.2.1", "https://xn--rzte-loa.example"} {
		if !httpapi.ValidOrigin(origin) {
			t.Errorf("%s is refused", origin)
		}
	}
	for _, origin := range strings.Fields("* null roster.example.org https:// https://:8000 https://*.example.org https://Roster.example.org " +
		"HTTPS://roster.example.org ftp://example.org https://a@example.org http://localhost:80 http://localhost: https://ärzte.example https://a:x " +
		roster + "/ " + roster + "/x " + roster + "? " + roster + "# " + roster + ":443 " + roster + "," + roster) {
		if httpapi.ValidOrigin(origin) {
			t.Errorf("%s is valid", origin)
		}
	}
	if httpapi.ValidOrigin("") || httpapi.ValidOrigin("https://a b") {
		t.Error("an origin that is empty or has a space is valid")
	}
}
