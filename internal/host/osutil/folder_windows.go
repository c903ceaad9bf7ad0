package osutil

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"unsafe"

	"golang.org/x/sys/windows"
)

// MakePrivateFolder makes a folder, and what will be in it, for this user, the
// administrators and the system alone. On most disks a new folder could otherwise
// be read and changed by every user. The parent must exist.
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

// privatePermissions returns a descriptor that inherits nothing. A service has an
// account of its own, which is the user then.
func privatePermissions() (*windows.SECURITY_DESCRIPTOR, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, err
	}
	return windows.SecurityDescriptorFromString("D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;FA;;;" + user.User.Sid.String() + ")")
}

// SharedFolder reports whether every user of this PC may read, change or delete what
// is in a folder. It is false for a disk without permissions, as most sticks are.
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

// everybody are the groups that all users of a PC are in: everyone, those who have
// signed in, at the PC too, and its users.
var everybody = []string{"S-1-1-0", "S-1-5-11", "S-1-5-4", "S-1-5-32-545"}

// isShared reports whether a descriptor gives all users a right to the content.
func isShared(d *windows.SECURITY_DESCRIPTOR) bool {
	list, _, err := d.DACL()
	if err != nil || list == nil { // no list is every right
		return err == nil || errors.Is(err, windows.ERROR_OBJECT_NOT_FOUND)
	}
	const rights = windows.FILE_READ_DATA | windows.FILE_WRITE_DATA | windows.FILE_APPEND_DATA | windows.DELETE | 0x40 | // FILE_DELETE_CHILD
		windows.WRITE_DAC | windows.WRITE_OWNER | windows.GENERIC_READ | windows.GENERIC_WRITE | windows.GENERIC_ALL
	for i := range uint32(list.AceCount) {
		var ace *windows.ACCESS_ALLOWED_ACE
		if windows.GetAce(list, i, &ace) != nil || ace.Header.AceType != windows.ACCESS_ALLOWED_ACE_TYPE || ace.Mask&rights == 0 {
			continue
		}
		if slices.Contains(everybody, (*windows.SID)(unsafe.Pointer(&ace.SidStart)).String()) {
			return true
		}
	}
	return false
}
