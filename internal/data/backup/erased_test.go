package backup_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// TestBackupAfterErasure checks that no backup, encrypted backup or restored database contains a
// permanently deleted person, although the file of the database was not rewritten, and that its other
// copies are listed.
func TestBackupAfterErasure(t *testing.T) {
	t.Parallel()
	db, dir := newDatabase(t, 30), t.TempDir()
	addDepartment(t, db, store.Department{Name: department, People: []record.Fields{{FirstName: "Canary", LastName: "B"}}})
	gone := ids(t, db)[30]
	inStore(t, db, func(s *store.Store) error {
		if err := s.Delete(1, 0, gone, func(record.Firefighter) error { return nil }); err != nil {
			return err
		}
		erased, err := s.Purge(1, 0, []record.Stored{{Firefighter: record.Firefighter{ID: gone}, Row: 1<<32 | 31}}, nil)
		if erased != 1 {
			t.Errorf("purged %d", erased)
		}
		return err
	})
	holds := func(path string) bool {
		t.Helper()
		content, err := os.ReadFile(path)
		must(t, err)
		return bytes.Contains(content, []byte("Canary"))
	}
	if !holds(db) {
		t.Fatal("the database contains no traces")
	}
	clean := func(path string) {
		t.Helper()
		if holds(path) {
			t.Errorf("%s contains the person", filepath.Base(path))
		}
		if n := queryInt(t, path, `SELECT erasures - rewritten FROM service`); n != 0 {
			t.Errorf("%s is marked as one with traces", filepath.Base(path))
		}
		if n := records(t, path); n != 30 {
			t.Errorf("%s has %d records", filepath.Base(path), n)
		}
	}
	saved := filepath.Join(dir, "saved.db")
	makeBackup(t, db, saved)
	clean(saved)
	if queryInt(t, db, `SELECT erasures - rewritten FROM service`) != 1 {
		t.Error("the database is no longer marked")
	}

	raw, kept := filepath.Join(dir, "raw.db"), db+".before-restore-20260101T000000Z"
	copyOf(t, db, raw)
	copyOf(t, db, kept)
	found, err := backup.Search{Database: db, Holds: func(c *sqlite.Conn) (bool, error) { return store.HoldsRecord(c, gone) }}.Run(t.Context())
	if must(t, err); len(found.Files) != 1 || found.Files[0].Path != kept {
		t.Errorf("copies with traces: %+v", found)
	}
	_, err = backup.Restore{Format: format, File: raw, Database: db}.Run(t.Context())
	must(t, err)
	clean(db)
}
