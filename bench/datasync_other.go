//go:build !linux

package main

import "os"

// datasync lets the package build elsewhere; only Linux is measured.
func datasync(file *os.File) error { return file.Sync() }
