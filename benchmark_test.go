package main

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/demo"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// benchServer returns a server with a department of 40 people, and a key of it.
func benchServer(b *testing.B) (s *server, key string) {
	b.Helper()
	path := filepath.Join(b.TempDir(), "x.db")
	opened, err := schema.Open(cli.Env{Context: b.Context(), Stderr: io.Discard}, path, true)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { opened.Close() })
	people := make([]record.Fields, 40)
	for i := range people {
		people[i] = demo.Person(0, i)
	}
	if err := opened.AddDepartments([]store.Department{{Name: demo.Department(0), People: people}}); err != nil {
		b.Fatal(err)
	}
	show := func(made string) error { key = made; return nil }
	if err := opened.CreateKey(store.NewKey{Tenant: demo.Department(0), Scope: store.ScopeRead}, show); err != nil {
		b.Fatal(err)
	}
	return newServer(opened, slog.New(slog.DiscardHandler), routes), key
}

// BenchmarkRequest is a request without the network. What one costs a client,
// bench/run measures.
func BenchmarkRequest(b *testing.B) {
	s, key := benchServer(b)
	get := func(path string) []byte {
		r, w := httptest.NewRequest("GET", path, nil), httptest.NewRecorder()
		r.Header.Set("Authorization", "Bearer "+key)
		if s.ServeHTTP(w, r); w.Code != http.StatusOK {
			b.Fatal(w.Code, w.Body)
		}
		return w.Body.Bytes()
	}
	var l struct {
		Data struct{ Items []struct{ ID string } }
	}
	if err := json.Unmarshal(get(collection), &l); err != nil {
		b.Fatal(err)
	}
	for _, bm := range []struct{ name, path string }{
		{"health", "/healthz"},
		{"get", collection + "/" + l.Data.Items[0].ID},
		{"list", collection},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				get(bm.path)
			}
		})
	}
}
