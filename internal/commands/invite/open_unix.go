//go:build unix

package invite

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// elevate starts this program again as an administrator, after the desktop has asked for a password,
// and opens the link that it prints. It returns false if that fails or there is no pkexec: the hint of
// the error has the command with sudo.
func elevate(ctx context.Context, args []string) bool {
	self, err := os.Executable()
	if err != nil || !hasBrowser() {
		return false
	}
	link, err := exec.CommandContext(ctx, "pkexec", append([]string{self}, args...)...).Output()
	if err != nil {
		return false
	}
	page, err := newPrivateFile("open.html", redirect(strings.TrimSpace(string(link))))
	if err != nil {
		return false
	}
	defer removePrivateFile(page)
	ended, err := openBrowser(page)
	if err != nil {
		return false
	}
	select {
	case <-ctx.Done():
	case <-time.After(loadLimit):
	}
	select {
	case err = <-ended:
	default: // the opener runs as long as the browser
	}
	return err == nil
}

// loadLimit is the time in which the browser loads the private file.
var loadLimit = 20 * time.Second

// showError does nothing, because the program runs in a terminal.
var showError = func(error) {}

// opener returns the program that opens a file in the browser, or "". Under sudo there is none,
// because the desktop belongs to another user.
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

// noBrowser returns the reason why hasBrowser returns false.
func noBrowser() string {
	if os.Getenv("SUDO_USER") != "" {
		return "No browser is opened under sudo."
	}
	return "There is no browser here."
}

// openBrowser opens a file in the browser. ended receives the result of the opener, which may run as
// long as the browser. A separate session protects the browser from Ctrl-C.
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
