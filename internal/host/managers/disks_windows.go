package managers

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// Disks skips network drives, because file servers do not know the account of the service.
func (h Host) Disks(data string) (found []Disk, err error) {
	drives, err := windows.GetLogicalDrives()
	if err != nil {
		return nil, err
	}
	system := knownFolder(windows.FOLDERID_Windows, `C:\Windows`)
	for i := range 26 {
		name := string(rune('A'+i)) + `:\`
		if drives&(1<<i) == 0 || onDrive(system, name) || onDrive(data, name) {
			continue
		}
		root := windows.StringToUTF16Ptr(name)
		if kind := windows.GetDriveType(root); kind == windows.DRIVE_REMOVABLE || kind == windows.DRIVE_FIXED {
			found = append(found, drive(name, root).withFree())
		}
	}
	return found, nil
}

func onDrive(path, name string) bool {
	return strings.EqualFold(filepath.VolumeName(path), filepath.VolumeName(name))
}

func drive(name string, root *uint16) Disk {
	d := Disk{Name: name, Folder: name}
	const length = windows.MAX_PATH + 1
	var label, system [length]uint16
	var flags uint32
	if windows.GetVolumeInformation(root, &label[0], length, nil, nil, &flags, &system[0], length) != nil {
		d.Unfit = "it has no disk that Windows can read"
		return d
	}
	d.Label, d.FileSystem = windows.UTF16ToString(label[:]), windows.UTF16ToString(system[:])
	var total uint64
	if windows.GetDiskFreeSpaceEx(root, nil, &total, nil) == nil {
		d.Bytes = int64(total)
	}
	if flags&windows.FILE_READ_ONLY_VOLUME != 0 {
		d.Unfit = "it is read-only"
	}
	return d
}

// Is reports whether name refers to the drive: E, e: or E:\.
func (d Disk) Is(name string) bool {
	return strings.EqualFold(strings.TrimRight(d.Name, `:\`), strings.TrimRight(name, `:\/`))
}

// Attach returns the path of the drive, which Windows mounts automatically.
func (h Host) Attach(d Disk) (folder string, steps []string, err error) { return d.Name, nil, nil }
