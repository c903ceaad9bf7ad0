package osutil

import (
	"golang.org/x/sys/unix"
)

// IsMountPoint reports whether something is mounted at path: on Linux also a single file
// can be. It follows links. It is false before Linux 5.8.
func IsMountPoint(path string) bool {
	var s unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_TYPE, &s)
	return err == nil && s.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
}
