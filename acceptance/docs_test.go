package acceptance

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	toDocument = `</api/v1/openapi.json>; rel="service-desc"; type="application/json"`
	toDocs     = `</docs>; rel="service-doc"; type="text/html"`

	// docsPolicy is the Content-Security-Policy of /docs and its files.
	docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

// TestDocs checks that the API documentation page is complete, loads nothing from another
// host, and has no inline script or style, which its policy forbids. .ci/walk tests the page
// in a browser.
func TestDocs(t *testing.T) {
	t.Parallel()
	s := start(t, "--no-office")
	page := s.as("").do(t, "GET", "/docs", "").body
	if bad := regexp.MustCompile(`//|<style|<script>|style=|\son\w+=`).FindString(page); bad != "" {
		t.Errorf("the page contains %q", bad)
	}
	for path, contentType := range map[string]string{"/docs": "text/html", "/docs/start.css": "text/css", "/docs/start.js": "text/javascript",
		"/docs/swagger-ui-bundle.js": "text/javascript", "/docs/swagger-ui.css": "text/css"} {
		a := s.as("").do(t, "GET", path, "").wants(t, 200)
		packed := s.as("").do(t, "GET", path, "", "Accept-Encoding", "gzip").wants(t, 200)
		isPacked := packed.header.Get("Content-Encoding") == "gzip"
		if a.header.Get("Content-Type") != contentType+"; charset=utf-8" || isPacked != (len(a.body) >= 1400) || len(a.body) < 300 ||
			a.header.Get("Content-Security-Policy") != docsPolicy {
			t.Errorf("%s: %v, %d bytes", path, a.header, len(a.body))
		}
		if path != "/docs" && !strings.Contains(page, `"`+path[1:]+`"`) {
			t.Errorf("the page does not link %s", path)
		}
		s.as("").do(t, "GET", path, "", "If-None-Match", a.header.Get("ETag")).wants(t, 304)
		s.as("").do(t, "POST", path, "").wants(t, 405)
	}
	for _, path := range []string{"/docs/", "/docs/page.html", "/docs/swagger-ui.js"} {
		s.do(t, "GET", path, "").wants(t, 404)
	}
	for _, path := range []string{"/", "/api/v1/whoami", "/api/v1/x"} {
		if links := s.do(t, "GET", path, "").header["Link"]; !slices.Equal(links, []string{toDocument, toDocs}) {
			t.Errorf("the links of %s are %q", path, links)
		}
	}
	if a := s.do(t, "GET", "/openapi.json", "").wants(t, 200); a.body != string(openAPIJSON()) {
		t.Errorf("/openapi.json has %d bytes", len(a.body))
	}
	demo := startWith(t, "", "demo", "--people", "1")
	if !strings.Contains(demo.stdout.String(), "\nTry the API in a browser, with the key below: "+demo.url+"/docs\n") {
		t.Errorf("demo prints\n%s", demo.stdout)
	}
}
