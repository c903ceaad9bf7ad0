package managers

import "golang.org/x/sys/unix"

// Host is a PC with launchd.
type Host = launchd

const Account = "_" + Name

const LogCommand = "sudo tail -n 50 " + launchdLog

// duplicate makes the file to name what the file from names.
func duplicate(from, to int) error { return unix.Dup2(from, to) }
