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

// makeAdmins is a trigger that nobody sees: each new key gets all rights.
const makeAdmins = "CREATE TRIGGER \"\x1b]0;x\x07\u009b\" AFTER INSERT ON keys BEGIN UPDATE keys SET scope = 'admin' WHERE id = NEW.id; END"

// TestRestoreSchema: a backup with anything in it that is not of this program, or
// of another version than it says, is refused, and named without what would change
// the terminal.
func TestRestoreSchema(t *testing.T) {
	t.Parallel()
	db, saved, _ := backedUp(t)
	before := contents(t, filepath.Dir(db))
	refused := func(name, file, want string) {
		t.Helper()
		refuses(t, 1, fmt.Sprintf("Error: the backup %q is not as this program makes it: %s; nothing was changed\nTry: another backup: firefighters restore --help\n", file, want),
			"restore", file, "--db", db)
		if after := contents(t, filepath.Dir(db)); len(after) != len(before) || after["x.db"] != before["x.db"] {
			t.Errorf("%s: there is %q", name, namesIn(t, filepath.Dir(db)))
		}
	}
	for version := 1; version <= schemaVersion; version++ {
		for name, tt := range map[string]struct{ change, want string }{
			"trigger": {makeAdmins, `the trigger "\x1b]0;x\a\u009b" is not of this program`},
			"view":    {`CREATE VIEW people AS SELECT * FROM firefighters`, `the view "people" is not of this program`},
			"index":   {`CREATE INDEX more ON tenants (name COLLATE nocase)`, `the index "more" is not of this program`},
			"table":   {`CREATE TABLE more (x)`, `the table "more" is not of this program`},
			"virtual": {`CREATE VIRTUAL TABLE more USING rtree (id, a, b)`, `the table "more" is not of this program (and 3 more)`},
			"another": {`DROP TRIGGER firefighter_stays; CREATE TRIGGER firefighter_stays AFTER UPDATE ON firefighters BEGIN DELETE FROM keys; END`,
				`the trigger "firefighter_stays" is not as this program makes it`},
			"missing": {`DROP TRIGGER firefighter_erased`, `the trigger "firefighter_erased" is missing`},
			"foreign key": {`CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER REFERENCES firefighters (row))`,
				`the table "_litestream_seq" is not of this program`},
			"hidden by a NUL": {`PRAGMA writable_schema = on; UPDATE sqlite_schema SET sql = replace(sql, ') STRICT', ') --' || char(0) || char(10) || ' STRICT') WHERE name = 'keys'`,
				`the table "keys" is not as this program makes it`},
		} {
			file := filepath.Join(t.TempDir(), "bad.db")
			if version == schemaVersion {
				copyOf(t, saved, file)
			} else {
				copyOf(t, oldDatabase(t, version), file)
			}
			execSQL(t, file, tt.change)
			refused(name, file, fmt.Sprintf("its schema is not that of version %d: %s", version, tt.want))
		}
	}
	for version := 1; version < schemaVersion; version++ {
		for _, said := range []int{version, version + 1} {
			file := filepath.Join(t.TempDir(), "version.db")
			if said == version {
				copyOf(t, saved, file)
			} else {
				copyOf(t, oldDatabase(t, version), file)
			}
			execSQL(t, file, fmt.Sprint(`PRAGMA user_version = `, said))
			_, _, stderr := runCommand(t, "restore", file, "--db", db)
			if !strings.Contains(stderr, fmt.Sprintf("its schema is not that of version %d: ", said)) {
				t.Errorf("a database that says it is of version %d: %s", said, stderr)
			}
		}
	}
	wide := filepath.Join(t.TempDir(), "wide.db")
	execSQL(t, wide, fmt.Sprintf(`PRAGMA encoding = 'UTF-16le'; PRAGMA application_id = %d; PRAGMA user_version = %d; %s; INSERT INTO tenants (id, name, created_at) VALUES (1, 'A', 0)`,
		format.ApplicationID, schemaVersion, schemaFor(t, schemaVersion)))
	refused("UTF-16", wide, fmt.Sprintf("its schema is not that of version %d: the texts are in UTF-16le, not in UTF-8", schemaVersion))
	// The newest good backup that is named is one that is not refused.
	bad := filepath.Join(t.TempDir(), backupName(time.Unix(2, 0)))
	good := filepath.Join(filepath.Dir(bad), backupName(time.Unix(1, 0)))
	copyOf(t, saved, bad)
	execSQL(t, bad, makeAdmins)
	copyOf(t, saved, good)
	if _, _, stderr := runCommand(t, "restore", bad, "--db", db); !strings.Contains(stderr, "Try: firefighters restore "+good+" --db "+db+"\n") {
		t.Errorf("stderr %q", stderr)
	}
}

// schemaVersion is that of schema.sql: the folder schemas has all before it.
var schemaVersion = func() int {
	older, err := filepath.Glob("../schemas/*.sql")
	if err != nil || len(older) == 0 {
		panic("there are no older schemas")
	}
	return len(older) + 1
}()

// format is that of the databases of the program.
var format = sqlite.Format{ApplicationID: 0x46665273, Version: schemaVersion}

// schemaFor returns the schema of a version.
func schemaFor(t *testing.T, version int) string {
	t.Helper()
	path := "../schema.sql"
	if version != schemaVersion {
		path = fmt.Sprintf("../schemas/%d.sql", version)
	}
	text, err := os.ReadFile(path)
	must(t, err)
	return string(text)
}

// makeDatabase makes an empty database of a version at path.
func makeDatabase(t *testing.T, path string, version int) {
	t.Helper()
	must(t, os.WriteFile(path, nil, 0o600))
	must(t, format.Migrate(path, 0, version, func(c *sqlite.Conn) error {
		_, err := c.Exec(schemaFor(t, version))
		return err
	}))
}

// oldDatabase returns a new database of an older version, with a department.
func oldDatabase(t *testing.T, version int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "old.db")
	makeDatabase(t, path, version)
	execSQL(t, path, `INSERT INTO tenants (id, name, created_at) VALUES (1, 'A', 0)`)
	return path
}

// openAt opens the database at path, which it makes if there is none, with
// another clock.
func openAt(t *testing.T, path string, now func() time.Time) *store.Store {
	t.Helper()
	if !exists(path) {
		makeDatabase(t, path, schemaVersion)
	}
	s, err := store.Open(path, now)
	must(t, err)
	return s
}

// TestCheckSchema: check names what is not of this program, and a server warns of it.
func TestCheckSchema(t *testing.T) {
	t.Parallel()
	db, _, _ := backedUp(t)
	execSQL(t, db, makeAdmins)
	code, stdout, stderr := runCommand(t, "check", "--db", db, "--repair")
	if code != 1 || stdout != "" || !strings.HasPrefix(stderr, `The schema: the trigger "\x1b]0;x\a\u009b" is not of this program`+"\n") ||
		!strings.Contains(stderr, fmt.Sprintf("Error: the database %q has tables, indexes, triggers or views that are not as this program makes them", db)) {
		t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	code, stdout, stderr = runCommand(t, "backup", filepath.Join(t.TempDir(), "saved.db"), "--db", db)
	if code != 0 || !strings.HasPrefix(stdout, "Saved ") || !strings.Contains(stderr, `Warning: restore will refuse it as it is: its schema is not that of version `) ||
		!strings.Contains(stderr, `: the trigger "\x1b]0;x\a\u009b" is not of this program`+"\n") {
		t.Errorf("backup: code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	s := startOn(t, db)
	if log := s.stderr.String(); !strings.Contains(log, `Warning: the database is not as this program makes it: its schema is not that of version `) ||
		!strings.Contains(log, "; restore refuses a backup of it as it is.\nTry: ") || strings.ContainsAny(log, "\x1b\u009b") {
		t.Errorf("it says %q", log)
	}
}

// storeKey makes a key of the department A in an open store.
func storeKey(t *testing.T, s *store.Store, expiresAt time.Time) (key string) {
	t.Helper()
	must(t, s.CreateKey(store.NewKey{Tenant: "A", Scope: store.ScopeWrite, ExpiresAt: expiresAt}, func(made string) error {
		key = made
		return nil
	}))
	return key
}

// TestRestoreGolden: backups that older versions of the program have made are restored.
func TestRestoreGolden(t *testing.T) {
	t.Parallel()
	for version := 1; version < schemaVersion; version++ {
		db := filepath.Join(t.TempDir(), "x.db")
		works(t, "restore", goldenOf(t, version), "--db", db)
		if stdout, _ := works(t, "check", "--db", db); stdout != sound {
			t.Errorf("version %d: %s", version, stdout)
		}
	}
}
