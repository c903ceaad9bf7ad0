package osutil

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// networks maps magic numbers of statfs(2) to network file systems.
var networks = map[uint32]string{
	unix.NFS_SUPER_MAGIC:  "NFS",
	unix.SMB_SUPER_MAGIC:  "SMB",
	unix.SMB2_SUPER_MAGIC: "SMB",
	unix.CIFS_SUPER_MAGIC: "SMB",
	unix.V9FS_MAGIC:       "9P",
	unix.CEPH_SUPER_MAGIC: "Ceph",
	0x786f4256:            "VirtualBox",
}

// NetworkFileSystem returns the type of the network file system of a folder, or "" for a local disk.
func NetworkFileSystem(folder string) string {
	var s unix.Statfs_t
	if unix.Statfs(folder, &s) != nil {
		return ""
	}
	return networks[uint32(s.Type)]
}

// withoutOwners reports whether a folder is on a FAT or exFAT file system.
func withoutOwners(folder string) bool {
	var s unix.Statfs_t
	return unix.Statfs(folder, &s) == nil && (s.Type == unix.MSDOS_SUPER_MAGIC || s.Type == unix.EXFAT_SUPER_MAGIC)
}

// IsMountPoint reports whether path, a folder or a file, is a mount point. It follows links. It is
// always false before Linux 5.8.
func IsMountPoint(path string) bool {
	var s unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_TYPE, &s)
	return err == nil && s.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
}

func machineID() string {
	id, err := os.ReadFile("/etc/machine-id")
	if err != nil {
		id, _ = os.ReadFile("/var/lib/dbus/machine-id") // without systemd
	}
	return strings.TrimSpace(string(id))
}
