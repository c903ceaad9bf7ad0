package main

import (
	"os"
	"syscall"
)

// datasync calls fdatasync.
func datasync(file *os.File) error { return syscall.Fdatasync(int(file.Fd())) }
