//go:build !linux

package osutil

// IsMountPoint returns false: only Linux mounts single files.
func IsMountPoint(string) bool { return false }
