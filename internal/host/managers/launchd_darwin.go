package managers

import "golang.org/x/sys/unix"

// Host is a PC with launchd.
type Host = launchd

// Account is the user of the service.
const Account = "_" + Name

// LogCommand is what to type to see the log.
const LogCommand = "sudo tail -n 50 " + launchdLog

// duplicate makes the file to name what the file from names.
func duplicate(from, to int) error { return unix.Dup2(from, to) }
