package invite

import (
	"context"
	"errors"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
)

var getConsoleProcessList = windows.NewLazySystemDLL("kernel32.dll").NewProc("GetConsoleProcessList")

// elevate starts this program again as an administrator, after Windows has asked the user. It reports
// whether the program was started.
func elevate(_ context.Context, args []string) bool {
	self, err := os.Executable()
	if err != nil || windows.GetCurrentProcessToken().IsElevated() {
		return false
	}
	file, err := windows.UTF16PtrFromString(self)
	if err != nil {
		return false
	}
	line, err := windows.UTF16PtrFromString(windows.ComposeCommandLine(args))
	if err != nil {
		return false
	}
	return windows.ShellExecute(0, windows.StringToUTF16Ptr("runas"), file, line, nil, windows.SW_SHOWNORMAL) == nil
}

// showError shows an error in a window if the program was started from the start menu: its console
// closes immediately.
var showError = func(err error) {
	var processes [2]uint32
	if n, _, _ := getConsoleProcessList.Call(uintptr(unsafe.Pointer(&processes[0])), uintptr(len(processes))); n != 1 {
		return
	}
	var text strings.Builder
	cli.Env{Stderr: &text}.PrintError(err)
	message, textErr := windows.UTF16PtrFromString(text.String())
	title, titleErr := windows.UTF16PtrFromString("Firefighters")
	if errors.Join(textErr, titleErr) == nil {
		windows.MessageBox(0, message, title, windows.MB_ICONERROR)
	}
}

func hasBrowser() bool { return true }

func noBrowser() string { return "" }

// openBrowser opens a file in the browser. ended is nil.
func openBrowser(path string) (ended <-chan error, err error) {
	file, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	return nil, windows.ShellExecute(0, nil, file, nil, nil, windows.SW_SHOWNORMAL)
}
