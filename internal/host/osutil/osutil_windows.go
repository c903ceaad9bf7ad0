package osutil

import (
	"errors"
	"io/fs"
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// SpaceOf returns the room on the disk of a folder.
func SpaceOf(folder string) (Space, error) {
	name, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return Space{}, err
	}
	var free, total uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, &total, nil); err != nil {
		return Space{}, &fs.PathError{Op: "GetDiskFreeSpaceEx", Path: folder, Err: err}
	}
	return Space{Free: int64(free), Total: int64(total)}, nil
}

// MaxOpenFiles returns a number that no program reaches: Windows has no such
// limit.
func MaxOpenFiles() int { return math.MaxInt32 }

const (
	noFollow       = 0 // there is no such flag
	errReadOnly    = windows.ERROR_WRITE_PROTECT
	errNameTooLong = windows.ERROR_FILENAME_EXCED_RANGE
)

var noRoom = []error{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED}

// writeAccess opens the folder with the right to add files, and closes it.
func writeAccess(folder string) error {
	const addFile = 2 // FILE_ADD_FILE
	const shareAll = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	name, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return err
	}
	handle, err := windows.CreateFile(name, addFile, shareAll, nil,
		windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return err
	}
	return windows.CloseHandle(handle)
}

// Stat is os.Stat, but it finds out at once which file that is. os.Stat leaves that
// to os.SameFile. By then another file may have the name, and Wine refuses to tell
// while the file is mapped.
func Stat(path string) (fs.FileInfo, error) {
	const shareAll = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	handle, err := windows.CreateFile(name, windows.FILE_READ_ATTRIBUTES, shareAll, nil,
		windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	file := os.NewFile(uintptr(handle), path)
	defer file.Close()
	return file.Stat()
}

// SyncFolder does nothing: NTFS keeps the names of files in its journal.
func SyncFolder(string) error { return nil }

// GiveTo does nothing: files take their permissions from the folder.
func GiveTo(string, fs.FileInfo) error { return nil }

// GiveToFolder does nothing: files take their permissions from the folder.
func GiveToFolder(*os.File) {}

func give(*os.File, fs.FileInfo) {}

// Follow is Resolve. On Windows only administrators make symbolic links, but
// everybody who may write in a folder can make a junction to another one. So an
// administrator must not write in a folder of somebody else. Windows has no simple
// way to tell.
func Follow(path string) (resolved string, folder *os.Root, err error) { return follow(path, true) }

func follow(path string, followLast bool) (resolved string, folder *os.Root, err error) {
	if followLast {
		path = Resolve(path)
	}
	return path, nil, nil
}

// OwnFolder is an error: nobody needs it, because Follow returns no folder.
func OwnFolder(string, string) (string, error) { return "", errors.ErrUnsupported }

// LinkCount returns 1: a FileInfo of Windows has no number of names.
func LinkCount(fs.FileInfo) int { return 1 }

// SameDisk reports whether two files or folders are on the same volume. It is
// false if that is not known.
func SameDisk(a, b string) bool {
	x, y := volume(a), volume(b)
	return x == y && x != 0
}

// volume returns the serial number of the volume of a file or folder, 0 if it
// is not known.
func volume(path string) uint32 {
	file, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer file.Close()
	var info windows.ByHandleFileInformation
	if windows.GetFileInformationByHandle(windows.Handle(file.Fd()), &info) != nil {
		return 0
	}
	return info.VolumeSerialNumber
}

// OnlyRoot reports whether an administrator may start a program: it is true.
func OnlyRoot(string) bool { return true }
