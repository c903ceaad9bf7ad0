package content_test

import (
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
	ana     = record.Fields{FirstName: "Ana", LastName: "Čović", Email: "ana@example.com"}
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

// newStore returns a store with the departments ours and theirs.
func newStore(t *testing.T, now func() time.Time) *store.Store {
	t.Helper()
	s := openStore(t, newFile(t), now)
	must(t, s.AddDepartments([]store.Department{{Name: "Engine 7"}, {Name: "Ladder 1"}}))
	return s
}

// read calls do with a connection to the database of a store.
func read(t *testing.T, s *store.Store, do func(c *sqlite.Conn) error) {
	t.Helper()
	must(t, s.DB().Read(do))
}

// asIs is a check that has nothing to object to.
func asIs(record.Firefighter) error { return nil }

func create(t *testing.T, s *store.Store, tenant record.TenantID) record.Firefighter {
	t.Helper()
	f, err := s.Create(tenant, 0, ana, nil)
	must(t, err)
	return f
}

func createKey(t *testing.T, s *store.Store) (key string) {
	t.Helper()
	must(t, s.CreateKey(store.NewKey{Tenant: "Engine 7", Scope: store.ScopeRead}, func(made string) error { key = made; return nil }))
	return key
}

// allKeys returns what Keys yields.
func allKeys(t *testing.T, s *store.Store) map[store.KeyHash]store.Key {
	t.Helper()
	all := map[store.KeyHash]store.Key{}
	must(t, s.Keys(0, func(hash store.KeyHash, k store.Key) { all[hash] = k }))
	return all
}
