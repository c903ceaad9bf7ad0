package sqlite

import (
	"errors"
	"os"
	"runtime"
	"time"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// LockDatabase makes sure that no other process serves the database at path
// until release. The error is a FileError: ErrInUse while another one does,
// ErrLockFile if the lock file, path with "-lock", is not one. path is the
// file itself, not a link to it. The release of a missing database removes the lock file.
func LockDatabase(path string) (release func() error, err error) {
	unlock, err := lockFile(path+"-lock", lockWait)
	switch {
	case errors.Is(err, ErrBusy):
		err = ErrInUse
	case errors.Is(err, ErrCorrupt): // which would be said of the database
		err = ErrLockFile
	}
	if err != nil {
		return nil, wrap("locking", path, err)
	}
	return func() error {
		isMissing := !osutil.Exists(path)
		if isMissing {
			os.Remove(path + "-lock") // before another process can have it
		}
		err := unlock()
		if isMissing && runtime.GOOS == "windows" { // no process removes a file that is open
			os.Remove(path + "-lock")
		}
		return err
	}, nil
}

// LockFile locks by a file, which it makes, until release. The error is
// ErrBusy while another process has the lock.
//
// The file is an empty SQLite database with an exclusive transaction open on
// it. So SQLite has the code for each system.
func LockFile(path string) (release func() error, err error) { return lockFile(path, 0) }

// lockWait is how long a service waits for the lock on its database. Others take it
// for a moment, to see whether somebody has it.
const lockWait = 500 * time.Millisecond

func lockFile(path string, wait time.Duration) (release func() error, err error) {
	for {
		if !osutil.Exists(path) {
			if err := osutil.CreatePrivate(path); err != nil {
				return nil, err
			}
		}
		before, _ := osutil.Stat(path)
		c, err := open(lockDSN(path, wait))
		if err == nil {
			if _, err = c.Exec(`BEGIN EXCLUSIVE`); err != nil {
				c.Close()
			}
		}
		after, _ := osutil.Stat(path)
		switch {
		case before == nil || after == nil || !isUnchanged(before, after):
			if err == nil {
				c.Close() // the process that had the lock has removed the file
			}
		case err != nil:
			return nil, err
		default:
			return c.Close, nil
		}
	}
}

// isUnchanged reports whether a path still names the same file. A new file may
// have the number of a removed one, but it has a time of its own.
func isUnchanged(before, after os.FileInfo) bool {
	return os.SameFile(before, after) && before.ModTime().Equal(after.ModTime())
}
