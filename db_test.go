package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// TestRestoreOldSchema: backups of all versions are restored, new ones and upgraded
// ones, also where Litestream and ANALYZE have added tables.
func TestRestoreOldSchema(t *testing.T) {
	t.Parallel()
	for from := 1; from <= schemaVersion; from++ {
		for to := from; to <= schemaVersion; to++ {
			file := filepath.Join(t.TempDir(), "old.db")
			must(t, os.WriteFile(file, nil, 0o600))
			must(t, schema.Files.Migrate(file, 0, from, func(c *sqlite.Conn) error {
				_, err := c.Exec(schemaFor(from) + `; INSERT INTO tenants (id, name, created_at) VALUES (1, 'A', 0)`)
				return err
			}))
			must(t, schema.Files.Migrate(file, from, to, func(c *sqlite.Conn) (err error) {
				for version := from; version < to && err == nil; version++ {
					err = schema.Upgrades[version](c)
				}
				return err
			}))
			execSQL(t, file, `CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER); CREATE TABLE _litestream_lock (id INTEGER); ANALYZE`)
			db := filepath.Join(t.TempDir(), "x.db")
			works(t, "restore", file, "--db", db)
			if stdout, _ := works(t, "check", "--db", db); stdout != "The database is sound.\n" {
				t.Errorf("version %d from %d: %s", to, from, stdout)
			}
		}
		if header := regexp.MustCompile(`schema version (\d+)`).FindStringSubmatch(schemaFor(from)); header == nil || header[1] != fmt.Sprint(from) {
			t.Errorf("the schema of version %d says %q", from, header)
		}
	}
}

// TestBackupsOfRenamed: a database keeps its backups when a department gets
// another name, and when its first one is removed.
func TestBackupsOfRenamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, saved := filepath.Join(dir, "x.db"), filepath.Join(dir, time.Now().UTC().Add(-time.Hour).Format("x-20060102T150405Z.db"))
	newKey(t, db, "default")
	newKey(t, db, "Engine 7")
	works(t, "backup", saved, "--db", db)
	for _, change := range [][]string{{"rename", "default", "A"}, {"rename", "Engine 7", "B"}, {"remove", "A", "--yes"}} {
		works(t, append(append([]string{"departments"}, change...), "--db", db)...)
		if files := backup.Files(schema, db, ""); len(files) != 1 || files[0].Path != saved {
			t.Errorf("after %q: %+v", change, files)
		}
	}
	other := filepath.Join(t.TempDir(), "x.db")
	newKey(t, other, "default")
	if files := backup.Files(schema, other, dir); len(files) != 0 {
		t.Errorf("of another database: %+v", files)
	}
}
