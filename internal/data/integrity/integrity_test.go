package integrity_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/firefighter-records/firefighters/internal/data/integrity"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// schema contains only the tables and columns that the package uses.
var schema = `
	PRAGMA user_version = 2;
	CREATE TABLE service (latest_time INTEGER NOT NULL, folding INTEGER NOT NULL);
	INSERT INTO service VALUES (0, ` + fmt.Sprint(fold.Version) + `);
	CREATE TABLE tenants (id INTEGER PRIMARY KEY, name TEXT, live_count INTEGER, last_seq INTEGER, version INTEGER);
	CREATE TABLE firefighters (row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, tenant_id INTEGER REFERENCES tenants (id),
		created_at INTEGER, updated_at INTEGER, deleted_at INTEGER, checksum INTEGER, invitation_status TEXT, user_id TEXT,
		` + record.FieldColumns + `, ` + record.KeyColumns + `);`

const tenant record.TenantID = 7

func idOf(n int) string { return fmt.Sprintf("01a1f83c-64f7-795d-bc35-%012d", n) }

// newDatabase creates a database with intact records 1 to n of one tenant. The third is deleted.
func newDatabase(t *testing.T, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.db")
	execSQL(t, path, schema)
	file, err := sql.Open("sqlite", path)
	must(t, err)
	defer file.Close()
	tx, err := file.Begin()
	must(t, err)
	placeholders := strings.Repeat(", ?", strings.Count(record.FieldColumns+","+record.KeyColumns, ",")+1)
	insert, err := tx.Prepare(`INSERT INTO firefighters (row, id, tenant_id, updated_at, deleted_at, checksum, ` +
		record.FieldColumns + `, ` + record.KeyColumns + `) VALUES (?, ?, ?, 5, ?, ?` + placeholders + `)`)
	must(t, err)
	for i := 1; i <= n; i++ {
		fields := record.Fields{FirstName: "Ana", LastName: fmt.Sprint("Čović ", i), DateOfBirth: "1990-05-15T00:00:00Z"}
		var deletedAt any
		if i == 3 {
			deletedAt = 5
		}
		args := []any{int64(tenant)<<32 | int64(i), idOf(i), int64(tenant), deletedAt, record.Checksum(tenant, idOf(i), &fields, i == 3)}
		for _, value := range append(fields.Values(), fields.Keys()...) {
			args = append(args, value)
		}
		_, err := insert.Exec(args...)
		must(t, err)
	}
	must(t, tx.Commit())
	execSQL(t, path, `INSERT INTO tenants SELECT ?, 'Engine 7', count(*) FILTER (WHERE deleted_at IS NULL), count(*), 0 FROM firefighters`, int64(tenant))
	return path
}

func open(t *testing.T, path string) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(path, sqlite.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	return db
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// execSQL changes a database the way another program would.
func execSQL(t *testing.T, path, text string, args ...any) {
	t.Helper()
	file, err := sql.Open("sqlite", path)
	must(t, err)
	_, err = file.Exec(text, args...)
	must(t, errors.Join(err, file.Close()))
}

// check returns the findings of Check and their lines.
func check(t *testing.T, db *sqlite.DB) (integrity.Findings, string) {
	t.Helper()
	var lines strings.Builder
	done := 0
	found, err := integrity.Check(t.Context(), db, integrity.Options{
		Format:   sqlite.Format{Version: 2, Schema: schema},
		Found:    func(finding string) { lines.WriteString(finding + "\n") },
		Progress: func(n, _ int) { done = n },
	})
	must(t, err)
	must(t, db.Read(func(c *sqlite.Conn) error {
		if n, err := c.QueryInt(`SELECT count(*) FROM firefighters`); err != nil || int(n) != done {
			t.Errorf("%d of %d records were checked, %v", done, n, err)
		}
		return nil
	}))
	return found, lines.String()
}

// TestCheck checks that damage is found and described.
func TestCheck(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, damage string
		found        integrity.Findings
		text         string
	}{
		{"nothing", ``, integrity.Findings{}, ""},
		{"a key", `UPDATE firefighters SET last_key = 'zora' WHERE row & 1`, integrity.Findings{Stale: 2},
			"The record " + idOf(1) + ": its sort and search keys do not match its fields\n"},
		{"a date", `UPDATE firefighters SET born_at = born_at + 1 WHERE row & 3 = 2`, integrity.Findings{Stale: 1}, idOf(2)},
		{"a blob for a key", `UPDATE firefighters SET search_text = x'00' WHERE row & 3 = 2`, integrity.Findings{Stale: 1}, idOf(2)},
		{"a count", `UPDATE tenants SET live_count = 9`, integrity.Findings{Stale: 1},
			`The department "Engine 7": it counts 9 records up to number 4, but has 3 up to number 4` + "\n"},
		{"a sequence", `UPDATE tenants SET last_seq = 2`, integrity.Findings{Stale: 1}, "up to number 2,"},
		{"a field", `UPDATE firefighters SET last_name = 'Covic' WHERE row & 3 = 2`, integrity.Findings{Damaged: 1},
			"The record " + idOf(2) + " is damaged: its fields do not match their checksum\n"},
		{"a tenant", `UPDATE firefighters SET tenant_id = 1; UPDATE tenants SET id = 1`, integrity.Findings{Damaged: 4, Stale: 1}, idOf(4)},
		{"a deletion mark", `UPDATE firefighters SET deleted_at = NULL`, integrity.Findings{Damaged: 1, Stale: 1}, idOf(3)},
		{"a reference", `UPDATE tenants SET id = 1`, integrity.Findings{Broken: 4, Stale: 1},
			fmt.Sprintf("The file: row %d of firefighters refers to nothing\n", int64(tenant)<<32|1)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := newDatabase(t, 4)
			execSQL(t, path, tt.damage)
			if found, text := check(t, open(t, path)); found != tt.found || !strings.Contains(text, tt.text) {
				t.Errorf("found %+v, want %+v: %s", found, tt.found, text)
			}
		})
	}
}

// TestCheckStructure checks that damage to the structure is reported in a few lines.
func TestCheckStructure(t *testing.T) {
	t.Parallel()
	path := newDatabase(t, 1000)
	overwrite(t, path, 40, 30)
	var text strings.Builder
	found, err := integrity.Check(t.Context(), open(t, path), integrity.Options{
		Format:   sqlite.Format{Version: 2, Schema: schema},
		Found:    func(finding string) { text.WriteString(finding + "\n") },
		Progress: func(int, int) {},
	})
	if found.Broken == 0 && !errors.Is(err, sqlite.ErrCorrupt) {
		t.Errorf("found %+v, error %v", found, err)
	}
	if lines := strings.Count(text.String(), "\n"); lines == 0 || lines > 6 || !strings.HasPrefix(text.String(), "The file: ") {
		t.Errorf("%d lines: %s", lines, text.String())
	}
}

// TestCheckManyTenants checks and repairs the counters of more than a thousand tenants.
func TestCheckManyTenants(t *testing.T) {
	t.Parallel()
	path := newDatabase(t, 4)
	const tenants = 1001
	execSQL(t, path, `WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n LIMIT ?)
		INSERT OR REPLACE INTO tenants SELECT id, 'Engine ' || id, 9, 4, 0 FROM n`, tenants)
	db := open(t, path)
	if found, _ := check(t, db); found != (integrity.Findings{Stale: tenants}) {
		t.Errorf("found %+v", found)
	}
	log, text := logger()
	integrity.Scrub(t.Context(), db, log, now)
	if !strings.Contains(text.String(), fmt.Sprint("departments=", tenants)) {
		t.Errorf("the log: %s", text)
	}
	if found, text := check(t, db); found != (integrity.Findings{}) {
		t.Errorf("found %+v: %s", found, text)
	}
}

// overwrite damages pages of a file.
func overwrite(t *testing.T, path string, first, count int64) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	for page := range count {
		_, err := file.WriteAt(bytes.Repeat([]byte("damage"), 100), (first+page)*4096)
		must(t, err)
	}
	must(t, file.Close())
}

// TestCheckClock checks that a latest time far ahead of the clock is found, but not a time that is
// slightly ahead.
func TestCheckClock(t *testing.T) {
	t.Parallel()
	db := open(t, newDatabase(t, 1))
	ahead := time.Date(time.Now().Year()+10, 1, 2, 3, 4, 5, 0, time.UTC)
	for latest, want := range map[time.Time]string{
		time.Now().Add(integrity.ClockTolerance - time.Minute): "",
		ahead: "The latest time seen, " + ahead.Format(time.RFC3339) + ", is ahead of the clock\n",
	} {
		db.Clock.Set(latest.UnixMilli())
		if found, text := check(t, db); found != (integrity.Findings{Ahead: want != ""}) || text != want {
			t.Errorf("%v: found %+v: %s", latest, found, text)
		}
	}
}

// TestRefold checks that keys of another version of the folding are computed again, in one
// transaction, and that they do not count as damage before that.
func TestRefold(t *testing.T) {
	t.Parallel()
	path := newDatabase(t, 3)
	db := open(t, path)
	execSQL(t, path, `UPDATE firefighters SET last_key = 'old'; UPDATE firefighters SET first_name = 'Eva' WHERE row & 15 = 2;
		UPDATE service SET folding = 0`)
	if found, text := check(t, db); found != (integrity.Findings{Damaged: 1}) {
		t.Errorf("before: %+v\n%s", found, text)
	}
	execSQL(t, path, `CREATE TRIGGER no BEFORE UPDATE ON service BEGIN SELECT RAISE(ABORT, 'no'); END`)
	if err := integrity.Refold(t.Context(), db); err == nil || keys(t, db) != "old old old" {
		t.Errorf("after a failed transaction: %q, %v", keys(t, db), err)
	}
	execSQL(t, path, `DROP TRIGGER no`)
	for range 2 {
		must(t, integrity.Refold(t.Context(), db))
		if got := keys(t, db); got != "covic 1 old covic 3" {
			t.Errorf("after: %q", got)
		}
		execSQL(t, path, `UPDATE firefighters SET first_key = 'old'`) // the second time, the version is right
	}
	if found, _ := check(t, db); found != (integrity.Findings{Damaged: 1, Stale: 2}) {
		t.Errorf("at the end: %+v", found)
	}
}

// keys returns the keys of all last names.
func keys(t *testing.T, db *sqlite.DB) (all string) {
	t.Helper()
	must(t, db.Read(func(c *sqlite.Conn) error {
		return c.Query(`SELECT group_concat(last_key, ' ') FROM firefighters`, nil, func(row sqlite.Row) { all = row.Text(0) })
	}))
	return all
}
