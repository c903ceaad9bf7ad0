package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
)

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
		if files := backup.Files(schema.Format, db, ""); len(files) != 1 || files[0].Path != saved {
			t.Errorf("after %q: %+v", change, files)
		}
	}
	other := filepath.Join(t.TempDir(), "x.db")
	newKey(t, other, "default")
	if files := backup.Files(schema.Format, other, dir); len(files) != 0 {
		t.Errorf("of another database: %+v", files)
	}
}
