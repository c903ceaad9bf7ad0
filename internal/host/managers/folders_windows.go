package managers

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Errors of takeFolder. The wrapping errors begin with the path.
var (
	errLink    = errors.New("is a link to another place")
	errForeign = errors.New("already existed, and belongs neither to you nor to the administrators")
)

// trustedOwners are the administrators, SYSTEM and TrustedInstaller.
var trustedOwners = []string{"S-1-5-32-544", "S-1-5-18", "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464"}

// makeFolder creates a folder for the service and the administrators only. created is false if
// the path already exists.
func makeFolder(path string) (created bool, err error) {
	enablePrivileges("SeBackupPrivilege", "SeRestorePrivilege", "SeTakeOwnershipPrivilege")
	wanted, err := windows.SecurityDescriptorFromString(dataPermissions)
	if err != nil {
		return false, err
	}
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return false, err
	}
	attributes := windows.SecurityAttributes{SecurityDescriptor: wanted}
	attributes.Length = uint32(unsafe.Sizeof(attributes))
	err = windows.CreateDirectory(name, &attributes)
	if errors.Is(err, windows.ERROR_ALREADY_EXISTS) {
		return false, nil
	}
	return err == nil, pathError("CreateDirectory", path, err)
}

// takeFolder creates a folder for the service only, or takes over an existing one. Every user
// may create folders at this place, and could prepare one with a link, or with a database whose
// keys that user knows. Therefore takeFolder rejects links and files of other owners.
func takeFolder(path string) (created bool, err error) {
	if created, err = makeFolder(path); created || err != nil {
		return created, err
	}
	folder, err := openSecurity(path)
	if err != nil {
		return false, err
	}
	defer folder.close()
	switch {
	case folder.link:
		return false, fmt.Errorf("%s %w", path, errLink)
	case !folder.isFolder:
		return false, &fs.PathError{Op: "CreateDirectory", Path: path, Err: windows.ERROR_DIRECTORY}
	}
	if entries, err := os.ReadDir(path); !folder.ownedByUs() && (err != nil || len(entries) > 0) {
		return false, foreign(path)
	}
	// After this no other user can add files while the content is checked.
	if err := folder.set(dataPermissions); err != nil {
		return false, err
	}
	return false, filepath.WalkDir(path, func(inside string, entry fs.DirEntry, err error) error {
		if err == nil && inside != path {
			err = takeInside(inside)
		}
		if errors.Is(err, fs.ErrNotExist) { // a running service removes files
			return nil
		}
		return err
	})
}

func foreign(path string) error {
	return fmt.Errorf("%s %w. Move it away or, if you trust its content, run: takeown /a /r /f \"%s\"", path, errForeign, path)
}

// takeInside sets the permissions that a file or folder inherits from the data folder.
func takeInside(path string) error {
	file, err := openSecurity(path)
	if err != nil {
		return err
	}
	defer file.close()
	switch {
	case file.link:
		return fmt.Errorf("%s %w", path, errLink)
	case !file.ownedByUs():
		return foreign(path)
	}
	if file.isFolder {
		return file.set(folderPermissions)
	}
	return file.set(filePermissions)
}

// secured is a file or folder opened to read and change its permissions.
type secured struct {
	path           string
	handle         windows.Handle
	isFolder, link bool
}

// openSecurity opens a file or folder. It does not follow links.
func openSecurity(path string) (*secured, error) {
	const (
		access = windows.READ_CONTROL | windows.WRITE_DAC | windows.WRITE_OWNER | windows.FILE_READ_ATTRIBUTES
		share  = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
		flags  = windows.FILE_FLAG_BACKUP_SEMANTICS | windows.FILE_FLAG_OPEN_REPARSE_POINT
	)
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	handle, err := windows.CreateFile(name, access, share, nil, windows.OPEN_EXISTING, flags, 0)
	if err != nil {
		return nil, pathError("CreateFile", path, err)
	}
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(handle, &info); err != nil {
		windows.CloseHandle(handle)
		return nil, pathError("GetFileInformationByHandle", path, err)
	}
	s := &secured{path: path, handle: handle, isFolder: info.FileAttributes&windows.FILE_ATTRIBUTE_DIRECTORY != 0}
	s.link = info.FileAttributes&windows.FILE_ATTRIBUTE_REPARSE_POINT != 0 || !s.isFolder && info.NumberOfLinks > 1
	return s, nil
}

func (s *secured) close() { windows.CloseHandle(s.handle) }

// set sets the owner and the permissions. Unlike SetNamedSecurityInfo it does not change the
// content of a folder, which may have links.
func (s *secured) set(sddl string) error {
	wanted, err := windows.SecurityDescriptorFromString(sddl)
	if err != nil {
		return err
	}
	const what = windows.OWNER_SECURITY_INFORMATION | windows.DACL_SECURITY_INFORMATION
	return pathError("SetKernelObjectSecurity", s.path, windows.SetKernelObjectSecurity(s.handle, what, wanted))
}

// ownedByUs reports whether a file belongs to a trusted owner, to the service or to the current
// user.
func (s *secured) ownedByUs() bool {
	d, err := windows.GetSecurityInfo(s.handle, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return false
	}
	owner, _, err := d.Owner()
	if err != nil || owner == nil {
		return false
	}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	return err == nil && owner.Equals(user.User.Sid) || owner.String() == serviceSID(windowsName) || slices.Contains(trustedOwners, owner.String())
}

// letWrite lets the service write to a folder and its content, and keeps all other rights. It does
// nothing on a disk without permissions, such as most USB sticks.
func letWrite(folder string) error {
	d, err := windows.GetNamedSecurityInfo(folder, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if hasNoPermissions(err) {
		return nil
	}
	if err != nil {
		return pathError("GetNamedSecurityInfo", folder, err)
	}
	list, _, err := d.DACL()
	if errors.Is(err, windows.ERROR_OBJECT_NOT_FOUND) || err == nil && list == nil {
		return nil
	}
	if err != nil {
		return pathError("GetSecurityDescriptorDacl", folder, err)
	}
	sid, err := windows.StringToSid(serviceSID(windowsName))
	if err != nil {
		return err
	}
	list, err = windows.ACLFromEntries([]windows.EXPLICIT_ACCESS{{
		AccessPermissions: modify, AccessMode: windows.GRANT_ACCESS, Inheritance: windows.SUB_CONTAINERS_AND_OBJECTS_INHERIT,
		Trustee: windows.TRUSTEE{TrusteeForm: windows.TRUSTEE_IS_SID, TrusteeValue: windows.TrusteeValueFromSID(sid)},
	}}, list)
	if err != nil {
		return pathError("SetEntriesInAcl", folder, err)
	}
	err = windows.SetNamedSecurityInfo(folder, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION, nil, nil, list, nil)
	if hasNoPermissions(err) {
		return nil
	}
	return pathError("SetNamedSecurityInfo", folder, err)
}

// hasNoPermissions reports whether err means that a disk does not support permissions.
func hasNoPermissions(err error) bool {
	return errors.Is(err, windows.ERROR_INVALID_FUNCTION) || errors.Is(err, windows.ERROR_NOT_SUPPORTED)
}

// enablePrivileges enables the named privileges, except those that the process lacks.
func enablePrivileges(names ...string) {
	var token windows.Token
	if windows.OpenProcessToken(windows.CurrentProcess(), windows.TOKEN_ADJUST_PRIVILEGES|windows.TOKEN_QUERY, &token) != nil {
		return
	}
	defer token.Close()
	for _, name := range names {
		wanted := windows.Tokenprivileges{PrivilegeCount: 1}
		wanted.Privileges[0].Attributes = windows.SE_PRIVILEGE_ENABLED
		text, err := windows.UTF16PtrFromString(name)
		if err == nil && windows.LookupPrivilegeValue(nil, text, &wanted.Privileges[0].Luid) == nil {
			windows.AdjustTokenPrivileges(token, false, &wanted, 0, nil, nil)
		}
	}
}

func pathError(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}

// MayRead checks only that the file exists. At startup the service reports a file that it may not
// read.
func (h Host) MayRead(file string) error {
	_, err := os.Stat(file)
	return err
}
