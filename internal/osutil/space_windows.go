package osutil

import (
	"errors"
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

// Writable tells whether files can be made in a folder, by asking for the right
// to.
func Writable(folder string) bool { return mayAdd(folder) == nil }

// ReadOnly tells whether a folder is on a disk that cannot be written.
func ReadOnly(folder string) bool { return errors.Is(mayAdd(folder), windows.ERROR_WRITE_PROTECT) }

func mayAdd(folder string) error {
	const addFile = 2 // FILE_ADD_FILE
	name, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return err
	}
	handle, err := windows.CreateFile(name, addFile, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE,
		nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return err
	}
	return windows.CloseHandle(handle)
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
