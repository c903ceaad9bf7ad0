package sqlite_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// TestCheckSchema checks that a schema is compared by its statements, regardless of comments and
// whitespace, and that the error lists every difference.
func TestCheckSchema(t *testing.T) {
	t.Parallel()
	const made = `CREATE TABLE a (x TEXT NOT NULL UNIQUE); -- names
		CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT RAISE (ABORT, 'no -- way'); END`
	schema := sqlite.Format{ApplicationID: 7, Version: 2, Schema: made}
	for name, tt := range map[string]struct {
		version int
		change  string
		want    []string
	}{
		"as made":  {2, ``, nil},
		"comments": {2, `DROP TRIGGER t; CREATE TRIGGER t AFTER INSERT /* of one */ ON a BEGIN SELECT RAISE(ABORT,'no -- way'); END`, nil},
		"of others": {2, `CREATE TABLE IF NOT EXISTS _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER);
			CREATE TABLE IF NOT EXISTS _litestream_lock (id INTEGER); ANALYZE`, nil},
		"foreign key":     {2, `CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER REFERENCES a(x))`, []string{`the table "_litestream_seq" is not part of this program's schema`}},
		"another version": {2, `ALTER TABLE a ADD COLUMN y`, []string{`the table "a" differs from this program's schema`}},
		"older version":   {1, `CREATE TABLE b (x)`, nil},
		"text":            {2, `DROP TRIGGER t; CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT RAISE(ABORT,'no--way'); END`, []string{`the trigger "t" differs from this program's schema`}},
		"missing":         {2, `DROP TRIGGER t`, []string{`the trigger "t" is missing`}},
		"foreign": {2, `CREATE INDEX i ON a (x); CREATE VIEW v AS SELECT 1; CREATE TABLE b (x); CREATE TRIGGER u AFTER DELETE ON a BEGIN SELECT 1; END`,
			[]string{`the index "i" is not part of this program's schema`, `the table "b" is not part of this program's schema`, `the trigger "u" is not part of this program's schema`, `the view "v" is not part of this program's schema`}},
		"virtual":         {2, `CREATE VIRTUAL TABLE _litestream_seq USING fts5 (x)`, []string{`the table "_litestream_seq" is not part of this program's schema`}},
		"trigger on them": {2, `CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER); CREATE TRIGGER u AFTER INSERT ON _litestream_seq BEGIN DELETE FROM a; END`, []string{`the trigger "u" is not part of this program's schema`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "x.db")
			write(t, path, "")
			must(t, schema.Migrate(path, 0, tt.version, func(c *sqlite.Conn) error {
				_, err := c.Exec(made)
				if err == nil && tt.change != "" {
					_, err = c.Exec(tt.change)
				}
				return err
			}))
			c, err := sqlite.Peek(path)
			must(t, err)
			defer c.Close()
			err = schema.CheckSchema(c)
			wrong, _ := errors.AsType[*sqlite.SchemaError](err)
			if tt.want == nil && err != nil || tt.want != nil && (wrong == nil || wrong.Version != tt.version) {
				t.Fatalf("error %v", err)
			}
			for _, fault := range tt.want {
				if !slices.Contains(wrong.Faults, fault) {
					t.Errorf("missing fault %q in %q", fault, wrong.Faults)
				}
			}
			if wrong != nil && name != "virtual" && len(wrong.Faults) != len(tt.want) {
				t.Errorf("faults %q", wrong.Faults)
			}
		})
	}
}
