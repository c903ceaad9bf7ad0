//go:build linux || darwin

package managers

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
)

// Permitted reports whether this process may install, start and stop. Below another
// folder nobody needs more rights than to that.
func (h Host) Permitted() bool { return os.Geteuid() == 0 || h.Root != "" }

// MayRead returns an error if the service may not read a file.
func (h Host) MayRead(file string) error {
	if _, err := os.Stat(file); err != nil {
		return err
	}
	account, err := lookUpAccount(h.user())
	if err == nil && !account.may("r", file) {
		err = fs.ErrPermission
	}
	return err
}

// Share lets the service write to a folder, which it makes.
func (h Host) Share(folder string) error {
	account, err := lookUpAccount(h.user())
	if err != nil {
		return err
	}
	return account.share(folder)
}

// system runs a command of the system. Its error is what that says.
func system(program string, args ...string) (output string, err error) {
	command := exec.Command(program, args...)
	command.Env = append(os.Environ(), "LC_ALL=C", "TZ=UTC") // so that it can be read
	said, err := command.CombinedOutput()
	output = strings.TrimSpace(string(said))
	if _, ended := errors.AsType[*exec.ExitError](err); ended {
		err = fmt.Errorf("%s %s: %s", program, strings.Join(args, " "), cmp.Or(firstLine(output), err.Error()))
	}
	return output, err
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
