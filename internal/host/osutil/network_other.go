//go:build !linux && !darwin && !windows

package osutil

// NetworkFileSystem returns "": what a folder is on is not known here.
func NetworkFileSystem(string) string { return "" }
