//go:build unix && !linux

package osutil

import (
	"os/exec"
	"slices"
	"strings"

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

func machineID() string {
	if id, err := unix.Sysctl("kern.hostuuid"); err == nil {
		return id
	}
	out, _ := exec.Command("/usr/sbin/ioreg", "-rd1", "-c", "IOPlatformExpertDevice").Output() // macOS
	_, id, _ := strings.Cut(string(out), `"IOPlatformUUID" = "`)
	id, _, _ = strings.Cut(id, `"`)
	return id
}
