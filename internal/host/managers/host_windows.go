package managers

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
	"golang.org/x/sys/windows/svc"
	"golang.org/x/sys/windows/svc/eventlog"
	"golang.org/x/sys/windows/svc/mgr"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Host is a PC with Windows.
type Host struct{ pc }

// Account is the account of the service. The system makes it, and it has no password.
const Account = `NT SERVICE\` + windowsName

const (
	stopLimit     = 60 * time.Second // for the service to end, also when Windows shuts down
	startLimit    = 10 * time.Minute // to upgrade the database, at most
	askInterval   = 200 * time.Millisecond
	forgetFailure = 24 * time.Hour
)

// acceptsWhenReady is what the service accepts once it answers requests, beside what
// it accepts before. Every user may ask Windows what a service accepts, so anybody can
// tell whether it is ready.
const acceptsWhenReady = svc.AcceptParamChange

func (h Host) DataFolder() string {
	return filepath.Join(knownFolder(windows.FOLDERID_ProgramData, `C:\ProgramData`), windowsName)
}

func (h Host) InstalledProgram() string {
	return filepath.Join(knownFolder(windows.FOLDERID_ProgramFiles, `C:\Program Files`), windowsName, "firefighters.exe")
}

// packageKey is where the .msi notes that it brought the program.
const packageKey, packageValue = `SOFTWARE\Firefighters`, "Package"

func (h Host) Packaged(program string) string {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, packageKey, registry.QUERY_VALUE)
	if err != nil {
		return ""
	}
	defer key.Close()
	if kind, _, err := key.GetStringValue(packageValue); err != nil || kind != "msi" || !osutil.SameFile(program, h.InstalledProgram()) {
		return ""
	}
	return "Settings > Apps > " + windowsTitle
}

func (h Host) Hides(string) bool { return false }

func (h Host) Installed() bool {
	err := withService(windows.SERVICE_QUERY_STATUS, func(*mgr.Service) error { return nil })
	return err == nil || errors.Is(err, ErrNotPermitted)
}

func (h Host) Permitted() bool {
	manager, err := connect(windows.SC_MANAGER_CREATE_SERVICE)
	if err != nil {
		return false
	}
	manager.Disconnect()
	return true
}

// LogCommand returns the command line that prints the end of the service's log, the newest
// entry first. It cannot follow the log.
func LogCommand(bool) []string {
	query := "/q:*[System[Provider[@Name='" + windowsName + "']]]"
	return []string{"wevtutil", "query-events", "Application", query, "/c:50", "/rd:true", "/f:text"}
}

// known turns errors of Windows into those of all systems.
func known(err error) error {
	switch {
	case errors.Is(err, windows.ERROR_ACCESS_DENIED), errors.Is(err, windows.ERROR_PRIVILEGE_NOT_HELD),
		errors.Is(err, windows.ERROR_INVALID_OWNER):
		return ErrNotPermitted
	case errors.Is(err, windows.ERROR_SERVICE_DOES_NOT_EXIST):
		return ErrNotInstalled
	case errors.Is(err, windows.ERROR_SERVICE_MARKED_FOR_DELETE):
		return errors.New(`the service is still being removed: close the window "Services", or restart the PC`)
	}
	return err
}

// Prepare makes the folder alone: the system has the account already.
func (h Host) Prepare(d Definition) (steps []string, err error) {
	made, err := takeFolder(d.Data)
	if made {
		steps = append(steps, fmt.Sprintf("Created the folder %s, for the service and administrators only.", d.Data))
	}
	return steps, known(err)
}

// Share makes a folder for the service and the administrators alone, as that of the data.
func (h Host) Share(folder string) error {
	if err := os.MkdirAll(filepath.Dir(folder), 0o777); err != nil {
		return err
	}
	made, err := makeFolder(folder)
	if made || err != nil {
		return known(err)
	}
	return letWrite(folder)
}

func (h Host) Install(d Definition) (steps []string, err error) {
	if err := createService(d.Program); err != nil {
		return nil, known(err)
	}
	steps = append(steps, fmt.Sprintf("Installed the service %q, which starts with Windows as %s.", windowsName, Account))
	eventlog.Remove(windowsName) // of an earlier installation
	// The texts of the events are those of a program of Windows that takes any text.
	if err := eventlog.InstallAsEventCreate(windowsName, eventlog.Info|eventlog.Warning|eventlog.Error); err != nil {
		return steps, known(fmt.Errorf("registering the source of events: %w", err))
	}
	if path := shortcutPath(); h.Packaged(d.Program) == "" { // or else it has brought one
		if err := makeShortcut(path, d.Program, "open"); err != nil {
			return steps, known(fmt.Errorf("creating %s: %w", path, err))
		}
		steps = append(steps, fmt.Sprintf("Created the shortcut %q in the start menu.", windowsName))
	}
	closed := closeFirewall()
	if !d.Shared || d.Port == 0 {
		return append(steps, closed...), nil
	}
	step := fmt.Sprintf("Opened port %d in the firewall, for private networks.", d.Port)
	if err := openFirewall(d.Program, d.Port); err != nil { // as where the firewall does not run
		step = fmt.Sprintf("The firewall was not changed. If other computers do not reach port %d, open it there: %v.", d.Port, err)
	}
	return append(steps, step), nil
}

// createService creates the service or, if it exists, describes it again.
func createService(program string) error {
	manager, err := connect(windows.SC_MANAGER_CONNECT | windows.SC_MANAGER_CREATE_SERVICE)
	if err != nil {
		return err
	}
	defer manager.Disconnect()
	config := mgr.Config{
		ServiceType: windows.SERVICE_WIN32_OWN_PROCESS, StartType: mgr.StartAutomatic, ErrorControl: mgr.ErrorNormal,
		DisplayName: windowsTitle, ServiceStartName: Account,
	}
	service, err := manager.CreateService(windowsName, program, config, "service", "run")
	if errors.Is(err, windows.ERROR_SERVICE_EXISTS) {
		service, err = manager.OpenService(windowsName)
	}
	if err != nil {
		return err
	}
	defer service.Close()
	config.BinaryPathName = windows.ComposeCommandLine([]string{program, "service", "run"})
	config.Description = "Keeps the personnel records of fire departments, and serves them to browsers and programs."
	config.DelayedAutoStart = true
	config.SidType = windows.SERVICE_SID_TYPE_UNRESTRICTED // so that other programs can open folders to it
	return configure(service, config)
}

// configure sets the configuration of the service. It is started again whether it crashed or
// ended with an error, and has time to close the database when Windows shuts down. configure
// skips the settings that Wine lacks.
func configure(service *mgr.Service, config mgr.Config) error {
	restarts := []mgr.RecoveryAction{ // and from then on the last
		{Type: mgr.ServiceRestart, Delay: 5 * time.Second}, {Type: mgr.ServiceRestart, Delay: 30 * time.Second},
		{Type: mgr.ServiceRestart, Delay: time.Minute}, {Type: mgr.ServiceRestart, Delay: 5 * time.Minute},
	}
	shutdown := uint32(stopLimit.Milliseconds())
	for _, set := range []func() error{
		func() error { return service.UpdateConfig(config) },
		func() error { return service.SetRecoveryActions(restarts, uint32(forgetFailure.Seconds())) },
		func() error { return service.SetRecoveryActionsOnNonCrashFailures(true) },
		func() error {
			return windows.ChangeServiceConfig2(service.Handle, windows.SERVICE_CONFIG_PRESHUTDOWN_INFO, (*byte)(unsafe.Pointer(&shutdown)))
		},
	} {
		if err := set(); err != nil && !errors.Is(err, windows.ERROR_INVALID_LEVEL) {
			return fmt.Errorf("configuring the service: %w", err)
		}
	}
	return nil
}

func (h Host) Uninstall(program string) (steps []string, err error) {
	if err := h.Stop(); err != nil {
		return nil, err
	}
	if err := withService(windows.DELETE, (*mgr.Service).Delete); err != nil {
		return nil, err
	}
	steps = append(steps, fmt.Sprintf("Removed the service %q.", windowsName))
	if h.Packaged(program) == "" {
		err = os.Remove(shortcutPath())
		if err == nil {
			steps = append(steps, fmt.Sprintf("Removed the shortcut %q.", windowsName))
		} else if os.IsNotExist(err) {
			err = nil
		}
	}
	eventlog.Remove(windowsName)
	return append(steps, closeFirewall()...), known(err)
}

func (h Host) Start() error {
	return withService(windows.SERVICE_START|windows.SERVICE_QUERY_STATUS, func(service *mgr.Service) error {
		if err := service.Start(); err != nil && !errors.Is(err, windows.ERROR_SERVICE_ALREADY_RUNNING) {
			return err
		}
		return await(service, startLimit, func(status svc.Status) (bool, error) {
			if status.State == svc.Stopped {
				return false, fmt.Errorf("%w: it is %s", ErrNotReady, word(status))
			}
			return isReady(status), nil
		})
	})
}

func (h Host) Stop() error {
	return withService(windows.SERVICE_STOP|windows.SERVICE_QUERY_STATUS, func(service *mgr.Service) error {
		_, err := service.Control(svc.Stop)
		if errors.Is(err, windows.ERROR_SERVICE_NOT_ACTIVE) {
			return nil
		}
		if err != nil && !errors.Is(err, windows.ERROR_SERVICE_CANNOT_ACCEPT_CTRL) { // it is stopping already
			return err
		}
		return await(service, 2*stopLimit, func(status svc.Status) (bool, error) { return status.State == svc.Stopped, nil })
	})
}

func (h Host) Current() (state State, err error) {
	err = withService(windows.SERVICE_QUERY_STATUS, func(service *mgr.Service) error {
		status, err := service.Query()
		state = State{Installed: true, Running: status.State == svc.Running, Program: h.InstalledProgram(), Detail: word(status)}
		return err
	})
	if errors.Is(err, ErrNotInstalled) {
		return State{}, nil
	}
	return state, err
}

// connect connects to the service manager with the given rights.
func connect(rights uint32) (*mgr.Mgr, error) {
	handle, err := windows.OpenSCManager(nil, nil, rights)
	if err != nil {
		return nil, err
	}
	return &mgr.Mgr{Handle: handle}, nil
}

// withService calls do with the service, opened with the given rights. Its errors are
// those of all systems.
func withService(rights uint32, do func(*mgr.Service) error) (err error) {
	defer func() { err = known(err) }()
	manager, err := connect(windows.SC_MANAGER_CONNECT)
	if err != nil {
		return err
	}
	defer manager.Disconnect()
	name, err := windows.UTF16PtrFromString(windowsName)
	if err != nil {
		return err
	}
	handle, err := windows.OpenService(manager.Handle, name, rights)
	if err != nil {
		return err
	}
	service := &mgr.Service{Name: windowsName, Handle: handle}
	defer service.Close()
	return do(service)
}

// await asks for the status of the service until done says so.
func await(service *mgr.Service, limit time.Duration, done func(svc.Status) (bool, error)) error {
	for began := time.Now(); ; time.Sleep(askInterval) {
		status, err := service.Query()
		if err != nil {
			return err
		}
		if ok, err := done(status); ok || err != nil {
			return err
		}
		if time.Since(began) > limit {
			return fmt.Errorf("the service is still %q after %v", word(status), limit)
		}
	}
}

func isReady(status svc.Status) bool {
	return status.State == svc.Running && status.Accepts&acceptsWhenReady != 0
}

// word returns a status for people.
func word(status svc.Status) string {
	switch {
	case isReady(status):
		return "running"
	case status.State == svc.Running, status.State == svc.StartPending:
		return "starting"
	case status.State == svc.StopPending:
		return "stopping"
	case status.ServiceSpecificExitCode != 0:
		return fmt.Sprintf("stopped with an error (exit code %d)", status.ServiceSpecificExitCode)
	case status.Win32ExitCode != 0 && status.Win32ExitCode != uint32(windows.ERROR_SERVICE_NEVER_STARTED):
		return fmt.Sprintf("stopped with an error (%v)", syscall.Errno(status.Win32ExitCode))
	}
	return "stopped"
}
