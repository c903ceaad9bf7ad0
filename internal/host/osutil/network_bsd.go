//go:build unix && !linux

package osutil

import (
	"slices"

	"golang.org/x/sys/unix"
)

// NetworkFileSystem returns the kind of network file system that a folder is on, and ""
// for a local disk.
func NetworkFileSystem(folder string) string {
	kind := fileSystem(folder)
	if slices.Contains([]string{"nfs", "smbfs", "afpfs", "webdav", "ftp"}, kind) {
		return kind
	}
	return ""
}

// withoutOwners reports whether a folder is on a FAT or exFAT file system.
func withoutOwners(folder string) bool {
	return slices.Contains([]string{"msdos", "exfat"}, fileSystem(folder))
}

// fileSystem returns the kind of file system that a folder is on, "" if it is not known.
func fileSystem(folder string) string {
	var s unix.Statfs_t
	if unix.Statfs(folder, &s) != nil {
		return ""
	}
	return unix.ByteSliceToString(s.Fstypename[:])
}
