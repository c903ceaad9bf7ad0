package store_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

// TestSchemaHash checks that a database is accepted only if its schema.sql differs in nothing but
// comments and white space.
func TestSchemaHash(t *testing.T) {
	t.Parallel()
	const schema = `CREATE TABLE service (schema_hash TEXT, folding INTEGER, history INTEGER, secret BLOB, address TEXT);
		INSERT INTO service DEFAULT VALUES; CREATE TABLE invitations (id INTEGER); CREATE TABLE settings (machine TEXT)`
	path := filepath.Join(t.TempDir(), "x.db")
	createEmpty(t, path)
	must(t, store.Format(schema, 1).Migrate(path, 0, 1, func(c *sqlite.Conn) error { return store.Create(c, schema) }))
	for text, want := range map[string]error{
		schema: nil,
		"-- a comment\n" + schema + "  -- another": nil,
		schema + "; CREATE TABLE more (x)":         sqlite.ErrUnreleased,
	} {
		if _, err := store.Format(text, 1).Verify(path); !errors.Is(err, want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
