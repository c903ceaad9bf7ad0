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

// Account is the virtual account of the service. Windows creates it, without a password.
const Account = `NT SERVICE\` + windowsName

const (
	stopLimit     = 60 * time.Second // for the service to stop, also when Windows shuts down
	startLimit    = 10 * time.Minute // for the service to start, with an upgrade of the database
	pollInterval  = 200 * time.Millisecond
	forgetFailure = 24 * time.Hour
)

// acceptsWhenReady is the control that the service accepts only while it answers requests. Every
// user may query the accepted controls, so they show whether the service is ready.
const acceptsWhenReady = svc.AcceptParamChange

func (h Host) DataFolder() string {
	return filepath.Join(knownFolder(windows.FOLDERID_ProgramData, `C:\ProgramData`), windowsName)
}

func (h Host) InstalledProgram() string {
	return filepath.Join(knownFolder(windows.FOLDERID_ProgramFiles, `C:\Program Files`), windowsName, "firefighters.exe")
}

// packageKey has a value set by the .msi that installed the program.
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

// known converts Windows errors to the errors that all systems share.
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

// Prepare creates only the folder: Windows creates the account.
func (h Host) Prepare(d Definition) (steps []string, err error) {
	created, err := takeFolder(d.Data)
	if created {
		steps = append(steps, fmt.Sprintf("Created the folder %s, for the service and administrators only.", d.Data))
	}
	return steps, known(err)
}

// Share lets the service write to a folder. A new folder gets the permissions of the data folder.
func (h Host) Share(folder string) error {
	if err := os.MkdirAll(filepath.Dir(folder), 0o777); err != nil {
		return err
	}
	created, err := makeFolder(folder)
	if created || err != nil {
		return known(err)
	}
	return letWrite(folder)
}

func (h Host) Install(d Definition) (steps []string, err error) {
	if err := createService(d.Program); err != nil {
		return nil, known(err)
	}
	steps = append(steps, fmt.Sprintf("Installed the service %q, which starts with Windows as %s.", windowsName, Account))
	eventlog.Remove(windowsName) // from an earlier installation
	// The message file of EventCreate.exe accepts any text.
	if err := eventlog.InstallAsEventCreate(windowsName, eventlog.Info|eventlog.Warning|eventlog.Error); err != nil {
		return steps, known(fmt.Errorf("registering the event source: %w", err))
	}
	if path := shortcutPath(); h.Packaged(d.Program) == "" { // the package has its own shortcut
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
	err = firewall("add", "dir=in", "action=allow", "program="+d.Program, "protocol=TCP",
		fmt.Sprintf("localport=%d", d.Port), "profile=private,domain")
	if err != nil { // for example, the firewall is turned off
		step = fmt.Sprintf("The firewall was not changed: %v. If other computers cannot reach port %d, open it in the firewall.", err, d.Port)
	}
	return append(steps, step), nil
}

// createService creates the service, or updates an existing one.
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
	config.Description = "Stores the personnel records of fire departments and serves them to browsers and programs."
	config.DelayedAutoStart = true
	config.SidType = windows.SERVICE_SID_TYPE_UNRESTRICTED // so that file permissions can name the service
	return configure(service, config)
}

// configure sets the configuration of the service: restarts after a crash or an error, and time to
// close the database when Windows shuts down. It skips settings that Wine lacks.
func configure(service *mgr.Service, config mgr.Config) error {
	restarts := []mgr.RecoveryAction{ // the last one repeats
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

func connect(rights uint32) (*mgr.Mgr, error) {
	handle, err := windows.OpenSCManager(nil, nil, rights)
	if err != nil {
		return nil, err
	}
	return &mgr.Mgr{Handle: handle}, nil
}

// withService opens the service with the given rights and calls do. It converts errors with known.
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

// await polls the status of the service until done returns true or an error.
func await(service *mgr.Service, limit time.Duration, done func(svc.Status) (bool, error)) error {
	for began := time.Now(); ; time.Sleep(pollInterval) {
		status, err := service.Query()
		if err != nil {
			return err
		}
		if ok, err := done(status); ok || err != nil {
			return err
		}
		if time.Since(began) > limit {
			return fmt.Errorf("the service is still %s after %v", word(status), limit)
		}
	}
}

func isReady(status svc.Status) bool {
	return status.State == svc.Running && status.Accepts&acceptsWhenReady != 0
}

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
