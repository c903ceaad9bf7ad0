package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// isLocked reports whether the service holds SQLite's shared lock on its database. Without
// the lock, a program with an SQLite older than 3.51 could take itself for the last user of
// the database and delete the -wal.
func (s *testService) isLocked(t *testing.T) bool {
	t.Helper()
	const shared = 1<<30 + 2 // the first byte of the lock
	info, err := os.Stat(s.db)
	must(t, err)
	locks, err := os.ReadFile("/proc/locks")
	must(t, err)
	line := fmt.Sprintf(`POSIX +ADVISORY +READ +%d +\S+:%d +%d `, s.process.Process.Pid, info.Sys().(*syscall.Stat_t).Ino, shared)
	return regexp.MustCompile(line).Match(locks)
}

// TestBackupWhileServed checks that a service that makes a backup keeps its locks on the
// database.
func TestBackupWhileServed(t *testing.T) {
	t.Parallel()
	db, dir := filepath.Join(t.TempDir(), "x.db"), t.TempDir()
	s := startWith(t, db, "serve", "--db", db, "--backup-dir", dir)
	eventually(t, "a backup", func() bool {
		names := namesIn(t, dir)
		return len(names) == 1 && strings.HasPrefix(names[0], "x-20")
	})
	s.create(t, ana)
	locked := false
	for range 10 { // reading the list while others lock files can skip entries, but not show a lost lock
		locked = locked || s.isLocked(t)
	}
	if !locked {
		t.Error("the service lost its locks")
	}
}
