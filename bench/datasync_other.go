//go:build !linux

package main

import "os"

// datasync makes the package build on other systems. Only Linux is measured.
func datasync(file *os.File) error { return file.Sync() }
