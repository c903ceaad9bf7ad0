//go:build !linux

package osutil

import "runtime"

// FoldersOfDisks are the folders below which disks are mounted that come and go.
// Windows has none: a drive that is away has no folder at all.
var FoldersOfDisks = map[string][]string{"darwin": {"/Volumes"}}[runtime.GOOS]

// Mounted returns nothing: this is not known here.
func Mounted() []string { return nil }

// MountPoints returns nothing: there is no /etc/fstab with disks that come and go.
func MountPoints() []string { return nil }
