package main

// The tests in this folder look inside the server or the command table. The tests in acceptance/ check
// what a user can observe.

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/web/callers"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

const (
	collection = "/api/v1/firefighters"
	ana        = `{"firstName":"Ana","lastName":"Čović","phoneNumber":"091 234 5678","email":"ana@example.com","dateOfBirth":"1990-05-15"}`
)

// must stops the test on an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// syncBuffer is a buffer that can be read while a program writes to it.
type syncBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// client sends requests with a key.
type client struct{ url, key string }

func (c client) as(key string) client { c.key = key; return c }

// answer is a complete response.
type answer struct {
	status int
	header http.Header
	body   string
}

// do sends a request with further headers as name, value, ...
func (c client) do(t *testing.T, method, path, body string, headers ...string) answer {
	t.Helper()
	r, err := http.NewRequest(method, c.url+path, strings.NewReader(body))
	must(t, err)
	if c.key != "" {
		r.Header.Set("Authorization", "Bearer "+c.key)
	}
	for pair := range slices.Chunk(headers, 2) {
		r.Header.Add(pair[0], pair[1])
	}
	response, err := http.DefaultClient.Do(r)
	must(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(t, err)
	return answer{response.StatusCode, response.Header, string(text)}
}

// create creates a record and returns its id.
func (c client) create(t *testing.T, body string) (id string) {
	t.Helper()
	a := c.do(t, "POST", collection, body).wants(t, 201)
	return strings.TrimPrefix(a.header.Get("Location"), collection+"/")
}

// wants checks the status of a response. An error must be a problem.
func (a answer) wants(t *testing.T, status int) answer {
	t.Helper()
	if a.status != status {
		t.Fatalf("got status %d, want %d: %s", a.status, status, a.body)
	}
	if kind := a.header.Get("Content-Type"); status >= 400 && kind != "application/problem+json" {
		t.Errorf("status %d with Content-Type %q", status, kind)
	}
	return a
}

// problem is the body of an error response.
type problem struct{ Code, Detail, RequestID string }

func (a answer) problem(t *testing.T) (p problem) {
	t.Helper()
	must(t, json.Unmarshal([]byte(a.body), &p))
	return p
}

// bareServer is a server without the background work of the program, whose internals a test can use.
type bareServer struct {
	client
	server *server
}

// startBare starts a server on a new database with a key for the department A.
func startBare(t *testing.T) *bareServer {
	t.Helper()
	s, err := schema.Open(cli.Env{Context: t.Context(), Stderr: io.Discard}, filepath.Join(t.TempDir(), "x.db"), true)
	must(t, err)
	b := &bareServer{server: newServer(serviceOf(t, s), routes)}
	listening := httptest.NewServer(b.server)
	b.url = listening.URL
	t.Cleanup(func() {
		listening.Close()
		s.Close()
	})
	must(t, s.CreateKey(store.NewKey{Tenant: "A", Scope: store.ScopeWrite}, func(key string) error {
		b.key = key
		return nil
	}))
	return b
}

// serviceOf returns a service without limits, pages or backups.
func serviceOf(t *testing.T, s *store.Store) site.Service {
	log := slog.New(slog.DiscardHandler)
	return site.Service{Store: s, Callers: callers.New(s, log, nil), Log: log, Connections: 1 << 20, Stopping: t.Context()}
}

// scanSQL reads a row through a separate database connection.
func scanSQL(t *testing.T, path, query string, dest ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(10000)")
	must(t, err)
	defer db.Close()
	must(t, db.QueryRow(query).Scan(dest...))
}
