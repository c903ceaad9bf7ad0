package disk

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// SpaceOf looks at the disk of a folder.
func SpaceOf(folder string) (Space, error) {
	name, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return Space{}, err
	}
	var free, total uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, &total, nil); err != nil {
		return Space{}, &os.PathError{Op: "GetDiskFreeSpaceEx", Path: folder, Err: err}
	}
	return Space{Free: int64(free), Total: int64(total)}, nil
}

// SyncFolder has nothing to do: NTFS keeps its names in a journal.
func SyncFolder(string) error { return nil }

// GiveTo has nothing to do: the folder says who may open its files.
func GiveTo(string, os.FileInfo) error { return nil }

// Network gives the kind of network file system that a folder is on; none is
// empty.
func Network(folder string) string {
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return ""
	}
	volume := filepath.VolumeName(absolute)
	if strings.HasPrefix(volume, `\\`) && !strings.HasPrefix(volume, `\\?\`) && !strings.HasPrefix(volume, `\\.\`) {
		return "SMB"
	}
	root, err := windows.UTF16PtrFromString(volume + `\`)
	if err == nil && windows.GetDriveType(root) == windows.DRIVE_REMOTE {
		return "SMB"
	}
	return ""
}
