package cli

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
)

// IsBarred reports whether the permissions of a file, or of its folder, keep the
// current user from reading and writing it. It opens and closes the file, which drops
// the locks of this process on it: it must not have it open as a database.
func IsBarred(path string) bool {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		file.Close()
	}
	return errors.Is(err, fs.ErrPermission)
}

// AsAdministrator returns what to type for a line to have the rights of an
// administrator.
func AsAdministrator(line string) string {
	if runtime.GOOS == "windows" {
		return line + `, in a terminal that was opened with "Run as administrator"`
	}
	if _, err := exec.LookPath("sudo"); err != nil {
		return "as root: " + line
	}
	return "sudo " + line
}
