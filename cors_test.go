package main

import (
	"fmt"

	"path/filepath"
	"strings"
	"testing"
)

const (
	roster   = "https://roster.example.org"
	wallMap  = "http://localhost:3000"
	stranger = "https://roster.example.org.evil.example"
)

// corsPaths are all that there is, and what is not.
var corsPaths = []string{collection, collection + "/" + nobody, collection + "/x", "/api/v1/whoami", "/healthz", "/readyz", "/nothing", "/"}

// corsHeaders gives those headers that a browser reads, as one text.
func (a answer) corsHeaders() (text string) {
	for _, name := range []string{"Allow-Origin", "Allow-Credentials", "Allow-Methods", "Allow-Headers", "Max-Age", "Expose-Headers"} {
		if values := a.header.Values("Access-Control-" + name); values != nil {
			text += name + fmt.Sprint(values) + " "
		}
	}
	return text
}

// preflight asks as a browser does, without a key.
func (s *service) preflight(t *testing.T, path, origin, method string) answer {
	t.Helper()
	return s.as("").do(t, "OPTIONS", path, "", "Origin", origin, "Access-Control-Request-Method", method,
		"Access-Control-Request-Headers", "authorization,content-type,if-match")
}

// TestWithoutCORS: unless told otherwise the service has never heard of it.
func TestWithoutCORS(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.create(t, ana)
	for _, path := range corsPaths {
		for _, a := range []answer{s.do(t, "GET", path, "", "Origin", roster), s.preflight(t, path, roster, "GET")} {
			if got := a.corsHeaders(); got != "" || strings.Contains(a.header.Get("Vary"), "Origin") {
				t.Errorf("%s: %d %s, Vary %q", path, a.status, got, a.header["Vary"])
			}
		}
	}
}

func startCORS(t *testing.T) *service {
	t.Helper()
	db := filepath.Join(t.TempDir(), "x.db")
	return startWith(t, db, "serve", "--db", db, "--cors-origin", roster, "--cors-origin", wallMap)
}

// TestCORS: pages of the origins that are told may read what they are
// answered, refusals too; others may not.
func TestCORS(t *testing.T) {
	t.Parallel()
	s := startCORS(t)
	made := s.do(t, "POST", collection, ana, "Origin", roster).wants(t, 201)
	for _, origin := range []string{roster, wallMap} {
		want := "Allow-Origin[" + origin + "] Expose-Headers[" + corsExposed + "] "
		for _, path := range append(corsPaths, made.header.Get("Location")) {
			for _, c := range []client{s.client, s.as(""), s.as("wrong")} {
				for _, method := range []string{"GET", "HEAD", "PUT"} {
					a := c.do(t, method, path, ana, "Origin", origin)
					if a.corsHeaders() != want || !strings.HasPrefix(strings.Join(a.header["Vary"], ", "), "Origin") {
						t.Errorf("%s %s: %d, %s, not %s, Vary %q", method, path, a.status, a.corsHeaders(), want, a.header["Vary"])
					}
				}
			}
		}
	}
	for _, origin := range []string{stranger, "null", "https://ROSTER.example.org", roster + "/", roster + ":443", "http://roster.example.org",
		"http://localhost:3001", roster + ", " + wallMap, "*", "https://"} {
		a := s.do(t, "GET", collection, "", "Origin", origin).wants(t, 200)
		if got := a.corsHeaders() + s.preflight(t, collection, origin, "GET").corsHeaders(); got != "" {
			t.Errorf("%s may: %s", origin, got)
		}
		if fmt.Sprint(a.header["Vary"]) != "[Origin Accept-Encoding]" {
			t.Errorf("Vary: %q", a.header["Vary"])
		}
	}
	if a := s.do(t, "GET", "/healthz", ""); a.corsHeaders() != "" || a.header.Get("Vary") != "Origin" {
		t.Errorf("without an Origin: %v", a.header)
	}
}

// TestPreflight: a browser asks before it sends a key, and for any path.
func TestPreflight(t *testing.T) {
	t.Parallel()
	s := startCORS(t)
	for _, path := range corsPaths {
		for _, method := range []string{"GET", "PUT", "DELETE", "BREW"} {
			a := s.preflight(t, path, wallMap, method).wants(t, 204)
			want := "Allow-Origin[" + wallMap + "] Allow-Methods[GET, HEAD, POST, PUT, DELETE, OPTIONS] " +
				"Allow-Headers[Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, X-Request-Id] Max-Age[600] " +
				"Expose-Headers[" + corsExposed + "] "
			if a.corsHeaders() != want || a.body != "" || a.header.Get("Vary") != "Origin" {
				t.Errorf("%s: %s, Vary %q", path, a.corsHeaders(), a.header["Vary"])
			}
		}
	}
	// An OPTIONS that is no preflight is what it is without CORS.
	a := s.as("").do(t, "OPTIONS", collection, "", "Origin", roster).wants(t, 204)
	if a.header.Get("Allow") == "" || a.header.Get("Access-Control-Allow-Methods") != "" {
		t.Errorf("%v", a.header)
	}
	s.as("").do(t, "OPTIONS", "/nothing", "", "Origin", roster).wants(t, 404)
	s.preflight(t, "/nothing", stranger, "GET").wants(t, 404)
}

// TestExposedHeaders: whatever header an answer may have, a page may read.
func TestExposedHeaders(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	s := startWith(t, db, "serve", "--db", db, "--cors-origin", roster, "--rate-limit", "1000")
	exposed := strings.ToLower(", " + corsExposed + ", ")
	// Those that a browser shows without being told, and those that are for it alone.
	unsaid := ", cache-control, content-language, content-length, content-type, expires, last-modified, pragma, vary, connection, allow, " +
		"x-content-type-options, content-security-policy, referrer-policy, cross-origin-resource-policy, x-frame-options, "
	made := s.do(t, "POST", collection, ana, idempotencyKey, "a")
	again := s.do(t, "POST", collection, ana, idempotencyKey, "a")
	for range 20 {
		s.create(t, ana)
	}
	for _, a := range []answer{made, again, s.do(t, "GET", collection, "", "Accept-Encoding", "gzip"), s.as("").do(t, "GET", collection, ""),
		s.do(t, "DELETE", made.header.Get("Location"), ""), s.do(t, "GET", "/nothing", "")} {
		for name := range a.header {
			name := ", " + strings.ToLower(name) + ", "
			if !strings.Contains(exposed, name) && !strings.Contains(unsaid, name) {
				t.Errorf("%d has a header that is not exposed: %s", a.status, name)
			}
		}
	}
}

func noOrigin(value string) string {
	return fmt.Sprintf("Error: --cors-origin takes an origin like https://roster.example.org, not %q\nTry: firefighters serve --help\n", value)
}

func TestCORSFlag(t *testing.T) {
	db := filepath.Join(t.TempDir(), "x.db")
	t.Setenv("FIREFIGHTERS_CORS_ORIGIN", roster+","+wallMap)
	s := startOn(t, db)
	for _, origin := range []string{roster, wallMap} {
		if a := s.do(t, "GET", collection, "", "Origin", origin); a.header.Get("Access-Control-Allow-Origin") != origin {
			t.Errorf("%s: %v", origin, a.header)
		}
	}
	s.stop(t)
	other := startWith(t, db, "serve", "--db", db, "--cors-origin", "http://[::1]:8000")
	for origin, want := range map[string]string{"http://[::1]:8000": "http://[::1]:8000", roster: ""} { // the command line wins
		if a := other.as(s.key).do(t, "GET", collection, "", "Origin", origin); a.header.Get("Access-Control-Allow-Origin") != want {
			t.Errorf("%s: %v", origin, a.header)
		}
	}
	other.stop(t)
	t.Setenv("FIREFIGHTERS_CORS_ORIGIN", "*")
	refuses(t, 2, noOrigin("*"), "serve", "--db", db, "--listen", "127.0.0.1:0")
	t.Setenv("FIREFIGHTERS_CORS_ORIGIN", "")
	for _, bad := range []string{"*", "null", "roster.example.org", roster + "/", roster + "/x", roster + "?", roster + "#", "https://", "https://:8000",
		"https://*.example.org", "https://Roster.example.org", "HTTPS://roster.example.org", "ftp://example.org", "https://a@example.org",
		roster + ":443", "http://localhost:80", "http://localhost:", "https://ärzte.example", "https://a b", "https://a:x", roster + "," + roster + "/"} {
		refuses(t, 2, noOrigin(bad[strings.LastIndex(bad, ",")+1:]), "serve", "--db", db, "--listen", "127.0.0.1:0", "--cors-origin", bad)
	}
}
