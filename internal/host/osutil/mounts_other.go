//go:build !linux

package osutil

import "runtime"

// FoldersOfDisks are the folders below which disks are mounted that come and go. A
// drive of Windows that is away has no folder at all.
var FoldersOfDisks = map[string][]string{"darwin": {"/Volumes"}}[runtime.GOOS]

// Mounted returns nothing: nobody asks here.
func Mounted() []string { return nil }

// MountPoints returns nothing: nobody lists them here.
func MountPoints() []string { return nil }
