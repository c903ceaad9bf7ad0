package store_test

import (
	"fmt"
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

// BenchmarkList is for a page of 20 of 40 records.
func BenchmarkList(b *testing.B) {
	s := newBenchStore(b)
	for _, query := range []string{"", "sortBy=lastName", "search=an"} {
		b.Run(query, func(b *testing.B) { benchmarkList(b, s, small, query) })
	}
}

// BenchmarkSearch is for a page of 20 that a search in 17,000 records finds, by
// the index and, as after a write, by SQL.
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

// BenchmarkSync is for a copy of 17,000 people: a first sync, one since an import of them
// all and undoing it, in parts, and a look when nothing has changed.
func BenchmarkSync(b *testing.B) {
	s := newBenchStore(b)
	run := func(name, token string, limit int) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for y, more := (store.Sync{Token: token}), true; more; more = y.More {
					y = syncBook(b, s, large, y.Token, limit)
				}
			}
		})
	}
	run("first", "", noLimit)
	before := syncBook(b, s, large, "", noLimit)
	var all []store.Person
	for _, m := range before.Members {
		all = append(all, store.Person{ID: m.ID, Fields: ana})
	}
	imports(b, s, large, adding(all...))
	_, err := s.TakeBack(large, 0, 1)
	must(b, err)
	run("after an import", before.Token, 1000)
	run("nothing new", syncBook(b, s, large, "", noLimit).Token, 1000)
	b.Run("token", func(b *testing.B) {
		for b.Loop() {
			_, err := s.SyncToken(large)
			must(b, err)
		}
	})
}

// BenchmarkCreate is for 64 clients at once.
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

// BenchmarkImport is for 17,000 people in one transaction.
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

// BenchmarkTakeBack is for 17,000 people.
func BenchmarkTakeBack(b *testing.B) {
	var all []store.Person
	for _, fields := range people(largeSize) {
		all = append(all, store.Person{Fields: fields})
	}
	s := newBenchStore(b)
	for b.Loop() {
		b.StopTimer()
		number, _ := imports(b, s, ours, adding(all...))
		b.StartTimer()
		takeBack(b, s, number)
	}
}

// BenchmarkPurge is for 17,000 people of 34,000.
func BenchmarkPurge(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		s := openStore(b, newFile(b), time.Now)
		must(b, s.AddDepartments([]store.Department{{Name: "large", People: people(2 * largeSize)}}))
		exec(b, s, `UPDATE firefighters SET deleted_at = created_at, checksum = ~checksum WHERE row & 1`)
		deleted, err := s.Deleted(large, time.Now().Add(time.Hour))
		must(b, err)
		b.StartTimer()
		if erased, err := s.Purge(large, 0, deleted); err != nil || erased != largeSize {
			b.Fatal(erased, err)
		}
	}
}

// BenchmarkPageBehind is for a page of 20 in the middle of 17,000 people, by its cursor and,
// to compare, by its number.
func BenchmarkPageBehind(b *testing.B) {
	s := newBenchStore(b)
	for _, query := range []string{"sortDir=asc", "", "sortBy=lastName", "sortBy=email&sortDir=asc", "sortBy=lastName&search=an"} {
		first := list(b, s, large, query)
		half := list(b, s, large, fmt.Sprintf("%s&page=%d", query, first.Total/40))
		b.Run("cursor/"+query, func(b *testing.B) { benchmarkList(b, s, large, query+"&cursor="+half.Next) })
		b.Run("page/"+query, func(b *testing.B) { benchmarkList(b, s, large, fmt.Sprintf("%s&page=%d", query, first.Total/40+1)) })
	}
}
