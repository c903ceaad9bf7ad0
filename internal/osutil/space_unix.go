//go:build unix

package osutil

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// SpaceOf looks at the disk of a folder.
func SpaceOf(folder string) (Space, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return Space{}, &os.PathError{Op: "statfs", Path: folder, Err: err}
	}
	size := int64(s.Bsize)
	return Space{Free: int64(s.Bavail) * size, Total: int64(s.Blocks) * size}, nil
}

// Writable tells whether files can be made in a folder.
func Writable(folder string) bool { return unix.Access(folder, unix.W_OK) == nil }

// ReadOnly tells whether a folder is on a disk that cannot be written.
func ReadOnly(folder string) bool { return errors.Is(unix.Access(folder, unix.W_OK), syscall.EROFS) }

// SyncFolder makes the names in a folder survive a power cut. Where the file
// system cannot, they are as safe as it makes them.
func SyncFolder(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}

// GiveTo makes a file belong to whom another belongs, if that is for us to
// do: root's, the service could not open.
func GiveTo(path string, like os.FileInfo) error {
	owner, known := like.Sys().(*syscall.Stat_t)
	if !known || os.Geteuid() != 0 {
		return nil
	}
	return os.Chown(path, int(owner.Uid), int(owner.Gid))
}
