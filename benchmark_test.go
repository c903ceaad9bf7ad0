package main

// The inner parts by themselves: go test -run '^$' -bench . ./...
// What a whole request costs, bench/run measures from outside.

import (
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"firefighters/internal/demo"
)

const (
	ladder    = tenantID(1) // a department of thousands
	hall      = tenantID(2) // one of some forty
	hallSize  = 40
	ladderTop = 17_000
)

// benchStore is a store of a ladder and a hall, and the ids of the hall.
func benchStore(b *testing.B) (s *store, ids []string) {
	b.Helper()
	s, _, err := openStore(filepath.Join(b.TempDir(), "x.db"), true, time.Now)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.close() })
	if err := s.invent(b.Context(), []int{ladderTop, hallSize}, func(int) {}); err != nil {
		b.Fatal(err)
	}
	for _, f := range benchList(b, s, hall, "pageSize=100").items {
		ids = append(ids, f.ID)
	}
	return s, ids
}

func benchList(b *testing.B, s *store, tenant tenantID, query string) page {
	b.Helper()
	q, err := parseListQuery(query)
	if err != nil {
		b.Fatal(err)
	}
	p, err := s.listFirefighters(tenant, q)
	if err != nil || len(p.items) == 0 {
		b.Fatal(len(p.items), err)
	}
	return p
}

func BenchmarkGet(b *testing.B) {
	s, ids := benchStore(b)
	for b.Loop() {
		if _, err := s.firefighter(hall, ids[rand.IntN(len(ids))]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkList(b *testing.B) {
	s, _ := benchStore(b)
	for _, bm := range []struct {
		name   string
		tenant tenantID
		query  string
	}{
		{"small/newest", hall, ""},
		{"small/sorted", hall, "sortBy=lastName&sortDir=asc"},
		{"small/search", hall, "search=an"},
		{"large/newest", ladder, ""},
		{"large/sorted", ladder, "sortBy=lastName&sortDir=asc"},
		{"large/far", ladder, "sortBy=email&page=800"},
		{"large/search", ladder, "search=mari"},
		{"large/digits", ladder, "search=0912"},
	} {
		b.Run(bm.name, func(b *testing.B) {
			benchList(b, s, bm.tenant, bm.query) // the first makes the roll
			for b.Loop() {
				benchList(b, s, bm.tenant, bm.query)
			}
		})
	}
}

// BenchmarkRoll is what a large department costs when it has changed: reading
// it as a whole, sorting it, and following one change.
func BenchmarkRoll(b *testing.B) {
	s, _ := benchStore(b)
	c := <-s.readers
	b.Cleanup(func() { s.readers <- c })
	r, err := readRoll(c, ladder, 1)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			readRoll(c, ladder, 1)
		}
	})
	for _, f := range sortFields[1:] {
		b.Run("sort/"+f.name, func(b *testing.B) {
			for b.Loop() {
				delete(r.orders, f.name)
				r.sorted(f)
			}
		})
	}
	b.Run("next", func(b *testing.B) {
		for b.Loop() {
			if _, err := r.next(c, ladder, 2, []int64{r.rows[rand.IntN(len(r.rows))]}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkCreate(b *testing.B) {
	s, _ := benchStore(b)
	for _, clients := range []int{1, 64} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			b.SetParallelism(max(1, clients/2))
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := s.createFirefighter(hall, 0, demo.Person(rand.IntN(1000), rand.IntN(1000)), attempt{}); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}

func BenchmarkRequest(b *testing.B) {
	s, ids := benchStore(b)
	var key string
	err := s.createKey(demo.Department(1), "", scopeWrite, time.Time{}, func(made string) error { key = made; return nil })
	if err != nil {
		b.Fatal(err)
	}
	server := newServer(s, slog.New(slog.NewTextHandler(io.Discard, nil)))
	for name, path := range map[string]string{"get": collection + "/" + ids[0], "list": collection, "health": "/healthz"} {
		b.Run(name, func(b *testing.B) {
			r := httptest.NewRequest("GET", path, nil)
			r.Header.Set("Authorization", "Bearer "+key)
			b.ReportAllocs()
			for b.Loop() {
				w := httptest.NewRecorder()
				if server.ServeHTTP(w, r); w.Code != http.StatusOK {
					b.Fatal(w.Code, w.Body)
				}
			}
		})
	}
}
