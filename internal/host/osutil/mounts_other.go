//go:build !linux

package osutil

// IsMountPoint returns false: only Linux can mount a single file.
func IsMountPoint(string) bool { return false }
