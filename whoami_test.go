package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const whoamiPath = "/api/v1/whoami"

// TestWhoAmI: a key is told what it is, and nothing of others.
func TestWhoAmI(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, tt := range []struct{ key, want string }{
		{s.key, `{"department":"default","label":"first key","scope":"write","expiresAt":null}`},
		{newKey(t, s.db, "default", "--scope", "read"), `{"department":"default","label":"","scope":"read","expiresAt":null}`},
		{newKey(t, s.db, `Požega "7" <b>`, "--label", `Ana & "co"`, "--expires", "2099-12-31"),
			`{"department":"Požega \"7\" \u003cb\u003e","label":"Ana \u0026 \"co\"","scope":"write","expiresAt":"2100-01-01T00:00:00.000Z"}`},
		{newKey(t, s.db, "default", "--scope", "read", "--expires", "2099-12-31"),
			`{"department":"default","label":"","scope":"read","expiresAt":"2100-01-01T00:00:00.000Z"}`},
	} {
		c := s.as(tt.key)
		get := c.do(t, "GET", whoamiPath, "", "X-Request-Id", "same").wants(t, 200)
		head := c.do(t, "HEAD", whoamiPath, "", "X-Request-Id", "same").wants(t, 200)
		if sameHeaders(t, get, head); get.body != tt.want {
			t.Errorf("got  %s\nwant %s", get.body, tt.want)
		}
	}
	for _, method := range []string{"POST", "PUT", "DELETE"} {
		s.do(t, method, whoamiPath, "").wants(t, 405)
	}
	execSQL(t, s.db, `UPDATE keys SET label = 'renamed' WHERE id = 1`)
	if a := s.do(t, "GET", whoamiPath, ""); !strings.Contains(a.body, `"renamed"`) {
		t.Errorf("renamed, it is told %s", a.body)
	}
}

// TestErasedKey: one that is erased while a request is on its way is unknown.
func TestErasedKey(t *testing.T) {
	t.Parallel()
	s := openServer(t, filepath.Join(t.TempDir(), "x.db"), time.Now) // which does not watch the keys
	c := s.as(storeKey(t, s.server.store, time.Time{}))
	c.do(t, "GET", whoamiPath, "").wants(t, 200)
	must(t, s.server.store.write(func(t *transaction) error {
		_, err := t.exec(`DELETE FROM keys`)
		return err
	}))
	a := c.do(t, "GET", whoamiPath, "").wants(t, 401)
	if a.header.Get("WWW-Authenticate") != invalidToken || !strings.Contains(a.problem(t).Detail, "unknown") {
		t.Errorf("%v %s", a.header, a.body)
	}
}

// TestDeprecation: a route that is to go says since when and until when, and
// what to use instead, whatever it answers.
func TestDeprecation(t *testing.T) {
	t.Parallel()
	s := openServer(t, filepath.Join(t.TempDir(), "x.db"), time.Now)
	c := s.as(storeKey(t, s.server.store, time.Time{}))
	zagreb := time.FixedZone("CET", 3600)
	old := &deprecation{since: time.Date(2026, 11, 20, 1, 0, 0, 0, zagreb), sunset: time.Date(2027, 12, 1, 0, 30, 0, 0, zagreb),
		link: "https://example.org/api#old"}
	s.server.add(route{"GET", "/api/v1/old", scopeRead, (*server).handleList, old})
	s.server.add(route{"POST", "/api/v1/old", scopeWrite, func(*server, http.ResponseWriter, *http.Request, string, caller) error {
		return errNotFound
	}, old})
	for _, a := range []answer{
		c.do(t, "GET", "/api/v1/old", "").wants(t, 200),
		c.do(t, "HEAD", "/api/v1/old", "").wants(t, 200),
		c.do(t, "GET", "/api/v1/old", "", "If-None-Match", "*").wants(t, 304),
		c.do(t, "GET", "/api/v1/old?page=0", "").wants(t, 400),
		c.do(t, "POST", "/api/v1/old", "").wants(t, 404),
		c.as("").do(t, "GET", "/api/v1/old", "").wants(t, 401),
	} {
		want := `[@1795132800] [Tue, 30 Nov 2027 23:30:00 GMT] <https://example.org/api#old>; rel="deprecation"; type="text/html"`
		if got := fmt.Sprint(a.header["Deprecation"], " ", a.header["Sunset"], " ", a.header.Get("Link")); got != want {
			t.Errorf("%d: %s, not %s", a.status, got, want)
		}
	}
	if links := c.do(t, "GET", "/api/v1/old", "").header["Link"]; len(links) != 2 || !strings.Contains(links[1], `rel="last"`) {
		t.Errorf("Link: %q", links)
	}
	for _, path := range []string{collection, "/healthz", "/nothing"} {
		if a := c.do(t, "GET", path, ""); a.header["Deprecation"] != nil || a.header["Sunset"] != nil {
			t.Errorf("%s: %v", path, a.header)
		}
	}
	for _, r := range routes {
		if d := r.deprecated; d != nil && (d.sunset.Sub(d.since) < 365*24*time.Hour || d.link == "") {
			t.Errorf("%s %s is not deprecated as docs/api.md promises", r.method, r.path)
		}
	}
}
