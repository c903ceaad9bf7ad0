//go:build unix

package osutil

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// SpaceOf returns the room on the disk of a folder.
func SpaceOf(folder string) (Space, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return Space{}, &fs.PathError{Op: "statfs", Path: folder, Err: err}
	}
	size := int64(s.Bsize)
	return Space{Free: int64(s.Bavail) * size, Total: int64(s.Blocks) * size}, nil
}

// MaxOpenFiles returns how many files, sockets included, this process may have
// open at the same time.
func MaxOpenFiles() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return math.MaxInt32
	}
	return int(min(uint64(limit.Cur), math.MaxInt32))
}

const (
	errReadOnly    = unix.EROFS
	errNameTooLong = unix.ENAMETOOLONG
)

var noRoom = []error{unix.ENOSPC, unix.EDQUOT, unix.EFBIG}

func writeAccess(folder string) error { return unix.Access(folder, unix.W_OK) }

// SyncFolder makes the names in a folder survive a power failure. It does
// nothing where the file system cannot sync a folder.
func SyncFolder(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOTSUP) {
		return err
	}
	return nil
}

// GiveTo sets the owner and group of a file to those of another. Only root may do
// that; for any other user it does nothing.
func GiveTo(path string, like fs.FileInfo) error {
	owner, known := like.Sys().(*syscall.Stat_t)
	if !known || os.Geteuid() != 0 {
		return nil
	}
	return os.Chown(path, int(owner.Uid), int(owner.Gid))
}

// LinkCount returns the number of names (hard links) of a file.
func LinkCount(info fs.FileInfo) int {
	if known, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(known.Nlink)
	}
	return 1
}

// SameDisk reports whether two files or folders are on the same file system. It
// is false if that is not known.
func SameDisk(a, b string) bool {
	var x, y unix.Stat_t
	return unix.Stat(a, &x) == nil && unix.Stat(b, &y) == nil && x.Dev == y.Dev
}
