package managers

import (
	"errors"
	"fmt"
	"slices"
)

// Disk is a part of a disk that has, or could have, a file system.
type Disk struct {
	Name       string   // as the system has it: /dev/sdb1, /Volumes/USB, E:\
	Label      string   // as people have it; may be empty
	FileSystem string   // as ext4, vfat, NTFS; empty if it has none
	Bytes      int64    // its size, 0 if that is not known
	Model      string   // of the whole disk; may be empty
	Unfit      string   // why it can hold no backups; empty if it can
	id         string   // the number of its file system, by which Linux finds it again
	mounted    []string // where Linux has mounted it
}

// Errors of Attach.
var (
	ErrDiskUsed = errors.New("a program uses the disk")
	ErrMount    = errors.New("the system does not mount the disk")
)

// ErrManyDisks means that a name is that of several disks.
var ErrManyDisks = errors.New("several disks have this name")

// Choose returns the disk that a name means: that of the system, or that of people. It
// returns false if there is none.
func Choose(disks []Disk, name string) (d Disk, found bool, err error) {
	for _, named := range []func(d Disk) bool{
		func(d Disk) bool { return sameDiskName(d.Name, name) },
		func(d Disk) bool { return d.Label == name && name != "" },
	} {
		at := slices.IndexFunc(disks, named)
		if at < 0 {
			continue
		}
		if slices.ContainsFunc(disks[at+1:], named) {
			return Disk{}, false, fmt.Errorf("%w: %s", ErrManyDisks, name)
		}
		return disks[at], true, nil
	}
	return Disk{}, false, nil
}
