//go:build !linux

package main

import (
	"os"
	"syscall"
)

// These make the package build on other systems. It runs on Linux only.

var sigStop = os.Kill

func endWithParent() *syscall.SysProcAttr { return nil }
