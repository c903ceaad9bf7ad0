package backup_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// isLocked reports whether this process has SQLite's shared lock on the database
// at path. Without it another program, if its SQLite is of before 3.51, takes
// itself for the last to use the database, and deletes the -wal.
func isLocked(t *testing.T, path string) bool {
	t.Helper()
	const shared = 1<<30 + 2 // the first byte of the lock
	info, err := os.Stat(path)
	must(t, err)
	line := regexp.MustCompile(fmt.Sprintf(`POSIX +ADVISORY +READ +%d +\S+:%d +%d `, os.Getpid(), info.Sys().(*syscall.Stat_t).Ino, shared))
	for range 50 { // the list can lack a lock while other programs lock and unlock
		locks, err := os.ReadFile("/proc/locks")
		must(t, err)
		if line.Match(locks) {
			return true
		}
	}
	return false
}

// TestServedMeanwhile: a backup leaves its own process the locks on the database.
func TestServedMeanwhile(t *testing.T) {
	t.Parallel()
	path, dir, now := newDatabase(t, 1), t.TempDir(), noon
	db := openDatabase(t, path)
	defer db.Close()
	s, log := newScheduler(t, path, t.TempDir(), 1, &now)
	must(t, db.Read(func(c *sqlite.Conn) error { _, err := c.Size(); return err }))
	if !isLocked(t, path) {
		t.Fatal("it is not locked at first")
	}
	if makeBackup(t, path, filepath.Join(dir, "x.db")); !isLocked(t, path) {
		t.Error("not after a job")
	}
	s.Turn(t.Context())
	if s.Turn(t.Context()); !isLocked(t, path) || log.String() != "" {
		t.Errorf("not after backups by schedule; log %s", log)
	}
}
