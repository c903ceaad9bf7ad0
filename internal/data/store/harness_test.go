package store_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// The departments in most tests.
const (
	ours   = record.TenantID(1) // "Engine 7"
	theirs = record.TenantID(2) // "Ladder 1"
)

const nobody = "01890000-0000-7000-8000-000000000000" // no record has this id

var (
	ana = record.Fields{FirstName: "Ana", LastName: "Čović", PhoneNumber: "091 234 5678", Email: "ana@example.com",
		DateOfBirth: "1990-05-15T00:00:00Z"}
	eva  = record.Fields{FirstName: "Eva", LastName: "B"}
	noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func createEmpty(t testing.TB, path string) {
	t.Helper()
	must(t, os.WriteFile(path, nil, 0o600))
}

// newFile creates a database with the real schema and no departments.
func newFile(t testing.TB) string {
	t.Helper()
	schema, err := os.ReadFile("../../../schema.sql")
	must(t, err)
	path := filepath.Join(t.TempDir(), "x.db")
	createEmpty(t, path)
	must(t, store.Format(string(schema), 1).Migrate(path, 0, 1, func(c *sqlite.Conn) error { return store.Create(c, string(schema)) }))
	return path
}

func openStore(t testing.TB, path string, now func() time.Time) *store.Store {
	t.Helper()
	s, err := store.Open(path, now)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// newStore returns a store with the departments ours and theirs.
func newStore(t testing.TB) *store.Store { t.Helper(); return newStoreAt(t, time.Now) }

func newStoreAt(t testing.TB, now func() time.Time) *store.Store {
	t.Helper()
	s := openStore(t, newFile(t), now)
	must(t, s.AddDepartments([]store.Department{{Name: "Engine 7"}, {Name: "Ladder 1"}}))
	return s
}

// people returns n people with various kinds of names. Every tenth person has only a name.
func people(n int) (all []record.Fields) {
	first := []string{"Ana", "Marija", "Ivan", "Čedo", "Đuro", "Luka", "Mia"}
	last := []string{"Čović", "Babić", "Horvat", "Marić", "Kovač", "Novak", "Perić", "Šarić", "Tomić", "Vuković", "Zorić"}
	for i := range n {
		f := record.Fields{FirstName: first[i%len(first)], LastName: last[i%len(last)]}
		if i%10 > 0 {
			f.PhoneNumber = fmt.Sprintf("09%d %03d %04d", 1+i%3, i%1000, i)
			f.Email = fmt.Sprintf("person%d@example.com", i)
			f.DateOfBirth = time.Date(1960, 1, 1+i%15000, 0, 0, 0, 0, time.UTC).Format(time.RFC3339)
		}
		all = append(all, f)
	}
	return all
}

// asIs is a Check that always succeeds.
func asIs(record.Firefighter) error { return nil }

func create(t testing.TB, s *store.Store, tenant record.TenantID, fields record.Fields) record.Firefighter {
	t.Helper()
	f, err := s.Create(tenant, 0, fields, nil)
	must(t, err)
	return f
}

func replace(t testing.TB, s *store.Store, tenant record.TenantID, id string, fields record.Fields) record.Firefighter {
	t.Helper()
	f, err := s.Replace(tenant, 0, id, fields, asIs)
	must(t, err)
	return f
}

// createDeleted creates and deletes a record.
func createDeleted(t testing.TB, s *store.Store, tenant record.TenantID, fields record.Fields) record.Firefighter {
	t.Helper()
	f := create(t, s, tenant, fields)
	must(t, s.Delete(tenant, 0, f.ID, asIs))
	return f
}

// parse returns a query that includes the times, so that tests can compare whole records.
func parse(t testing.TB, query string) record.Query {
	t.Helper()
	q, err := record.ParseQuery(query)
	must(t, err)
	q.Times = true
	return q
}

func list(t testing.TB, s *store.Store, tenant record.TenantID, query string) store.Page {
	t.Helper()
	p, err := s.List(tenant, parse(t, query))
	must(t, err)
	return p
}

// newKey creates a key and returns its id.
func newKey(t testing.TB, s *store.Store, tenant, label string) store.KeyID {
	t.Helper()
	must(t, s.CreateKey(store.NewKey{Tenant: tenant, Label: label, Scope: store.ScopeWrite}, func(string) error { return nil }))
	return store.KeyID(scanInt(t, s, `SELECT max(id) FROM keys`))
}

// history returns the changes in a department, or to one record.
func history(t testing.TB, s *store.Store, tenant record.TenantID, id string) (all []store.Entry) {
	t.Helper()
	must(t, s.History(tenant, id, time.UnixMilli(0), func(ch store.Entry) error { all = append(all, ch); return nil }))
	return all
}

// actions returns the actions of the changes, in order.
func actions(changes []store.Entry) string {
	var all []string
	for _, ch := range changes {
		all = append(all, ch.Action)
	}
	return strings.Join(all, " ")
}

// openSQL opens the database the way another program does.
func openSQL(t testing.TB, s *store.Store) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", s.DB().Path()+"?_pragma=busy_timeout(10000)")
	must(t, err)
	return db
}

// exec changes the database as another program.
func exec(t testing.TB, s *store.Store, query string, args ...any) {
	t.Helper()
	must(t, tryExec(t, s, query, args...))
}

func tryExec(t testing.TB, s *store.Store, query string, args ...any) error {
	t.Helper()
	db := openSQL(t, s)
	defer db.Close()
	_, err := db.Exec(query, args...)
	return err
}

// scanInt reads a number as another program.
func scanInt(t testing.TB, s *store.Store, query string, args ...any) (n int64) {
	t.Helper()
	db := openSQL(t, s)
	defer db.Close()
	must(t, db.QueryRow(query, args...).Scan(&n))
	return n
}

// checkCounts compares the counters that triggers maintain with the records.
func checkCounts(t testing.TB, s *store.Store) {
	t.Helper()
	counts := scanInt(t, s, `SELECT count(*) FROM tenants t
		WHERE live_count <> (SELECT count(*) FROM firefighters WHERE tenant_id = t.id AND deleted_at IS NULL)`)
	sequences := scanInt(t, s, `SELECT count(*) FROM tenants t
		WHERE last_seq < (SELECT coalesce(max(row) & 0xffffffff, 0) FROM firefighters WHERE tenant_id = t.id)`)
	if counts > 0 || sequences > 0 {
		t.Errorf("departments with a wrong live_count: %d, with a low last_seq: %d", counts, sequences)
	}
}

// limitPages limits the database to a number of pages, as a full disk would.
func limitPages(t testing.TB, s *store.Store, pages string) {
	t.Helper()
	must(t, s.DB().Write(func(tx *sqlite.Tx) error {
		_, err := tx.QueryInt(`PRAGMA max_page_count = ` + pages)
		return err
	}))
}

// ids returns the ids of records.
func ids(items []record.Firefighter) []string {
	all := make([]string, len(items))
	for i, f := range items {
		all[i] = f.ID
	}
	return all
}

// stored returns the deleted records with these ids.
func stored(t testing.TB, s *store.Store, tenant record.TenantID, ids ...string) (some []record.Stored) {
	t.Helper()
	all, err := s.Deleted(tenant, time.UnixMilli(1<<53))
	must(t, err)
	for _, f := range all {
		if slices.Contains(ids, f.ID) {
			some = append(some, f)
		}
	}
	return some
}

// purge permanently deletes deleted records.
func purge(t testing.TB, s *store.Store, tenant record.TenantID, ids ...string) {
	t.Helper()
	if erased, err := s.Purge(tenant, 0, stored(t, s, tenant, ids...), nil); err != nil || erased != len(ids) {
		t.Fatalf("purged %d of %d, %v", erased, len(ids), err)
	}
}

// read calls do with a connection for reading.
func read(t testing.TB, s *store.Store, do func(c *sqlite.Conn) error) {
	t.Helper()
	must(t, s.DB().Read(do))
}
