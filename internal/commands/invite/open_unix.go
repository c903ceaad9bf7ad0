//go:build unix

package invite

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// elevate reports false: the error says what to type with sudo.
func elevate([]string) bool { return false }

// showError does nothing: who reads it has a terminal.
var showError = func(error) {}

// opener returns the program that opens a file in the browser, empty if there is
// none. Under sudo the desktop belongs to another user, and a browser would not
// start on it.
func opener() string {
	name := "xdg-open"
	switch {
	case os.Getenv("SUDO_USER") != "":
		return ""
	case runtime.GOOS == "darwin":
		name = "open"
	case os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "":
		return ""
	}
	path, _ := exec.LookPath(name)
	return path
}

func hasBrowser() bool { return opener() != "" }

// noBrowser says why there is none.
func noBrowser() string {
	if os.Getenv("SUDO_USER") != "" {
		return "No browser is opened under sudo."
	}
	return "There is no browser here."
}

// openBrowser opens a file in the browser. What goes wrong later comes from
// ended: some openers go on for as long as the browser runs. A session of its own
// keeps that from the Ctrl-C that ends this program.
func openBrowser(path string) (ended <-chan error, err error) {
	cmd := exec.Command(opener(), path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	end := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		if err != nil {
			err = fmt.Errorf("%s: %w", cmd.Path, err)
		}
		end <- err
	}()
	return end, nil
}
