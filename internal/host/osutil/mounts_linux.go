package osutil

import (
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// IsMountPoint reports whether something is mounted at path: on Linux also a single file
// can be. It follows links.
func IsMountPoint(path string) bool {
	var s unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_TYPE, &s)
	if err == nil && s.Attributes_mask&unix.STATX_ATTR_MOUNT_ROOT != 0 {
		return s.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
	}
	return isMounted(path) // before Linux 5.8, or where a sandbox forbids statx
}

// isMounted is IsMountPoint by the list of mounts.
func isMounted(path string) bool {
	absolute, err := filepath.Abs(path)
	return err == nil && slices.Contains(Mounted(), Resolve(absolute))
}
