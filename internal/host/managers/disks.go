package managers

import "errors"

// Disk is a part of a disk that has, or could have, a file system.
type Disk struct {
	Name       string // as the system has it: /dev/sdb1, /Volumes/USB, E:\
	Label      string // as people have it; may be empty
	FileSystem string // as ext4, vfat, NTFS; empty if it has none
	Bytes      int64  // its size, 0 if that is not known
	Model      string // of the whole disk; may be empty
	Unfit      string // why it can hold no backups; empty if it can
	id         string // the number of its file system, by which Linux finds it again
	mounted    string // where Linux has mounted it; empty if it has not
}

// Errors of Attach.
var (
	ErrDiskUsed = errors.New("a program uses the disk")
	ErrMount    = errors.New("the system does not mount the disk")
)
