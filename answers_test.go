package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// These tests meet each status of each operation in the document, those that
// have no test of their own. holdAgainstDocument looks at what comes.

// request is one of those in a table, and the status that it is to have.
type request struct {
	status             int
	method, path, body string
	headers            []string
}

func (c client) sendAll(t *testing.T, requests []request) {
	t.Helper()
	for _, r := range requests {
		if a := c.do(t, r.method, r.path, r.body, r.headers...); a.status != r.status {
			t.Errorf("%s %s %q: %d, not %d: %s", r.method, r.path, r.headers, a.status, r.status, a.body)
		}
	}
}

// operations of the API as requests that are right, the record's being /:id.
var operations = []request{
	{200, "GET", collection, "", nil},
	{201, "POST", collection, ana, nil},
	{200, "GET", collection + "/:id", "", nil},
	{200, "PUT", collection + "/:id", ana, nil},
	{200, "GET", "/api/v1/whoami", "", nil},
	{200, "GET", "/api/v1/openapi.json", "", nil},
	{200, "GET", "/api/v1/openapi.yaml", "", nil},
	{200, "GET", "/healthz", "", nil},
	{200, "GET", "/readyz", "", nil},
	{204, "DELETE", collection + "/:id", "", nil},
}

// on gives the operations on one record, with further headers.
func on(id string, status int, headers ...string) []request {
	list := slices.Clone(operations)
	for i, r := range list {
		list[i].path, list[i].headers = strings.ReplaceAll(r.path, ":id", id), headers
		if status != 0 {
			list[i].status = status
		}
	}
	return list
}

// keyed are those operations that a public route does not answer.
func keyed(all []request) []request {
	return slices.DeleteFunc(all, func(r request) bool {
		return !strings.HasPrefix(r.path, collection) && !strings.HasSuffix(r.path, "whoami")
	})
}

func startOpen(t *testing.T) *service {
	t.Helper()
	db := filepath.Join(t.TempDir(), "x.db")
	return startWith(t, db, "serve", "--db", db, "--cors-origin", roster, "--rate-limit", "100000")
}

// TestEveryOperation: what any of them may meet, before and behind the key.
func TestEveryOperation(t *testing.T) {
	t.Parallel()
	s := startOpen(t)
	id := s.create(t, ana)
	s.sendAll(t, on(id, 421, "Host", "evil.example"))
	s.sendAll(t, on(id, 431, "X-Large", strings.Repeat("x", 65<<10)))
	s.as("").sendAll(t, keyed(on(id, 401)))
	for _, r := range on(id, 405) {
		s.do(t, "PATCH", r.path, r.body, "Origin", roster).wants(t, 405)
	}
	s.sendAll(t, on(id, 0, "Origin", roster, "X-Request-Id", "mine", "Accept-Encoding", "gzip"))
}

// TestConditionsOfOperations: the answers to If-Match and If-None-Match.
func TestConditionsOfOperations(t *testing.T) {
	t.Parallel()
	s := startOpen(t)
	for range 20 {
		s.create(t, ana)
	}
	id := s.create(t, ana)
	one, page, document := collection+"/"+id, collection, "/api/v1/openapi.json"
	for _, path := range []string{one, page, document, "/api/v1/openapi.yaml"} {
		whole := s.do(t, "GET", path, "", "Accept-Encoding", "gzip").wants(t, 200)
		etag := whole.header.Get("ETag")
		if gzipped := whole.header.Get("Content-Encoding") == "gzip"; gzipped != (path != one) {
			t.Errorf("%s: gzip is %t", path, gzipped)
		}
		s.sendAll(t, []request{
			{304, "GET", path, "", []string{"If-None-Match", `"x", ` + etag}},
			{304, "HEAD", path, "", []string{"If-None-Match", "*"}},
			{200, "GET", path, "", []string{"If-None-Match", `"x"`}},
			{200, "GET", path, "", []string{"If-Match", "*"}},
			{412, "GET", path, "", []string{"If-Match", `"x", W/"y"`}},
			{400, "GET", path, "", []string{"If-Match", "x"}},
		})
	}
	etag := s.do(t, "GET", one, "").header.Get("ETag")
	s.sendAll(t, []request{
		{412, "PUT", one, ana, []string{"If-Match", `"x"`}},
		{412, "DELETE", one, "", []string{"If-None-Match", "*"}},
		{400, "DELETE", one, "", []string{"If-None-Match", "x"}},
		{200, "PUT", one, ana, []string{"If-Match", etag, "If-None-Match", `"x"`, "X-Request-Id", "mine"}},
		{413, "PUT", one, largeBody(maxBody + 1), nil},
		{404, "DELETE", collection + "/" + nobody, "", []string{"If-None-Match", `"x"`}},
		{204, "DELETE", one, "", []string{"If-Match", etag, "If-None-Match", `"x"`, "X-Request-Id", "mine"}},
	})
}

// TestRepeatedOperations: the answers to an Idempotency-Key that comes again.
func TestRepeatedOperations(t *testing.T) {
	t.Parallel()
	s := startOpen(t)
	first := s.do(t, "POST", collection, ana, "Idempotency-Key", `"a"`, "X-Request-Id", "mine").wants(t, 201)
	again := s.do(t, "POST", collection, ana, "Idempotency-Key", "a").wants(t, 201)
	if first.body != again.body || first.header.Get("Location") != again.header.Get("Location") {
		t.Errorf("%s %v\n%s %v", first.body, first.header, again.body, again.header)
	}
	s.do(t, "POST", collection, `{"firstName":"A","lastName":"B"}`, "Idempotency-Key", "a").wants(t, 422)
	db := openSQL(t, s.db)
	db.SetMaxOpenConns(1)
	_, err := db.Exec(`BEGIN IMMEDIATE`) // so that the first is not done yet
	must(t, err)
	answers := make(chan answer, 2)
	for range 2 {
		go func() { answers <- s.do(t, "POST", collection, ana, "Idempotency-Key", "b") }()
	}
	(<-answers).wants(t, http.StatusConflict)
	_, err = db.Exec(`ROLLBACK`)
	must(t, err)
	(<-answers).wants(t, 201)
}

// TestTooManyOfEach: each operation is refused beyond the limit.
func TestTooManyOfEach(t *testing.T) {
	t.Parallel()
	s, _ := limited(t, 1)
	c := s.as(storeKey(t, s.server.store, time.Time{}))
	for range 2 {
		c.do(t, "GET", collection, "").wants(t, 200)
	}
	c.sendAll(t, keyed(on(nobody, 429)))
}

// TestFailuresOfEach: a database that was tampered with is our fault.
func TestFailuresOfEach(t *testing.T) {
	t.Parallel()
	s := startOpen(t)
	s.mayFail = true
	id := s.create(t, ana)
	for _, event := range []string{"INSERT", "UPDATE"} {
		execSQL(t, s.db, fmt.Sprintf(`CREATE TRIGGER fails_%s BEFORE %s ON firefighters BEGIN SELECT RAISE(ABORT, 'no'); END`, event, event))
	}
	execSQL(t, s.db, `ALTER TABLE tenants RENAME COLUMN name TO title`)
	for _, r := range keyed(on(id, 500)) {
		if r.method != "GET" || strings.HasSuffix(r.path, "whoami") {
			s.sendAll(t, []request{r})
		}
	}
}

// TestDocument: whoever is lost is led to the document, which is not secret.
func TestDocument(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, path := range []string{"/", "/api/v1/", "/api/v1"} {
		link := s.as("").do(t, "GET", path, "").wants(t, 404).header.Get("Link")
		target, ok := strings.CutSuffix(link, `>; rel="service-desc"; type="application/json"`)
		a := s.as("").do(t, "GET", strings.TrimPrefix(target, "<"), "").wants(t, 200)
		if !ok || a.body != string(openAPIJSON) || a.header.Get("Content-Type") != "application/json; charset=utf-8" {
			t.Errorf("%s leads to %q: %v", path, link, a.header)
		}
	}
	a := s.as("").do(t, "GET", "/api/v1/openapi.yaml", "").wants(t, 200)
	if a.body != string(openAPIYAML) || a.header.Get("Content-Type") != "application/yaml" {
		t.Errorf("%v", a.header)
	}
}
