package sqlite_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// TestLockDatabase checks that only one process at a time holds the lock, and that it is free again
// after the process releases it or is killed.
func TestLockDatabase(t *testing.T) {
	t.Parallel()
	path := created(t)
	release, err := sqlite.LockDatabase(path)
	must(t, err)
	if info, err := os.Stat(path + "-lock"); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("lock file %v, %v", info, err)
	}
	_, err = sqlite.LockDatabase(path)
	isFileError(t, err, "locking", path, sqlite.ErrInUse)
	process, says := startLockHelper(t, path)
	if !strings.HasPrefix(says, "false") || !strings.HasSuffix(says, sqlite.ErrInUse.Error()) {
		t.Errorf("a second process got the lock: %s", says)
	}
	process.Process.Kill()
	process.Wait()
	must(t, release())

	process, says = startLockHelper(t, path)
	if says != "true <nil>" {
		t.Fatalf("a second process did not get the lock: %s", says)
	}
	_, err = sqlite.LockDatabase(path)
	isFileError(t, err, "locking", path, sqlite.ErrInUse)
	must(t, note(openAt(t, path, sqlite.Options{}), "x")) // the lock does not block the database
	must(t, process.Process.Kill())
	process.Wait()
	release, err = sqlite.LockDatabase(path)
	must(t, err)
	must(t, release())
	if _, isLeft := contents(t, filepath.Dir(path))["x.db-lock"]; isLeft {
		t.Error("the lock file is left")
	}
}

// TestLookForLock checks that commands that hold the lock for a moment do not keep a service from
// starting.
func TestLookForLock(t *testing.T) {
	t.Parallel()
	path := created(t)
	var looking sync.WaitGroup
	var done atomic.Bool
	looking.Go(func() {
		for !done.Load() {
			if release, err := sqlite.LockFile(path + "-lock"); err == nil {
				time.Sleep(time.Millisecond)
				wants(t, release(), nil)
			}
			time.Sleep(time.Millisecond)
		}
	})
	defer looking.Wait()
	defer done.Store(true)
	for range 50 {
		release, err := sqlite.LockDatabase(path)
		must(t, err)
		must(t, release())
	}
}

// TestOddLock checks that an unusable lock file is not reported as damage of the database.
func TestOddLock(t *testing.T) {
	t.Parallel()
	path := created(t)
	write(t, path+"-lock", "something else altogether")
	_, err := sqlite.LockDatabase(path)
	isFileError(t, err, "locking", path, sqlite.ErrLockFile)
	if errors.Is(err, sqlite.ErrCorrupt) || errors.Is(err, sqlite.ErrInUse) {
		t.Errorf("error %v", err)
	}
	must(t, os.Remove(path+"-lock"))
	must(t, os.Mkdir(path+"-lock", 0o700))
	_, err = sqlite.LockDatabase(path)
	isFileError(t, err, "locking", path, sqlite.ErrPermission)
	missing := filepath.Join(t.TempDir(), "missing", "x.db")
	_, err = sqlite.LockDatabase(missing)
	isFileError(t, err, "locking", missing, fs.ErrNotExist)
}

// TestRemovedLockFile checks that a lock on a file that its previous holder has removed does not count.
func TestRemovedLockFile(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not remove a file in use")
	}
	path := filepath.Join(t.TempDir(), "lock")
	var holders, locked atomic.Int64
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			for locked.Load() < 30 {
				release, err := sqlite.LockFile(path)
				if err != nil {
					wants(t, err, sqlite.ErrBusy)
					continue
				}
				if n := holders.Add(1); n != 1 {
					t.Errorf("%d goroutines hold the lock", n)
				}
				locked.Add(1)
				time.Sleep(5 * time.Millisecond) // more than the resolution of file times
				holders.Add(-1)
				wants(t, release(), nil)
			}
		})
	}
	running.Wait()
}
