//go:build unix

package osutil

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
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
	noFollow       = syscall.O_NOFOLLOW
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
	return os.Lchown(path, int(owner.Uid), int(owner.Gid))
}

// GiveToFolder sets the owner and group of a file or folder that this process has
// just made to those of the folder that it lies in. Only root may do that; for any
// other user, and on a disk without owners, it does nothing.
func GiveToFolder(file *os.File) {
	if os.Geteuid() != 0 {
		return
	}
	info, err := os.Stat(filepath.Dir(file.Name()))
	if err != nil {
		return
	}
	if owner, known := info.Sys().(*syscall.Stat_t); known && owner.Uid != 0 {
		file.Chown(int(owner.Uid), int(owner.Gid)) // a stick with FAT refuses, and has no owners
	}
}

// Stat is os.Stat.
func Stat(path string) (fs.FileInfo, error) { return os.Stat(path) }

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

// OnlyRoot reports whether nobody but root can change a file, so that root may start
// it. For any other user, who takes no rights along, it is true.
func OnlyRoot(path string) bool {
	if os.Geteuid() != 0 {
		return true
	}
	path, err := filepath.EvalSymlinks(path)
	for err == nil {
		info, statErr := os.Lstat(path)
		if statErr != nil || info.Mode().Perm()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0 {
			return false
		}
		if owner, known := info.Sys().(*syscall.Stat_t); !known || owner.Uid != 0 {
			return false
		}
		if path == "/" {
			return true
		}
		path = filepath.Dir(path)
	}
	return false
}
