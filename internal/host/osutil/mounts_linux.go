package osutil

import (
	"golang.org/x/sys/unix"
)

// IsMountPoint reports whether path, a folder or a file, is a mount point. It follows links. It is
// always false before Linux 5.8.
func IsMountPoint(path string) bool {
	var s unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_TYPE, &s)
	return err == nil && s.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
}
