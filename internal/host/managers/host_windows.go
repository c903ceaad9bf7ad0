package managers

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"

	"github.com/firefighter-records/firefighters/internal/host/internal/winservice"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Host is a PC with Windows.
type Host struct{ pc }

// Account is the user of the service.
const Account = winservice.Account

// DataFolder returns the folder of the service's data.
func (h Host) DataFolder() string { return winservice.DataFolder() }

// InstalledProgram returns where Install wants the program.
func (h Host) InstalledProgram() string {
	return filepath.Join(winservice.Folder(windows.FOLDERID_ProgramFiles, `C:\Program Files`), winservice.Name, "firefighters.exe")
}

// packageKey is where the .msi notes that it brought the program.
const packageKey, packageValue = `SOFTWARE\Firefighters`, "Package"

// Packaged returns how the package that brought a program is removed, empty if
// none did.
func (h Host) Packaged(program string) string {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, packageKey, registry.QUERY_VALUE)
	if err != nil {
		return ""
	}
	defer key.Close()
	if kind, _, err := key.GetStringValue(packageValue); err != nil || kind != "msi" || !osutil.SameFile(program, h.InstalledProgram()) {
		return ""
	}
	return "Settings > Apps > " + winservice.Title
}

// Installed reports whether the service is installed.
func (h Host) Installed() bool {
	err := known(winservice.Exists())
	return err == nil || errors.Is(err, ErrNotPermitted)
}

// Permitted reports whether this process may install, start and stop.
func (h Host) Permitted() bool { return winservice.MayManage() }

// LogCommand is what to type to see the log, in any terminal.
const LogCommand = `wevtutil query-events Application /q:"*[System[Provider[@Name='` + winservice.Name + `']]]" /c:20 /rd:true /f:text`

// known turns errors of Windows into those of all systems.
func known(err error) error {
	if ended, ok := errors.AsType[*winservice.EndedError](err); ok {
		return fmt.Errorf("%w: it is %s", ErrNotReady, ended.Word)
	}
	switch {
	case errors.Is(err, windows.ERROR_ACCESS_DENIED), errors.Is(err, windows.ERROR_PRIVILEGE_NOT_HELD), errors.Is(err, windows.ERROR_INVALID_OWNER):
		return ErrNotPermitted
	case errors.Is(err, windows.ERROR_SERVICE_DOES_NOT_EXIST):
		return ErrNotInstalled
	case errors.Is(err, windows.ERROR_SERVICE_MARKED_FOR_DELETE):
		return errors.New(`the service is still being removed: close the window "Services", or restart the PC`)
	}
	return err
}

// Prepare makes the folder of the data. The system has the account already.
func (h Host) Prepare(d Definition) (steps []string, err error) {
	made, err := winservice.TakeFolder(d.Data)
	if made {
		steps = append(steps, fmt.Sprintf("Made %s, for the service and the administrators alone.", d.Data))
	}
	return steps, known(err)
}

// Share lets the service write to a folder. One that it makes is for the service and
// the administrators alone, as that of the data.
func (h Host) Share(folder string) error {
	if err := os.MkdirAll(filepath.Dir(folder), 0o777); err != nil {
		return err
	}
	made, err := winservice.MakeFolder(folder)
	if made || err != nil {
		return known(err)
	}
	return winservice.LetWrite(folder)
}

// MayRead returns an error if the service may not read a file.
func (h Host) MayRead(file string) error { return winservice.MayRead(file) }

// Install describes the service to the system.
func (h Host) Install(d Definition) (steps []string, err error) {
	unknown, err := winservice.Create(d.Program)
	if err != nil {
		return nil, known(err)
	}
	steps = append(steps, fmt.Sprintf("Installed the service %q, which starts with Windows as %s.", winservice.Name, winservice.Account))
	if len(unknown) > 0 {
		steps = append(steps, "This system does not know, and goes without: "+strings.Join(unknown, ", ")+".")
	}
	if err := winservice.InstallEventSource(); err != nil {
		return steps, known(fmt.Errorf("registering the source of events: %w", err))
	}
	if path := winservice.ShortcutPath(); h.Packaged(d.Program) == "" { // or else it has brought one
		if err := winservice.MakeShortcut(path, d.Program, "open"); err != nil {
			return steps, known(fmt.Errorf("making %s: %w", path, err))
		}
		steps = append(steps, fmt.Sprintf("Made the shortcut %q in the start menu.", winservice.Name))
	}
	if !d.Shared || d.Port == 0 {
		return append(steps, closeFirewall()...), nil
	}
	if err := winservice.OpenFirewall(d.Program, d.Port); err != nil {
		// Where the firewall of Windows does not run there is nothing to open.
		return append(steps, fmt.Sprintf("The firewall was not changed. If other PCs do not reach port %d, open it there: %v.", d.Port, err)), nil
	}
	return append(steps, fmt.Sprintf("Opened port %d in the firewall, for private networks.", d.Port)), nil
}

// Uninstall takes that back, and leaves the data.
func (h Host) Uninstall(program string) (steps []string, err error) {
	if err := winservice.Delete(); err != nil {
		return nil, known(err)
	}
	steps = append(steps, fmt.Sprintf("Removed the service %q.", winservice.Name))
	if h.Packaged(program) == "" {
		err = os.Remove(winservice.ShortcutPath())
		if err == nil {
			steps = append(steps, fmt.Sprintf("Removed the shortcut %q.", winservice.Name))
		} else if os.IsNotExist(err) {
			err = nil
		}
	}
	winservice.RemoveEventSource()
	return append(steps, closeFirewall()...), known(err)
}

// closeFirewall returns what it did.
func closeFirewall() (steps []string) {
	if winservice.CloseFirewall() {
		steps = append(steps, "Closed the firewall for the service.")
	}
	return steps
}

// Start returns when the service is ready.
func (h Host) Start() error { return known(winservice.Start()) }

// Stop returns when the service has ended.
func (h Host) Stop() error { return known(winservice.Stop()) }

// Current returns what the system knows of the service.
func (h Host) Current() (State, error) {
	status, err := winservice.Current()
	if err != nil {
		return State{}, known(err)
	}
	state := State{Installed: true, Running: status.Running, Since: status.Since, Program: status.Program, Detail: status.Word}
	info, err := os.Stat(state.Program)
	state.Replaced = err == nil && !state.Since.IsZero() && info.ModTime().After(state.Since)
	return state, nil
}

func reopen(*os.File, string) error { return nil } // here no service manager writes a log to a file
