//go:build unix && !linux

package osutil

import (
	"slices"

	"golang.org/x/sys/unix"
)

// NetworkFileSystem returns the kind of network file system that a folder is on, and ""
// for a local disk.
func NetworkFileSystem(folder string) string {
	var s unix.Statfs_t
	if unix.Statfs(folder, &s) != nil {
		return ""
	}
	kind := unix.ByteSliceToString(s.Fstypename[:])
	if slices.Contains([]string{"nfs", "smbfs", "afpfs", "webdav", "ftp"}, kind) {
		return kind
	}
	return ""
}
