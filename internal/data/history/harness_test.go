package history_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// The departments of the tests.
const (
	ours   = record.TenantID(1) // "Engine 7"
	theirs = record.TenantID(2) // "Ladder 1"
)

const nobody = "01890000-0000-7000-8000-000000000000" // no record has this id

var (
	format = sqlite.Format{ApplicationID: 0x46665273, Version: 5}
	ana    = record.Fields{FirstName: "Ana", LastName: "Čović", PhoneNumber: "091 234 5678", Email: "ana@example.com",
		DateOfBirth: "1990-05-15T00:00:00Z"}
	eva  = record.Fields{FirstName: "Eva", LastName: "B"}
	noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newStore returns a store with the real schema and the departments ours and theirs.
func newStore(t *testing.T, now func() time.Time) *store.Store {
	t.Helper()
	schema, err := os.ReadFile("../../../schema.sql")
	must(t, err)
	path := filepath.Join(t.TempDir(), "x.db")
	must(t, os.WriteFile(path, nil, 0o600))
	must(t, format.Migrate(path, 0, format.Version, func(c *sqlite.Conn) error {
		_, err := c.Exec(string(schema))
		return err
	}))
	s, err := store.Open(path, now)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	must(t, s.AddDepartments([]store.Department{{Name: "Engine 7"}, {Name: "Ladder 1"}}))
	return s
}

// asIs is a check that has nothing to object to.
func asIs(record.Firefighter) error { return nil }

func create(t *testing.T, s *store.Store, tenant record.TenantID, fields record.Fields) record.Firefighter {
	t.Helper()
	f, err := s.Create(tenant, 0, fields, nil)
	must(t, err)
	return f
}

func replace(t *testing.T, s *store.Store, tenant record.TenantID, id string, fields record.Fields) record.Firefighter {
	t.Helper()
	f, err := s.Replace(tenant, 0, id, fields, asIs)
	must(t, err)
	return f
}

// createDeleted creates a record and deletes it.
func createDeleted(t *testing.T, s *store.Store, tenant record.TenantID, fields record.Fields) record.Firefighter {
	t.Helper()
	f := create(t, s, tenant, fields)
	must(t, s.Delete(tenant, 0, f.ID, asIs))
	return f
}

// purge erases deleted records with these ids.
func purge(t *testing.T, s *store.Store, tenant record.TenantID, ids ...string) {
	t.Helper()
	all, err := s.Deleted(tenant, time.UnixMilli(1<<53))
	must(t, err)
	all = slices.DeleteFunc(all, func(f record.Stored) bool { return !slices.Contains(ids, f.ID) })
	if erased, err := s.Purge(tenant, all); err != nil || erased != len(ids) {
		t.Fatalf("erased %d of %d, %v", erased, len(ids), err)
	}
}

// newKey makes a key and returns its number.
func newKey(t *testing.T, s *store.Store, label string) (id store.KeyID) {
	t.Helper()
	must(t, s.CreateKey(store.NewKey{Tenant: "Engine 7", Label: label, Scope: store.ScopeWrite}, func(string) error { return nil }))
	must(t, s.ListKeys("Engine 7", func(k store.Key, _ string) { id = max(id, k.ID) }))
	return id
}

// exec changes the database as another program.
func exec(t *testing.T, s *store.Store, query string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", s.DB().Path()+"?_pragma=busy_timeout(10000)")
	must(t, err)
	defer db.Close()
	_, err = db.Exec(query, args...)
	must(t, err)
}
