package osutil

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

// SpaceOf returns the space on the disk of a folder.
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

// MaxOpenFiles returns math.MaxInt32: Windows has no such limit.
func MaxOpenFiles() int { return math.MaxInt32 }

const (
	noFollow    = 0 // there is no such flag
	errReadOnly = windows.ERROR_WRITE_PROTECT
)

var noRoom = []error{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED}

func open(path string, rights uint32) (windows.Handle, error) {
	const shareAll = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, err
	}
	return windows.CreateFile(name, rights, shareAll, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
}

func writeAccess(folder string) error {
	const addFile = 2 // FILE_ADD_FILE
	handle, err := open(folder, addFile)
	if err != nil {
		return err
	}
	return windows.CloseHandle(handle)
}

// Stat is os.Stat, but reads the identity of the file immediately. With os.Stat, os.SameFile reads it
// later: by then another file may have the name, and Wine fails while the file is mapped.
func Stat(path string) (fs.FileInfo, error) {
	handle, err := open(path, windows.FILE_READ_ATTRIBUTES)
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	file := os.NewFile(uintptr(handle), path)
	defer file.Close()
	return file.Stat()
}

// SyncFolder does nothing: the journal of NTFS has the names of files.
func SyncFolder(string) error { return nil }

// GiveTo does nothing: files inherit the permissions of the folder.
func GiveTo(string, fs.FileInfo) error { return nil }

// GiveToFolder does nothing: files inherit the permissions of the folder.
func GiveToFolder(*os.File) {}

// RefuseRedirect returns nil. On Windows only administrators create symbolic links, but every user
// who may write to a folder can create a junction. There is no simple way to detect that, so an
// administrator must not write to a folder of another user.
func RefuseRedirect(path, db string) error { return nil }

// LinkCount returns 1: on Windows a FileInfo has no number of links.
func LinkCount(fs.FileInfo) int { return 1 }

// SameDisk reports whether two files or folders are on the same volume. It is false if either
// cannot be examined.
func SameDisk(a, b string) bool {
	x, y := volume(a), volume(b)
	return x == y && x != 0
}

// volume returns the serial number of the volume of a file or folder, or 0 if it is unknown.
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

// MakePrivateFolder creates a folder whose content is for this user, the administrators and the
// system only. By default, every user could read and change a new folder on most disks. The parent
// must exist.
func MakePrivateFolder(path string) error {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return &fs.PathError{Op: "mkdir", Path: path, Err: err}
	}
	wanted, err := privatePermissions()
	if err != nil {
		return err
	}
	attributes := windows.SecurityAttributes{SecurityDescriptor: wanted}
	attributes.Length = uint32(unsafe.Sizeof(attributes))
	if err := windows.CreateDirectory(name, &attributes); err != nil {
		return &fs.PathError{Op: "mkdir", Path: path, Err: err}
	}
	return nil
}

// privatePermissions returns a security descriptor that inherits nothing.
func privatePermissions() (*windows.SECURITY_DESCRIPTOR, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, err
	}
	return windows.SecurityDescriptorFromString("D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;FA;;;" + user.User.Sid.String() + ")")
}

// SharedFolder reports whether every user of this PC may read, change or delete the content of a
// folder. It is false for a disk without permissions, such as most USB sticks.
func SharedFolder(folder string) bool {
	const persistent = 8 // FILE_PERSISTENT_ACLS
	root, err := windows.UTF16PtrFromString(filepath.VolumeName(folder) + `\`)
	var flags uint32
	if err != nil || windows.GetVolumeInformation(root, nil, 0, nil, nil, &flags, nil, 0) != nil || flags&persistent == 0 {
		return false
	}
	d, err := windows.GetNamedSecurityInfo(folder, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	return err == nil && isShared(d)
}

// sharedGroups are the groups with all users: Everyone, Authenticated Users, Interactive and Users.
var sharedGroups = []string{"S-1-1-0", "S-1-5-11", "S-1-5-4", "S-1-5-32-545"}

// isShared reports whether a descriptor gives all users a right to the content.
func isShared(d *windows.SECURITY_DESCRIPTOR) bool {
	list, _, err := d.DACL()
	if err != nil || list == nil { // without a list, everyone has every right
		return err == nil || errors.Is(err, windows.ERROR_OBJECT_NOT_FOUND)
	}
	const rights = windows.FILE_READ_DATA | windows.FILE_WRITE_DATA | windows.FILE_APPEND_DATA | windows.DELETE | 0x40 | // FILE_DELETE_CHILD
		windows.WRITE_DAC | windows.WRITE_OWNER | windows.GENERIC_READ | windows.GENERIC_WRITE | windows.GENERIC_ALL
	for i := range uint32(list.AceCount) {
		var ace *windows.ACCESS_ALLOWED_ACE
		if windows.GetAce(list, i, &ace) != nil || ace.Header.AceType != windows.ACCESS_ALLOWED_ACE_TYPE || ace.Mask&rights == 0 {
			continue
		}
		if slices.Contains(sharedGroups, (*windows.SID)(unsafe.Pointer(&ace.SidStart)).String()) {
			return true
		}
	}
	return false
}

// NetworkFileSystem returns the type of the network file system of a folder, or "" for a local disk.
func NetworkFileSystem(folder string) string {
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return ""
	}
	root, err := windows.UTF16PtrFromString(filepath.VolumeName(absolute) + `\`)
	if err == nil && windows.GetDriveType(root) == windows.DRIVE_REMOTE { // also for \\server\share
		return "SMB"
	}
	return ""
}

// Language returns the language code of the user, such as "hr", or "" if it is unknown.
func Language() string { return languageOf(locale()) }

// Country returns the country of the user, such as "HR", or "" if it is unknown.
func Country() string {
	key, err := registry.OpenKey(registry.CURRENT_USER, `Control Panel\International\Geo`, registry.QUERY_VALUE)
	if err == nil {
		defer key.Close()
		if name, _, err := key.GetStringValue("Name"); err == nil {
			return countryOf(name)
		}
	}
	return countryOf(locale())
}

func locale() string {
	tags, err := windows.GetUserPreferredUILanguages(windows.MUI_LANGUAGE_NAME)
	if err != nil || len(tags) == 0 {
		return ""
	}
	return tags[0]
}

// IsMountPoint returns false: only Linux can mount a single file.
func IsMountPoint(string) bool { return false }

func machineID() string {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, `SOFTWARE\Microsoft\Cryptography`, registry.QUERY_VALUE|registry.WOW64_64KEY)
	if err != nil {
		return ""
	}
	defer key.Close()
	id, _, _ := key.GetStringValue("MachineGuid")
	return id
}
