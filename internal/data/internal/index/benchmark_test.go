package index

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/people/record"
)

// people returns the rows of random people.
func people(count int) []Row {
	r := rand.New(rand.NewPCG(2, 2))
	rows := make([]Row, count)
	for i := range rows {
		name := func(n int) string { return fmt.Sprintf("%c%s", 'A'+r.IntN(26), strings.Repeat("ae", 1+r.IntN(n))) }
		f := record.Fields{FirstName: name(3), LastName: name(4), PhoneNumber: fmt.Sprintf("09%d %03d %04d", r.IntN(10), r.IntN(1000), r.IntN(10000))}
		f.Email = fmt.Sprintf("%s.%s%d@example.com", f.FirstName, f.LastName, r.IntN(1000))
		keys := f.Keys()
		rows[i] = Row{int64(i), searchText(f), f.Expanded(), keys[6].(string), r.Int64(), r.IntN(8) > 0, r.Int64(), uint8(r.IntN(13)), ""}
	}
	return rows
}

func benchCache(rows []Row) (*Cache, Source) {
	return NewCache(), reading{State{1, int64(len(rows))}, func(each func(Row)) error {
		for _, row := range rows {
			each(row)
		}
		return nil
	}}
}

func BenchmarkPage(b *testing.B) {
	c, source := benchCache(people(17_000))
	for _, query := range []string{"sortBy=lastName", "sortBy=email&page=170&pageSize=100", "search=e", "search=zz", "search=kaea",
		"search=aea+kaea", "search=kaeae+091", "search=a+e", "search=091+23", "search=234567", "search=mueller", "search=0912345678", "email=kaea.kaea1@example.com", "phoneNumber=0912345678", "birthMonth=5", "hasEmail=false", "updatedSince=2026-01-01T00:00:00Z", "search=a&page=170&pageSize=100"} {
		q, _ := record.ParseQuery(query)
		b.Run(query, func(b *testing.B) {
			for b.Loop() {
				if _, ok, err := pageOf(c, 1, source, q); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
	}
}

func BenchmarkBuild(b *testing.B) {
	rows := people(17_000)
	for _, by := range record.SortFields {
		b.Run(string(by), func(b *testing.B) {
			for b.Loop() {
				c, source := benchCache(rows)
				q := record.Query{Page: 100, PageSize: 20, SortBy: by}
				if _, ok, err := pageOf(c, 1, source, q); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
	}
}
