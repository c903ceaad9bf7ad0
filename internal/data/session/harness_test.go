package session_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// The departments of most tests.
const (
	ours   = record.TenantID(1) // "Engine 7"
	theirs = record.TenantID(2) // "Ladder 1"
)

var (
	format  = sqlite.Format{ApplicationID: 0x46665273, Version: 5}
	keyTime = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newFile makes a database with the real schema and no department.
func newFile(t *testing.T) string {
	t.Helper()
	schema, err := os.ReadFile("../../../schema.sql")
	must(t, err)
	path := filepath.Join(t.TempDir(), "x.db")
	must(t, os.WriteFile(path, nil, 0o600))
	must(t, format.Migrate(path, 0, format.Version, func(c *sqlite.Conn) error {
		_, err := c.Exec(string(schema))
		return err
	}))
	return path
}

func openStore(t *testing.T, path string, now func() time.Time) *store.Store {
	t.Helper()
	s, err := store.Open(path, now)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// newStoreAt returns a store with the departments ours and theirs.
func newStoreAt(t *testing.T, now func() time.Time) *store.Store {
	t.Helper()
	s := openStore(t, newFile(t), now)
	must(t, s.AddDepartments([]store.Department{{Name: "Engine 7"}, {Name: "Ladder 1"}}))
	return s
}

func newStore(t *testing.T) *store.Store { t.Helper(); return newStoreAt(t, time.Now) }

// createKey makes a key and returns it.
func createKey(t *testing.T, s *store.Store, k store.NewKey) (key string) {
	t.Helper()
	must(t, s.CreateKey(k, func(made string) error { key = made; return nil }))
	return key
}

// newKey makes a key and returns its number.
func newKey(t *testing.T, s *store.Store, tenant, label string) store.KeyID {
	t.Helper()
	createKey(t, s, store.NewKey{Tenant: tenant, Label: label, Scope: store.ScopeWrite})
	return store.KeyID(scanInt(t, s, `SELECT max(id) FROM keys`))
}

// listedKeys returns the departments of the keys that ListKeys yields.
func listedKeys(t *testing.T, s *store.Store) (all []string) {
	t.Helper()
	must(t, s.ListKeys("", func(_ store.Key, tenant string) { all = append(all, tenant) }))
	return all
}

func openSQL(t *testing.T, s *store.Store) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", s.DB().Path()+"?_pragma=busy_timeout(10000)")
	must(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

// exec changes the database as another program.
func exec(t *testing.T, s *store.Store, query string, args ...any) {
	t.Helper()
	_, err := openSQL(t, s).Exec(query, args...)
	must(t, err)
}

// scanInt reads a number as another program.
func scanInt(t *testing.T, s *store.Store, query string) (n int64) {
	t.Helper()
	must(t, openSQL(t, s).QueryRow(query).Scan(&n))
	return n
}

// allKeys returns what Keys yields.
func allKeys(t *testing.T, s *store.Store) map[store.KeyHash]store.Key {
	t.Helper()
	all := map[store.KeyHash]store.Key{}
	must(t, s.Keys(0, func(hash store.KeyHash, k store.Key) { all[hash] = k }))
	return all
}
