package invite

import (
	"errors"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
)

var (
	shellExecuteEx        = windows.NewLazySystemDLL("shell32.dll").NewProc("ShellExecuteExW")
	getConsoleProcessList = windows.NewLazySystemDLL("kernel32.dll").NewProc("GetConsoleProcessList")
)

// execution is SHELLEXECUTEINFOW.
type execution struct {
	size       uint32
	mask       uint32
	window     windows.HWND
	verb       *uint16
	file       *uint16
	parameters *uint16
	folder     *uint16
	show       int32
	instance   windows.Handle
	list       uintptr
	class      *uint16
	key        windows.Handle
	hotKey     uint32
	icon       windows.Handle
	process    windows.Handle
}

const (
	keepProcess = 0x40  // SEE_MASK_NOCLOSEPROCESS
	atOnce      = 0x100 // SEE_MASK_NOASYNC: this thread has no message loop
)

// elevate starts this program as an administrator. Windows asks the person at the
// screen whether it may.
func elevate(env cli.Env, args []string) (*elevated, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	folder, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	x := execution{mask: keepProcess | atOnce, show: windows.SW_HIDE}
	x.size = uint32(unsafe.Sizeof(x))
	for target, text := range map[**uint16]string{&x.verb: "runas", &x.file: self, &x.parameters: windows.ComposeCommandLine(args), &x.folder: folder} {
		if *target, err = windows.UTF16PtrFromString(text); err != nil {
			return nil, err
		}
	}
	env.Notef("Opening the page needs the rights of an administrator. Windows asks for them.")
	if done, _, err := shellExecuteEx.Call(uintptr(unsafe.Pointer(&x))); done == 0 {
		if errors.Is(err, windows.ERROR_CANCELLED) {
			return nil, errRefused
		}
		return nil, errCannotAsk
	}
	e := &elevated{ended: make(chan struct{})}
	go func() {
		defer windows.CloseHandle(x.process)
		windows.WaitForSingleObject(x.process, windows.INFINITE)
		var code uint32
		windows.GetExitCodeProcess(x.process, &code)
		e.code = int(code)
		close(e.ended)
	}()
	return e, nil
}

// showError shows an error in a window where the program has a console of its
// own, as from the start menu: that closes at once.
var showError = func(err error) {
	var processes [2]uint32
	if n, _, _ := getConsoleProcessList.Call(uintptr(unsafe.Pointer(&processes[0])), uintptr(len(processes))); n != 1 {
		return
	}
	var text strings.Builder
	cli.PrintError(err, &text)
	message, textErr := windows.UTF16PtrFromString(text.String())
	title, titleErr := windows.UTF16PtrFromString("Firefighters")
	if errors.Join(textErr, titleErr) == nil {
		windows.MessageBox(0, message, title, windows.MB_ICONERROR)
	}
}

func hasBrowser() bool { return true }

func noBrowser() string { return "" }

// openBrowser opens a file in the browser. Nothing comes from ended.
func openBrowser(path string) (ended <-chan error, err error) {
	file, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	return nil, windows.ShellExecute(0, nil, file, nil, nil, windows.SW_SHOWNORMAL)
}
