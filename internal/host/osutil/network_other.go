//go:build !linux && !darwin && !windows

package osutil

// Network returns "": what a folder is on is not known here.
func Network(string) string { return "" }
