package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

// makeAdmins is a hidden trigger that gives each new key all rights.
const makeAdmins = "CREATE TRIGGER \"\x1b]0;x\x07\u009b\" AFTER INSERT ON keys BEGIN UPDATE keys SET scope = 'admin' WHERE id = NEW.id; END"

// TestRestoreSchema checks that a restore rejects a backup whose schema differs from the program's, and
// that the error escapes names that could affect the terminal.
func TestRestoreSchema(t *testing.T) {
	t.Parallel()
	db, saved, _ := backedUp(t)
	before := contents(t, filepath.Dir(db))
	refused := func(name, file, want string) {
		t.Helper()
		refuses(t, 1, fmt.Sprintf("Error: the backup %q was modified: %s\n", file, want),
			"restore", file, "--db", db)
		if after := contents(t, filepath.Dir(db)); len(after) != len(before) || after["x.db"] != before["x.db"] {
			t.Errorf("%s: the files changed to %q", name, namesIn(t, filepath.Dir(db)))
		}
	}
	for name, tt := range map[string]struct{ change, want string }{
		"trigger": {makeAdmins, `the trigger "\x1b]0;x\a\u009b" is not part of this program's schema`},
		"view":    {`CREATE VIEW people AS SELECT * FROM firefighters`, `the view "people" is not part of this program's schema`},
		"index":   {`CREATE INDEX more ON tenants (name COLLATE nocase)`, `the index "more" is not part of this program's schema`},
		"table":   {`CREATE TABLE more (x)`, `the table "more" is not part of this program's schema`},
		"virtual": {`CREATE VIRTUAL TABLE more USING rtree (id, a, b)`, `the table "more" is not part of this program's schema (and 3 more)`},
		"another": {`DROP TRIGGER firefighter_stays; CREATE TRIGGER firefighter_stays AFTER UPDATE ON firefighters BEGIN DELETE FROM keys; END`,
			`the trigger "firefighter_stays" differs from this program's schema`},
		"missing": {`DROP TRIGGER firefighter_erased`, `the trigger "firefighter_erased" is missing`},
		"foreign key": {`CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER REFERENCES firefighters (row))`,
			`the table "_litestream_seq" is not part of this program's schema`},
		"hidden by a NUL": {`PRAGMA writable_schema = on; UPDATE sqlite_schema SET sql = replace(sql, ') STRICT', ') --' || char(0) || char(10) || ' STRICT') WHERE name = 'keys'`,
			`the table "keys" differs from this program's schema`},
	} {
		file := filepath.Join(t.TempDir(), "bad.db")
		copyOf(t, saved, file)
		execSQL(t, file, tt.change)
		refused(name, file, "its schema differs from version 1: "+tt.want)
	}
	// The hint names the newest backup that restore accepts.
	bad := filepath.Join(t.TempDir(), backupName(time.Unix(2, 0)))
	good := filepath.Join(filepath.Dir(bad), backupName(time.Unix(1, 0)))
	copyOf(t, saved, bad)
	execSQL(t, bad, makeAdmins)
	copyOf(t, saved, good)
	if _, _, stderr := runCommand(t, "restore", bad, "--db", db); !strings.Contains(stderr, "Try: firefighters restore "+good+" --db "+db+"\n") {
		t.Errorf("stderr %q", stderr)
	}
}

// schemaSQL is the schema of the program.
var schemaSQL = func() string {
	text, err := os.ReadFile("../schema.sql")
	if err != nil {
		panic(err)
	}
	return string(text)
}()

var format = store.Format(schemaSQL, 1)

// makeDatabase creates an empty database at path.
func makeDatabase(t *testing.T, path string) {
	t.Helper()
	must(t, os.WriteFile(path, nil, 0o600))
	must(t, format.Migrate(path, 0, 1, func(c *sqlite.Conn) error { return store.Create(c, schemaSQL) }))
}

// dump returns all rows of queries, one per line.
func dump(t *testing.T, path string, queries ...string) string {
	t.Helper()
	db := openSQL(t, path)
	defer db.Close()
	var b strings.Builder
	for _, query := range queries {
		rows, err := db.Query(query)
		must(t, err)
		names, err := rows.Columns()
		must(t, err)
		row, into := make([]any, len(names)), make([]any, len(names))
		for i := range row {
			into[i] = &row[i]
		}
		for rows.Next() {
			must(t, rows.Scan(into...))
			fmt.Fprintf(&b, "%v\n", row)
		}
		must(t, rows.Err())
		must(t, rows.Close())
	}
	return b.String()
}

// openAt opens the database at path with another clock. It creates a missing database.
func openAt(t *testing.T, path string, now func() time.Time) *store.Store {
	t.Helper()
	if !exists(path) {
		makeDatabase(t, path)
	}
	s, err := store.Open(path, now)
	must(t, err)
	return s
}

// TestCheckSchema checks that check names a foreign trigger and that backup and serve warn about it.
func TestCheckSchema(t *testing.T) {
	t.Parallel()
	db, _, _ := backedUp(t)
	execSQL(t, db, makeAdmins)
	code, stdout, stderr := runCommand(t, "check", "--db", db, "--repair")
	if code != 1 || stdout != "" || !strings.HasPrefix(stderr, `The schema: the trigger "\x1b]0;x\a\u009b" is not part of this program's schema`+"\n") ||
		!strings.Contains(stderr, fmt.Sprintf("Error: the database %q has tables, indexes, triggers or views that another program has changed", db)) {
		t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	code, stdout, stderr = runCommand(t, "backup", filepath.Join(t.TempDir(), "saved.db"), "--db", db)
	if code != 0 || !strings.HasPrefix(stdout, "Saved ") || !strings.Contains(stderr, `Warning: restore will reject this backup: its schema differs from version `) ||
		!strings.Contains(stderr, `: the trigger "\x1b]0;x\a\u009b" is not part of this program's schema`+"\n") {
		t.Errorf("backup: code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	s := startOn(t, db)
	if log := s.stderr.String(); !strings.Contains(log, `Warning: the database was modified: its schema differs from version `) ||
		!strings.Contains(log, "; restore will reject a backup of it\nTry: ") || strings.ContainsAny(log, "\x1b\u009b") {
		t.Errorf("log: %q", log)
	}
}

// storeKey creates a key of the department A in an open store.
func storeKey(t *testing.T, s *store.Store, expiresAt time.Time) (key string) {
	t.Helper()
	must(t, s.CreateKey(store.NewKey{Tenant: "A", New: true, Scope: store.ScopeWrite, ExpiresAt: expiresAt}, func(secret string) error {
		key = secret
		return nil
	}))
	return key
}

// TestUnreleased checks that commands reject databases and backups of versions from before the first
// release, name a way to export the data, and do not change the file.
func TestUnreleased(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"old application id": `PRAGMA application_id = 0x46665273; PRAGMA user_version = 7`,
		"another schema.sql": `UPDATE service SET schema_hash = '0123456789abcdef'`,
		"no hash":            `ALTER TABLE service DROP COLUMN schema_hash`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			old, db := filepath.Join(dir, "old.db"), filepath.Join(t.TempDir(), "x.db")
			newKey(t, old, "A")
			execSQL(t, old, change)
			before := contents(t, dir)
			want := fmt.Sprintf("%q was created by an unreleased version of this program\nTry: export the people with that version", old)
			for _, args := range [][]string{{"keys", "list", "--db", old}, {"serve", "--listen", "127.0.0.1:0", "--db", old}, {"check", "--db", old}} {
				if code, stdout, stderr := runCommand(t, args...); code != 1 || stdout != "" || !strings.Contains(inWords(stderr), want) {
					t.Errorf("%q: code %d, %s%s", args, code, stdout, stderr)
				}
			}
			want = fmt.Sprintf("Error: the backup %q was created by an unreleased version of this program\nTry: ", old)
			if code, _, stderr := runCommand(t, "restore", old, "--db", db); code != 1 || !strings.HasPrefix(stderr, want) || exists(db) {
				t.Errorf("restore: code %d, %s", code, stderr)
			}
			if after := contents(t, dir); after["old.db"] != before["old.db"] {
				t.Errorf("the file changed; files: %q", namesIn(t, dir))
			}
		})
	}
}
