//go:build unix && !linux

package osutil

import (
	"slices"

	"golang.org/x/sys/unix"
)

// NetworkFileSystem returns the type of the network file system of a folder, or "" for a local disk.
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

func fileSystem(folder string) string {
	var s unix.Statfs_t
	if unix.Statfs(folder, &s) != nil {
		return ""
	}
	return unix.ByteSliceToString(s.Fstypename[:])
}

// IsMountPoint returns false: only Linux can mount a single file.
func IsMountPoint(string) bool { return false }
