package sqlite_test

import (
	"runtime"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// benchToy opens a database of 1,000 rows with 11 texts each.
func benchToy(b *testing.B) *sqlite.DB {
	b.Helper()
	path := created(b)
	must(b, toy.Migrate(path, 2, 3, func(c *sqlite.Conn) error {
		_, err := c.Exec(`
			CREATE TABLE people (id INTEGER PRIMARY KEY, a TEXT, b TEXT, c TEXT, d TEXT, e TEXT, f TEXT, g TEXT, h TEXT, i TEXT, j TEXT, k TEXT);
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000), t (i, x) AS (SELECT i, 'some text ' || i FROM n)
			INSERT INTO people SELECT i, x, x, x, x, x, x, x, x, x, x, x FROM t`)
		return err
	}))
	return openAt(b, path, sqlite.Options{})
}

// BenchmarkRead reads one row by its key.
func BenchmarkRead(b *testing.B) {
	db := benchToy(b)
	id := int64(0)
	for b.Loop() {
		id = id%1000 + 1
		must(b, db.Read(func(c *sqlite.Conn) error {
			_, err := c.QueryInt(`SELECT id FROM people WHERE id = ?`, id)
			return err
		}))
	}
}

// BenchmarkReadTx reads 20 rows with 11 texts each.
func BenchmarkReadTx(b *testing.B) {
	db := benchToy(b)
	id := int64(0)
	for b.Loop() {
		id = (id + 20) % 980
		must(b, db.ReadTx(func(c *sqlite.Conn) error {
			return c.Query(`SELECT a, b, c, d, e, f, g, h, i, j, k FROM people WHERE id > ? LIMIT 20`, sqlite.Args{id}, func(sqlite.Row) {})
		}))
	}
}

// BenchmarkWrite adds a row for each of 64 callers at a time.
func BenchmarkWrite(b *testing.B) {
	db := openToy(b)
	b.SetParallelism(max(1, 64/runtime.GOMAXPROCS(0)))
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := note(db, "x"); err != nil {
				b.Error(err)
			}
		}
	})
}
