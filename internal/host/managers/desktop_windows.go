package managers

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// knownFolder returns a system folder. It does not use the environment, which other programs of
// the user can change even for a program with more rights.
func knownFolder(id *windows.KNOWNFOLDERID, fallback string) string {
	if path, err := windows.KnownFolderPath(id, windows.KF_FLAG_DEFAULT); err == nil {
		return path
	}
	return fallback
}

func shortcutPath() string {
	programs := knownFolder(windows.FOLDERID_CommonPrograms, `C:\ProgramData\Microsoft\Windows\Start Menu\Programs`)
	return filepath.Join(programs, windowsName+".lnk")
}

var (
	classShellLink   = windows.GUID{Data1: 0x00021401, Data4: [8]byte{0xc0, 0, 0, 0, 0, 0, 0, 0x46}}
	interfaceLink    = windows.GUID{Data1: 0x000214f9, Data4: [8]byte{0xc0, 0, 0, 0, 0, 0, 0, 0x46}} // IShellLinkW
	interfaceFile    = windows.GUID{Data1: 0x0000010b, Data4: [8]byte{0xc0, 0, 0, 0, 0, 0, 0, 0x46}} // IPersistFile
	coCreateInstance = windows.NewLazySystemDLL("ole32.dll").NewProc("CoCreateInstance")
)

// Indexes of COM methods, and values for them.
const (
	inProcess       = 1 // CLSCTX_INPROC_SERVER
	methodQuery     = 0 // IUnknown::QueryInterface
	methodRelease   = 2 // IUnknown::Release
	linkDescription = 7 // IShellLinkW::SetDescription
	linkFolder      = 9
	linkArguments   = 11
	linkShow        = 15
	linkPath        = 20
	fileSave        = 6 // IPersistFile::Save

	shortcutDescription = "The firefighters of this station, in the browser"
)

// object is a COM object: a pointer to its method table.
type object struct{ methods *[32]uintptr }

func (o *object) call(method int, arguments ...uintptr) error {
	result, _, _ := syscall.SyscallN(o.methods[method], append([]uintptr{uintptr(unsafe.Pointer(o))}, arguments...)...)
	runtime.KeepAlive(o)
	if int32(result) < 0 {
		return syscall.Errno(result)
	}
	return nil
}

// makeShortcut creates or replaces a shortcut to a program. The shortcut shows the program's
// window: only for a visible program does Windows show the prompt for more rights in front.
func makeShortcut(path, program, arguments string) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := windows.CoInitializeEx(0, windows.COINIT_APARTMENTTHREADED); err != nil && err != syscall.Errno(windows.S_FALSE) {
		return err
	}
	defer windows.CoUninitialize()
	var link, file *object
	result, _, _ := coCreateInstance.Call(uintptr(unsafe.Pointer(&classShellLink)), 0, inProcess,
		uintptr(unsafe.Pointer(&interfaceLink)), uintptr(unsafe.Pointer(&link)))
	if int32(result) < 0 {
		return syscall.Errno(result)
	}
	defer link.call(methodRelease)
	for _, set := range []struct {
		method int
		value  string
	}{{linkPath, program}, {linkArguments, arguments}, {linkFolder, filepath.Dir(program)}, {linkDescription, shortcutDescription}} {
		value, err := windows.UTF16PtrFromString(set.value)
		if err != nil {
			return err
		}
		if err := link.call(set.method, uintptr(unsafe.Pointer(value))); err != nil {
			return err
		}
	}
	if err := link.call(linkShow, windows.SW_SHOWNORMAL); err != nil {
		return err
	}
	if err := link.call(methodQuery, uintptr(unsafe.Pointer(&interfaceFile)), uintptr(unsafe.Pointer(&file))); err != nil {
		return err
	}
	defer file.call(methodRelease)
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return err
	}
	return file.call(fileSave, uintptr(unsafe.Pointer(name)), 1)
}

// Firewall names the firewall of Windows. The rule that Install adds and removes has another name.
func (h Host) Firewall(port int) (name, command string) {
	const form = "netsh advfirewall firewall add rule name=%s dir=in action=allow program=%s protocol=TCP localport=%d profile=private,domain"
	return "Windows", fmt.Sprintf(form, osutil.Quote(windowsTitle+" "+strconv.Itoa(port)), osutil.Quote(h.InstalledProgram()), port)
}

// closeFirewall removes the rule of Install. It returns no steps if there was none.
func closeFirewall() (steps []string) {
	if firewall("delete") == nil {
		steps = append(steps, "Closed the firewall for the service.")
	}
	return steps
}

// firewall changes the firewall rule of the service. It ignores PATH and runs netsh from the
// system folder.
func firewall(verb string, options ...string) error {
	system, err := windows.GetSystemDirectory()
	if err != nil {
		return err
	}
	arguments := append([]string{"advfirewall", "firewall", verb, "rule", "name=" + windowsTitle}, options...)
	out, err := exec.Command(filepath.Join(system, "netsh.exe"), arguments...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, strings.Join(strings.Fields(string(out)), " "))
	}
	return nil
}
