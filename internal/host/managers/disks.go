package managers

import "errors"

// Disk is a partition, or a disk without partitions, that can have a file system.
type Disk struct {
	Name       string // the system's name: /dev/sdb1, /Volumes/USB, E:\
	Label      string // label of the file system; may be empty
	FileSystem string // type, such as ext4, vfat or NTFS; empty for none
	Bytes      int64  // size; 0 if unknown
	Model      string // model of the whole disk; may be empty
	Unfit      string // the reason why the disk cannot hold backups; empty if it can
	id         string // UUID of the file system, on Linux
	mounted    string // current mount point, on Linux; may be empty
}

// Errors that Attach returns.
var (
	ErrDiskUsed = errors.New("a program uses the disk")
	ErrMount    = errors.New("the system cannot mount the disk")
)
