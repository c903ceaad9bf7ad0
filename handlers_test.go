package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/web/callers"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// TestImportAsksForClient checks that an import tests in each step, for each row, whether its client is
// still connected. Packages sheet, mapping and imports stop when it is not.
func TestImportAsksForClient(t *testing.T) {
	t.Parallel()
	const rows, steps = 300, 5 // cells, dates, people, matches, decisions
	list := "First name,Last name,Date of birth\r\n"
	for i := range rows {
		list += fmt.Sprintf("Ana,Horvat %d,26.%02d.1990\r\n", i, i%12+1)
	}
	b := startBare(t)
	for path, want := range map[string]int{importsPath: http.StatusOK, importsPath + "?apply=true": http.StatusCreated} {
		ctx := &asked{Context: t.Context()}
		r := httptest.NewRequestWithContext(ctx, "POST", path, strings.NewReader(list))
		r.Header.Set("Authorization", "Bearer "+b.key)
		r.Header.Set("Content-Type", "application/octet-stream")
		w := httptest.NewRecorder()
		b.server.ServeHTTP(w, r)
		if times := ctx.times.Load(); w.Code != want || times < rows*steps {
			t.Errorf("%s: %d checks for %d rows, status %d", path, times, rows, w.Code)
		}
	}
}

// watchedBody is the body of a request, as a reader of zeros. It counts the bytes that are left.
type watchedBody struct{ left int64 }

func (b *watchedBody) Read(p []byte) (int, error) {
	n := min(int64(len(p)), b.left)
	clear(p[:n])
	if b.left -= n; b.left == 0 {
		return int(n), io.EOF
	}
	return int(n), nil
}

// watchedResponse notes how many bytes of the body were unread when the response began.
type watchedResponse struct {
	*httptest.ResponseRecorder
	body   *watchedBody
	unread int64
}

func (w *watchedResponse) WriteHeader(status int) {
	w.unread = w.body.left
	w.ResponseRecorder.WriteHeader(status)
}

// TestRefusalsReadBody checks that each refusal first reads the body, because a proxy that still sends
// does not read the response. A body without a valid key is limited to 1 MB. If the client waits for the
// permission to send, its body is not read.
func TestRefusalsReadBody(t *testing.T) {
	t.Parallel()
	b := startBare(t)
	service := b.server.Service
	service.Office, service.Phones, service.LoopbackOnly = true, true, true
	service.Loss = func() string { return "" }
	api := newAPI(service)
	reader := ""
	must(t, service.Store.CreateKey(store.NewKey{Tenant: "A", Scope: store.ScopeRead}, func(key string) error {
		reader = key
		return nil
	}))
	limited, now := service, time.Now()
	limited.Callers = callers.New(service.Store, service.Log, httpapi.NewRateLimit(1, func() time.Time { return now }))
	spent := newAPI(limited)
	for range 100 { // more than a burst
		r := httptest.NewRequest("GET", "http://localhost"+collection, nil)
		r.Header.Set("Authorization", "Bearer "+b.key)
		spent.ServeHTTP(httptest.NewRecorder(), r)
	}
	const form = "application/x-www-form-urlencoded"
	for _, tt := range []struct {
		key, method, path, kind, site string
		status                        int
		mayMore                       bool // whether a body of more than 1 MB is read
	}{
		{"wrong", "POST", importsPath, "text/csv", "", 401, false},
		{"", "POST", collection, httpapi.JSON, "", 401, false},
		{b.key, "POST", "/nothing", "", "", 404, true},
		{"wrong", "POST", "/nothing", "", "", 404, false},
		{b.key, "POST", "/api/v1/import%2Fs", "", "", 404, true},
		{b.key, "PUT", collection, "", "", 405, true},
		{b.key, "PUT", "http://other.example" + collection, "", "", 421, true},
		{reader, "POST", importsPath, "", "", 403, true},
		{b.key, "POST", importsPath, "text/csv", "", 429, true},
		{b.key, "POST", importsPath + "?unknown=1", "", "", 400, true},
		{b.key, "POST", importsPath, form, "", 415, true},
		{b.key, "POST", collection + "?unknown=1", httpapi.JSON, "", 400, true},
		{b.key, "POST", collection, httpapi.JSON, "", 413, true},
		{b.key, "POST", collection, "text/plain", "", 415, true},
		{b.key, "PUT", collection + "/1", httpapi.JSON, "", 400, true},
		{"wrong", "PROPFIND", "/dav/", "", "", 401, false},
		{"", "PUT", "/dav/people/x.vcf", "", "", 403, false},
		{b.key, "PUT", "/dav/people/x.vcf", "", "", 403, true},
		{"", "POST", "/.well-known/carddav", "", "", 405, false},
		{"", "POST", site.Root + "sign-in", "text/plain", "", 415, false},
		{"", "POST", site.Root + "sign-in", form, "", 413, false},
		{"", "POST", site.Root + "sign-in", form, "cross-site", 403, false},
		{"", "PUT", site.Root + "nothing", "", "", 404, false},
	} {
		for _, sent := range []struct {
			size   int64
			expect string
			read   bool
		}{{1 << 20, "", true}, {2 << 20, "", tt.mayMore}, {1 << 20, "100-continue", false}} {
			body := &watchedBody{sent.size}
			w := &watchedResponse{httptest.NewRecorder(), body, -1}
			r := httptest.NewRequest(tt.method, tt.path, body)
			r.ContentLength = sent.size
			if r.Host == "example.com" {
				r.Host = "localhost"
			}
			r.Header = http.Header{"Content-Type": {tt.kind}, "Expect": {sent.expect}, "Sec-Fetch-Site": {tt.site},
				"Authorization": {"Bearer " + tt.key}}
			handler := api
			if tt.status == http.StatusTooManyRequests {
				handler = spent
			}
			if handler.ServeHTTP(w, r); w.Code != tt.status || (w.unread == 0) != sent.read {
				t.Errorf("%s %s, %d bytes, Expect %q: status %d, want %d; %d bytes unread",
					tt.method, tt.path, sent.size, sent.expect, w.Code, tt.status, w.unread)
			}
		}
	}
}

// TestPanics checks that the client gets a generic message, the log gets the cause, and the next
// request is served.
func TestPanics(t *testing.T) {
	t.Parallel()
	s, log := startBare(t), &syncBuffer{}
	s.server.Log = slog.New(slog.NewJSONHandler(log, nil))
	inHandler := func(*server, http.ResponseWriter, *http.Request, string, caller) error { panic("cause in a handler") }
	inWrite := func(s *server, _ http.ResponseWriter, _ *http.Request, _ string, _ caller) error {
		return s.Store.DB().Write(func(*sqlite.Tx) error { panic("cause in a write") })
	}
	s.server.add(route{method: "GET", path: "/panic", handle: inHandler})
	s.server.add(route{method: "POST", path: "/panic", handle: inWrite})
	for method, cause := range map[string]string{"GET": "cause in a handler", "POST": "cause in a write"} {
		a := s.do(t, method, "/panic", "").wants(t, 500)
		if strings.Contains(a.body, "cause") || strings.Contains(a.body, ".go") || strings.Contains(a.body, "panic") {
			t.Errorf("the client received: %s", a.body)
		}
		lines := 0
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, a.problem(t).RequestID) && strings.Contains(line, cause) && strings.Contains(line, "ERROR") {
				lines++
			}
		}
		if lines != 1 {
			t.Errorf("got %d log lines with the cause and the request id:\n%s", lines, log)
		}
		s.create(t, ana)
	}
}

// TestClosed checks that requests during the shutdown of the store get 503 with Retry-After, as the
// document describes for each operation.
func TestClosed(t *testing.T) {
	t.Parallel()
	s := startBare(t)
	id := s.create(t, ana)
	must(t, s.server.Store.Close())
	bodies := map[string]string{"POST " + collection: ana, "PUT " + collection + "/:id": ana, "PATCH " + collection + "/:id": "{}",
		"POST " + importsPath: "First name,Last name\r\nAna,Horvat\r\n"}
	for name, o := range operations(t) {
		if strings.HasPrefix(name, "GET /api/v1/openapi.") || name == "GET /healthz" {
			continue // these do not use the store
		}
		method, path, _ := strings.Cut(name, " ")
		a := s.do(t, method, strings.NewReplacer(":id", id, ":number", "1").Replace(path), bodies[name]).wants(t, 503)
		code := "stopping"
		if path == "/readyz" {
			code = "unavailable"
		}
		if a.header.Get("Retry-After") == "" || a.problem(t).Code != code || o.Responses["503"] == nil {
			t.Errorf("%s: %v %s; the document has %v", name, a.header, a.body, o.Responses["503"])
		}
	}
}

// TestRemovedAtThisMoment checks that a cached key is unknown after its department is removed.
func TestRemovedAtThisMoment(t *testing.T) {
	t.Parallel()
	b := startBare(t)
	b.do(t, "GET", collection, "").wants(t, 200)
	_, err := b.server.Store.RemoveTenant(1)
	must(t, err)
	for _, a := range []answer{b.do(t, "GET", collection, ""), b.do(t, "POST", collection, ana), b.do(t, "GET", "/api/v1/changes", "")} {
		if a.wants(t, http.StatusUnauthorized); !strings.Contains(a.body, "unknown") {
			t.Errorf("%s", a.body)
		}
	}
}

// operation is an operation in docs/openapi.json.
type operation struct {
	Security  *[]any // defaults to the document's security
	Responses map[string]any
}

// operations returns the operations of the document by method and path, with variables like :id.
func operations(t *testing.T) map[string]operation {
	t.Helper()
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	text, err := docsFiles.ReadFile("docs/openapi.json")
	must(t, err)
	must(t, json.Unmarshal(text, &document))
	all := map[string]operation{}
	for path, item := range document.Paths {
		for verb, text := range item {
			var o operation
			if json.Unmarshal(text, &o) == nil { // otherwise it is a list of parameters
				all[strings.ToUpper(verb)+" "+regexp.MustCompile(`\{(\w+)\}`).ReplaceAllString(path, ":$1")] = o
			}
		}
	}
	return all
}

// TestRoutesAreDescribed checks that the document describes exactly the existing routes.
func TestRoutesAreDescribed(t *testing.T) {
	t.Parallel()
	described := operations(t)
	for _, route := range routes {
		name := route.method + " " + route.path
		o, ok := described[name]
		if !ok {
			t.Errorf("docs/openapi.json lacks the route %s", name)
		}
		if open := o.Security != nil && len(*o.Security) == 0; open != (route.scope == public) {
			t.Errorf("docs/openapi.json: %s without a key: %t", name, open)
		}
		delete(described, name)
	}
	for name := range described {
		t.Errorf("docs/openapi.json has the unknown route %s", name)
	}
}

// asked is a context that counts calls of Err and Done.
type asked struct {
	context.Context
	times atomic.Int64
}

func (a *asked) Err() error {
	a.times.Add(1)
	return a.Context.Err()
}

// TestBeyondLoopback checks that only a service on a loopback address restricts the host name.
func TestBeyondLoopback(t *testing.T) {
	t.Parallel()
	service := startBare(t).server.Service
	for local, want := range map[bool]int{true: 421, false: 200} {
		service.LoopbackOnly = local
		r, w := httptest.NewRequest("GET", "/healthz", nil), httptest.NewRecorder() // for the host example.com
		newAPI(service).ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("LoopbackOnly %t: got status %d, want %d", local, w.Code, want)
		}
	}
}

// TestWaitOutlastsTimeouts checks that no timeout of the server cuts off a request that waits for changes.
func TestWaitOutlastsTimeouts(t *testing.T) {
	t.Parallel()
	b := startBare(t)
	hurried := httptest.NewUnstartedServer(b.server)
	hurried.Config.ReadTimeout, hurried.Config.WriteTimeout = 100*time.Millisecond, 200*time.Millisecond
	hurried.Start()
	defer hurried.Close()
	b.url = hurried.URL
	begun := time.Now()
	b.do(t, "GET", "/api/v1/changes?wait=1", "").wants(t, 200)
	if waited := time.Since(begun); waited < time.Second {
		t.Errorf("the request waited only %v", waited)
	}
}
