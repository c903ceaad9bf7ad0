package sqlite

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// LockDatabase keeps other processes from serving the database at path until release. path must not
// be a symbolic link. LockDatabase returns a FileError: ErrInUse if another process holds the lock,
// or ErrLockFile if the lock file, path with "-lock", is not a lock file.
func LockDatabase(path string) (release func() error, err error) {
	release, err = lockFile(path+"-lock", lockWait)
	switch {
	case errors.Is(err, ErrBusy):
		err = ErrInUse
	case errors.Is(err, ErrCorrupt): // the lock file, not the database
		err = ErrLockFile
	}
	return release, Wrap("locking", path, err)
}

// LockFile creates a file if necessary and locks it until release, which removes it. It returns ErrBusy
// if another process holds the lock. The file is an empty SQLite database with an open exclusive
// transaction, so that SQLite's locks work on every system.
func LockFile(path string) (release func() error, err error) { return lockFile(path, 0) }

// lockWait is how long LockDatabase waits for the lock. Some commands hold it for a moment to
// check whether the database is in use.
const lockWait = 500 * time.Millisecond

func lockFile(path string, wait time.Duration) (release func() error, err error) {
	for {
		if !osutil.Exists(path) {
			if err := osutil.CreatePrivate(path); err != nil {
				return nil, err
			}
		}
		before, _ := osutil.Stat(path)
		// In this journal mode SQLite creates no file next to the lock file.
		c, err := open(dsn(path, "mode=rw", fmt.Sprintf("_timeout=%d", wait.Milliseconds()), "_journal_mode=MEMORY"))
		if err == nil {
			if _, err = c.Exec(`BEGIN EXCLUSIVE`); err != nil {
				c.Close()
			}
		}
		after, _ := osutil.Stat(path)
		switch {
		case before == nil || after == nil || !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()):
			if err == nil {
				c.Close() // the previous holder removed the file, whose inode a new one may reuse
			}
		case err != nil:
			return nil, err
		default:
			return func() error {
				os.Remove(path) // before another process can lock it
				err := c.Close()
				if runtime.GOOS == "windows" { // which cannot remove an open file
					os.Remove(path)
				}
				return err
			}, nil
		}
	}
}
