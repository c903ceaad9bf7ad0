//go:build unix

package main

import (
	"io/fs"
	"syscall"
)

// fileLimit is how many files the process may have open.
func fileLimit() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 256 // the least that a system in use starts with
	}
	return uint64(limit.Cur)
}

// linkCount is how many names a file has.
func linkCount(info fs.FileInfo) int {
	if known, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(known.Nlink)
	}
	return 1
}
