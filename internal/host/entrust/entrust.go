// Package entrust makes the account that runs the service the owner of folders, and
// finds out what that account may read and write.
package entrust

import "errors"

// Why an account cannot write to a folder.
var (
	ErrNoOwners = errors.New("its disk keeps no owners of files, as FAT does not") // such as a USB stick
	ErrClosed   = errors.New("a folder above it is closed to the service")
)
