package managers

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// Disks leaves out those of the network: the account of the service is not known there.
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
			found = append(found, drive(name, root))
		}
	}
	return found, nil
}

func onDrive(path, name string) bool {
	return strings.EqualFold(filepath.VolumeName(path), filepath.VolumeName(name))
}

// drive returns what Windows knows of a drive.
func drive(name string, root *uint16) Disk {
	d := Disk{Name: name}
	const length = windows.MAX_PATH + 1
	var label, system [length]uint16
	var flags uint32
	if windows.GetVolumeInformation(root, &label[0], length, nil, nil, &flags, &system[0], length) != nil {
		d.Unfit = "there is no disk in it, or none that Windows can read"
		return d
	}
	d.Label, d.FileSystem = windows.UTF16ToString(label[:]), windows.UTF16ToString(system[:])
	var total uint64
	if windows.GetDiskFreeSpaceEx(root, nil, &total, nil) == nil {
		d.Bytes = int64(total)
	}
	if flags&windows.FILE_READ_ONLY_VOLUME != 0 {
		d.Unfit = "it can only be read"
	}
	return d
}

// Is reports whether the drive has the name that was typed: E, e: or E:\.
func (d Disk) Is(typed string) bool {
	return strings.EqualFold(strings.TrimRight(d.Name, `:\`), strings.TrimRight(typed, `:\/`))
}

// Attach does nothing: Windows has a drive whenever it is connected.
func (h Host) Attach(d Disk) (folder string, steps []string, err error) { return d.Name, nil, nil }
