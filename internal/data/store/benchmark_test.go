package store_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// The departments of the benchmarks.
const (
	large     = record.TenantID(1)
	small     = record.TenantID(2)
	largeSize = 17_000
	smallSize = 40
)

// newBenchStore returns a store with a large and a small department.
func newBenchStore(b *testing.B) *store.Store {
	b.Helper()
	s := openStore(b, newFile(b), time.Now)
	must(b, s.AddDepartments([]store.Department{{Name: "large", People: people(largeSize)}, {Name: "small", People: people(smallSize)}}))
	return s
}

func BenchmarkGet(b *testing.B) {
	s := newBenchStore(b)
	items := list(b, s, small, "pageSize=100").Items
	i := 0
	for b.Loop() {
		if _, err := s.Get(small, items[i%len(items)].ID); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

// BenchmarkList reads a page of 20 of 40 records.
func BenchmarkList(b *testing.B) {
	s := newBenchStore(b)
	for _, query := range []string{"", "sortBy=lastName", "search=an"} {
		b.Run(query, func(b *testing.B) { benchmarkList(b, s, small, query) })
	}
}

// BenchmarkSearch reads a page of 20 results of a search in 17,000 records, from the index and, as
// after a write, by SQL.
func BenchmarkSearch(b *testing.B) {
	s := newBenchStore(b)
	for _, query := range []string{"search=mari", "search=0912", "search=mari&sortBy=lastName"} {
		list(b, s, large, query)
		b.Run("index/"+query, func(b *testing.B) { benchmarkList(b, s, large, query) })
	}
	b.Run("SQL", func(b *testing.B) {
		for b.Loop() {
			create(b, s, large, ana)
			list(b, s, large, "search=mari")
		}
	})
}

func benchmarkList(b *testing.B, s *store.Store, tenant record.TenantID, query string) {
	b.Helper()
	q := parse(b, query)
	b.ReportAllocs()
	for b.Loop() {
		if p, err := s.List(tenant, q); err != nil || len(p.Items) == 0 {
			b.Fatal(p, err)
		}
	}
}

// BenchmarkCreate creates records for 64 concurrent clients.
func BenchmarkCreate(b *testing.B) {
	s := newBenchStore(b)
	b.SetParallelism(64 / runtime.GOMAXPROCS(0))
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := s.Create(small, 0, ana, nil); err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkImport imports 17,000 people in one transaction.
func BenchmarkImport(b *testing.B) {
	var all []store.Person
	for _, fields := range people(largeSize) {
		all = append(all, store.Person{Fields: fields})
	}
	s := newBenchStore(b)
	b.ReportAllocs()
	for b.Loop() {
		imports(b, s, small, adding(all...))
	}
}
