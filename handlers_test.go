package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// TestImportAsksForClient: an import asks for each row, at each step, whether its
// client is still there. Packages sheet, mapping and imports end when it is not.
func TestImportAsksForClient(t *testing.T) {
	t.Parallel()
	const rows, steps = 300, 5 // cells, dates, people, matches, decisions
	list := "First name,Last name,Date of birth\r\n"
	for i := range rows {
		list += fmt.Sprintf("Ana,Horvat %d,26.%02d.1990\r\n", i, i%12+1)
	}
	b := startBare(t, time.Now)
	for path, want := range map[string]int{importsPath: http.StatusOK, importsPath + "?apply=true": http.StatusCreated} {
		ctx := &asked{Context: t.Context()}
		r := httptest.NewRequestWithContext(ctx, "POST", path, strings.NewReader(list))
		r.Header.Set("Authorization", "Bearer "+b.key)
		r.Header.Set("Content-Type", "application/octet-stream")
		w := httptest.NewRecorder()
		b.server.ServeHTTP(w, r)
		if times := ctx.times.Load(); w.Code != want || times < rows*steps {
			t.Errorf("%s: it asks %d times for %d rows, and answers %d", path, times, rows, w.Code)
		}
	}
}

// TestClockRunsBackwards: what has expired stays expired on a machine that
// starts with an earlier clock.
func TestClockRunsBackwards(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	at := func(h int) func() time.Time {
		return func() time.Time { return noon.Add(time.Duration(h) * time.Hour) }
	}
	path := filepath.Join(t.TempDir(), "x.db")
	b, stop := startAt(t, path, at(0))
	key := b.newKey(t, noon.Add(time.Hour))
	b.as(key).do(t, "GET", collection, "").wants(t, 200)
	stop()
	for _, hour := range []int{2, 0, -24 * 365 * 50, 1} {
		b, stop := startAt(t, path, at(hour))
		a := b.as(key).do(t, "GET", collection, "").wants(t, 401)
		if !strings.Contains(a.problem(t).Detail, "expired") {
			t.Errorf("at hour %d: %s", hour, a.body)
		}
		must(t, b.server.Callers.WriteLate()) // as the daemon does each second
		stop()
	}
}

// TestClockWithinOneRun: the clock does not go back while the program serves,
// nor do the times in the database.
func TestClockWithinOneRun(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	now := noon
	set := func(to time.Time) { mu.Lock(); defer mu.Unlock(); now = to }
	s := startBare(t, func() time.Time { mu.Lock(); defer mu.Unlock(); return now })
	key := s.newKey(t, noon.Add(time.Hour))
	set(noon.Add(2 * time.Hour))
	s.create(t, ana)
	set(noon)
	s.as(key).do(t, "GET", collection, "").wants(t, 401)
	s.create(t, ana)
	var first, last int64
	scanSQL(t, s.server.Store.DB().Path(), `SELECT min(created_at), max(created_at) FROM firefighters`, &first, &last)
	if first != last || first != noon.Add(2*time.Hour).UnixMilli() {
		t.Errorf("created at %v and %v", time.UnixMilli(first).UTC(), time.UnixMilli(last).UTC())
	}
}

// TestPanics: the client gets a bland answer and the log the cause. The next
// request is served as ever.
func TestPanics(t *testing.T) {
	t.Parallel()
	s, log := startBare(t, time.Now), &syncBuffer{}
	s.server.Log = slog.New(slog.NewJSONHandler(log, nil))
	s.server.add(route{method: "GET", path: "/panic", handle: func(*server, http.ResponseWriter, *http.Request, string, caller) error { panic("cause in a handler") }})
	s.server.add(route{method: "POST", path: "/panic", handle: func(s *server, _ http.ResponseWriter, _ *http.Request, _ string, _ caller) error {
		return s.Store.DB().Write(func(*sqlite.Tx) error { panic("cause in a write") })
	}})
	for method, cause := range map[string]string{"GET": "cause in a handler", "POST": "cause in a write"} {
		a := s.do(t, method, "/panic", "").wants(t, 500)
		if strings.Contains(a.body, "cause") || strings.Contains(a.body, ".go") || strings.Contains(a.body, "panic") {
			t.Errorf("the client is told: %s", a.body)
		}
		lines := 0
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, a.problem(t).RequestID) && strings.Contains(line, cause) && strings.Contains(line, "ERROR") {
				lines++
			}
		}
		if lines != 1 {
			t.Errorf("%d lines with the cause and the request id in the log:\n%s", lines, log)
		}
		s.create(t, ana)
	}
}

// TestClosed: requests that come while the store closes are asked to come again, as the
// document promises for each operation.
func TestClosed(t *testing.T) {
	t.Parallel()
	s := startBare(t, time.Now)
	id := s.create(t, ana)
	must(t, s.server.Store.Close())
	bodies := map[string]string{"POST " + collection: ana, "PUT " + collection + "/:id": ana, "PATCH " + collection + "/:id": "{}",
		"POST " + importsPath: "First name,Last name\r\nAna,Horvat\r\n"}
	for name, o := range operations(t) {
		if strings.HasPrefix(name, "GET /api/v1/openapi.") || name == "GET /healthz" {
			continue // which do without the store
		}
		method, path, _ := strings.Cut(name, " ")
		a := s.do(t, method, strings.NewReplacer(":id", id, ":number", "1").Replace(path), bodies[name]).wants(t, 503)
		if a.header.Get("Retry-After") == "" || a.problem(t).Code != map[bool]string{true: "unavailable", false: "stopping"}[path == "/readyz"] || o.Responses["503"] == nil {
			t.Errorf("%s: %v %s; the document has %v", name, a.header, a.body, o.Responses["503"])
		}
	}
}

// TestWALIsBounded: the -wal restarts under writes and requests that overlap
// without end.
func TestWALIsBounded(t *testing.T) {
	t.Parallel()
	s := startBare(t, time.Now)
	db := s.server.Store.DB()
	write := func(text string) {
		must(t, db.Write(func(tx *sqlite.Tx) error { _, err := tx.Exec(text); return err }))
	}
	s.create(t, ana)
	request, err := http.NewRequest("GET", s.url+collection, nil)
	must(t, err)
	request.Header.Set("Authorization", "Bearer "+s.key)
	var stop atomic.Bool
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for !stop.Load() {
				response, err := http.DefaultClient.Do(request.Clone(t.Context()))
				if err != nil || response.StatusCode != 200 {
					t.Errorf("%v, %v", response, err)
					return
				}
				io.Copy(io.Discard, response.Body)
				response.Body.Close()
				time.Sleep(time.Millisecond) // so that other tests get on
			}
		})
	}
	defer func() { stop.Store(true); clients.Wait() }()
	write(`CREATE TABLE filler AS SELECT zeroblob(4000000) AS filling`)
	for range 11 { // 44 MB
		write(`UPDATE filler SET filling = randomblob(4000000)`)
		info, err := os.Stat(db.Path() + "-wal")
		if must(t, err); info.Size() > 32<<20 {
			t.Fatalf("the -wal has %d bytes", info.Size())
		}
	}
}

// operation is one of docs/openapi.json.
type operation struct {
	Security  *[]any // of the whole document if there is none
	Responses map[string]any
}

// operations returns those of the document by their method and path, whose variables
// are :id or the like.
func operations(t *testing.T) map[string]operation {
	t.Helper()
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	must(t, json.Unmarshal(openAPIJSON, &document))
	all := map[string]operation{}
	for path, item := range document.Paths {
		for verb, text := range item {
			var o operation
			if json.Unmarshal(text, &o) == nil { // else it is a list of parameters
				all[strings.ToUpper(verb)+" "+regexp.MustCompile(`\{(\w+)\}`).ReplaceAllString(path, ":$1")] = o
			}
		}
	}
	return all
}

// TestRoutesAreDescribed: the document has each route and no other.
func TestRoutesAreDescribed(t *testing.T) {
	t.Parallel()
	described := operations(t)
	for _, route := range routes {
		name := route.method + " " + route.path
		o, ok := described[name]
		if !ok {
			t.Errorf("docs/openapi.json does not have the route %s", name)
		}
		if open := o.Security != nil && len(*o.Security) == 0; open != (route.scope == public) {
			t.Errorf("docs/openapi.json: %s is public: %t", name, open)
		}
		delete(described, name)
	}
	for name := range described {
		t.Errorf("docs/openapi.json has %s, which is not in the table of routes", name)
	}
}

// asked is a context that counts how often somebody asks whether it has ended.
type asked struct {
	context.Context
	times atomic.Int64
}

func (a *asked) Err() error {
	a.times.Add(1)
	return a.Context.Err()
}

// TestBeyondLoopback: a service that listens there answers to every name.
func TestBeyondLoopback(t *testing.T) {
	t.Parallel()
	for local, want := range map[bool]int{true: 421, false: 200} {
		r, w := httptest.NewRequest("GET", "/healthz", nil), httptest.NewRecorder() // of the host example.com
		newAPI(site.Service{Stopping: t.Context(), Log: slog.New(slog.DiscardHandler), LoopbackOnly: local}).ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("on this machine alone %t: %d, not %d", local, w.Code, want)
		}
	}
}

// TestWaitOutlastsTimeouts: no time limit of the server cuts off who waits for changes.
func TestWaitOutlastsTimeouts(t *testing.T) {
	t.Parallel()
	b := startBare(t, time.Now)
	hurried := httptest.NewUnstartedServer(b.server)
	hurried.Config.ReadTimeout, hurried.Config.WriteTimeout = 100*time.Millisecond, 200*time.Millisecond
	hurried.Start()
	defer hurried.Close()
	b.url = hurried.URL
	begun := time.Now()
	b.do(t, "GET", "/api/v1/changes?wait=1", "").wants(t, 200)
	if waited := time.Since(begun); waited < time.Second {
		t.Errorf("it waited %v", waited)
	}
}
