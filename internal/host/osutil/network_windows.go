package osutil

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// NetworkFileSystem returns the kind of network file system that a folder is on, and ""
// for a local disk.
func NetworkFileSystem(folder string) string {
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return ""
	}
	volume := filepath.VolumeName(absolute)
	if isShare(volume) {
		return "SMB"
	}
	root, err := windows.UTF16PtrFromString(volume + `\`)
	if err == nil && windows.GetDriveType(root) == windows.DRIVE_REMOTE {
		return "SMB"
	}
	return ""
}

// isShare reports whether a volume is \\server\share and not the path of a
// local device.
func isShare(volume string) bool {
	return strings.HasPrefix(volume, `\\`) && !strings.HasPrefix(volume, `\\?\`) && !strings.HasPrefix(volume, `\\.\`)
}
