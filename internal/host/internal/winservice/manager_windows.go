package winservice

import (
	"errors"
	"fmt"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/svc"
	"golang.org/x/sys/windows/svc/eventlog"
	"golang.org/x/sys/windows/svc/mgr"
)

// Account is the account of the service. The system makes it, and it has
// no password.
const Account = `NT SERVICE\` + Name

const (
	stopLimit     = 60 * time.Second // for the service to end, also when Windows shuts down
	startLimit    = 10 * time.Minute // to upgrade the database, at most
	lockLimit     = 2 * time.Minute  // for the service manager
	askInterval   = 200 * time.Millisecond
	forgetFailure = 24 * time.Hour
)

// acceptsWhenReady is what the service accepts once it answers requests, beside what
// it accepts before. Every user may ask Windows what a service accepts, so anybody can
// tell whether it is ready.
const acceptsWhenReady = svc.AcceptParamChange

// connect connects to the service manager with the given rights.
func connect(rights uint32) (*mgr.Mgr, error) {
	handle, err := windows.OpenSCManager(nil, nil, rights)
	if err != nil {
		return nil, err
	}
	return &mgr.Mgr{Handle: handle}, nil
}

// withService calls do with the service, opened with the given rights.
func withService(rights uint32, do func(*mgr.Service) error) error {
	manager, err := connect(windows.SC_MANAGER_CONNECT)
	if err != nil {
		return err
	}
	defer manager.Disconnect()
	name, err := windows.UTF16PtrFromString(Name)
	if err != nil {
		return err
	}
	handle, err := windows.OpenService(manager.Handle, name, rights)
	if err != nil {
		return err
	}
	service := &mgr.Service{Name: Name, Handle: handle}
	defer service.Close()
	return do(service)
}

// Create creates the service or, if it is there, describes it again. It
// returns what of that the system does not know.
func Create(program string) (unknown []string, err error) {
	manager, err := connect(windows.SC_MANAGER_CONNECT | windows.SC_MANAGER_CREATE_SERVICE)
	if err != nil {
		return nil, err
	}
	defer manager.Disconnect()
	config := mgr.Config{
		ServiceType: windows.SERVICE_WIN32_OWN_PROCESS, StartType: mgr.StartAutomatic, ErrorControl: mgr.ErrorNormal,
		DisplayName: Title, ServiceStartName: Account,
	}
	command := []string{program, "service", "run"}
	service, err := manager.CreateService(Name, command[0], config, command[1:]...)
	if errors.Is(err, windows.ERROR_SERVICE_EXISTS) {
		service, err = manager.OpenService(Name)
		if err == nil {
			err = changeService(service, config, windows.ComposeCommandLine(command))
		}
	}
	if err != nil {
		return nil, err
	}
	defer service.Close()
	return describe(service)
}

func changeService(service *mgr.Service, c mgr.Config, command string) error {
	line, err := windows.UTF16PtrFromString(command)
	if err != nil {
		return err
	}
	account, err := windows.UTF16PtrFromString(c.ServiceStartName)
	if err != nil {
		return err
	}
	title, err := windows.UTF16PtrFromString(c.DisplayName)
	if err != nil {
		return err
	}
	return windows.ChangeServiceConfig(service.Handle, c.ServiceType, c.StartType, c.ErrorControl, line, nil, nil, nil, account, nil, title)
}

// describe sets what versions of Windows have added to the service manager, each by a
// call of its own. It returns what this one does not know: Wine lacks some of it. The
// service gets a SID of its own, so that other programs can open folders to it. It is
// started again whether it crashed or ended with an error, and has time to close the
// database when Windows shuts down.
func describe(service *mgr.Service) (unknown []string, err error) {
	text, err := windows.UTF16PtrFromString("Keeps the personnel records of fire departments, and serves them to browsers and programs.")
	if err != nil {
		return nil, err
	}
	var (
		description = windows.SERVICE_DESCRIPTION{Description: text}
		delayed     = windows.SERVICE_DELAYED_AUTO_START_INFO{IsDelayedAutoStartUp: 1}
		sid         = uint32(windows.SERVICE_SID_TYPE_UNRESTRICTED)
		actions     = []windows.SC_ACTION{restartAfter(5 * time.Second), restartAfter(30 * time.Second), restartAfter(time.Minute), restartAfter(5 * time.Minute)} // and from then on the last
		recovery    = windows.SERVICE_FAILURE_ACTIONS{ResetPeriod: uint32(forgetFailure.Seconds()), ActionsCount: uint32(len(actions)), Actions: &actions[0]}
		failures    = windows.SERVICE_FAILURE_ACTIONS_FLAG{FailureActionsOnNonCrashFailures: 1}
		shutdown    = uint32(stopLimit.Milliseconds())
	)
	for _, set := range []struct {
		name  string
		level uint32
		value unsafe.Pointer
	}{
		{"description", windows.SERVICE_CONFIG_DESCRIPTION, unsafe.Pointer(&description)},
		{"delayed start", windows.SERVICE_CONFIG_DELAYED_AUTO_START_INFO, unsafe.Pointer(&delayed)},
		{"SID", windows.SERVICE_CONFIG_SERVICE_SID_INFO, unsafe.Pointer(&sid)},
		{"restart after a failure", windows.SERVICE_CONFIG_FAILURE_ACTIONS, unsafe.Pointer(&recovery)},
		{"restart after an error", windows.SERVICE_CONFIG_FAILURE_ACTIONS_FLAG, unsafe.Pointer(&failures)},
		{"time to shut down", windows.SERVICE_CONFIG_PRESHUTDOWN_INFO, unsafe.Pointer(&shutdown)},
	} {
		err := windows.ChangeServiceConfig2(service.Handle, set.level, (*byte)(set.value))
		if errors.Is(err, windows.ERROR_INVALID_LEVEL) {
			unknown = append(unknown, set.name)
		} else if err != nil {
			return nil, fmt.Errorf("setting the %s of the service: %w", set.name, err)
		}
	}
	return unknown, nil
}

func restartAfter(delay time.Duration) windows.SC_ACTION {
	return windows.SC_ACTION{Type: windows.SC_ACTION_RESTART, Delay: uint32(delay.Milliseconds())}
}

// Delete stops and deletes the service.
func Delete() error {
	if err := Stop(); err != nil {
		return err
	}
	return withService(windows.DELETE, (*mgr.Service).Delete)
}

// EndedError is a service that ended before it was ready.
type EndedError struct {
	Word string // how, for people
}

func (e *EndedError) Error() string { return "the service has " + e.Word }

// Start returns when the service is ready.
func Start() error {
	return withService(windows.SERVICE_START|windows.SERVICE_QUERY_STATUS, func(service *mgr.Service) error {
		if err := startUnlocked(service); err != nil && !errors.Is(err, windows.ERROR_SERVICE_ALREADY_RUNNING) {
			return err
		}
		return await(service, startLimit, func(status svc.Status) (bool, error) {
			if status.State == svc.Stopped {
				return false, &EndedError{word(status)}
			}
			return isReady(status), nil
		})
	})
}

// startUnlocked starts the service. Shortly after a start of Windows it waits until
// the service manager has started the other services.
func startUnlocked(service *mgr.Service) error {
	for began := time.Now(); ; time.Sleep(askInterval) {
		err := service.Start()
		if !errors.Is(err, windows.ERROR_SERVICE_DATABASE_LOCKED) || time.Since(began) > lockLimit {
			return err
		}
	}
}

// Stop returns when the service has ended.
func Stop() error {
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

// Status is how the service is.
type Status struct {
	Running bool
	Since   time.Time // when its process began, zero if there is none
	Program string
	Word    string // for people
}

// Exists returns an error if there is no service, or if that is not known.
func Exists() error {
	return withService(windows.SERVICE_QUERY_STATUS, func(*mgr.Service) error { return nil })
}

// MayManage reports whether this process may install services.
func MayManage() bool {
	manager, err := connect(windows.SC_MANAGER_CREATE_SERVICE)
	if err != nil {
		return false
	}
	manager.Disconnect()
	return true
}

// Current returns how the service is, for every user.
func Current() (current Status, err error) {
	err = withService(windows.SERVICE_QUERY_STATUS|windows.SERVICE_QUERY_CONFIG, func(service *mgr.Service) error {
		status, err := service.Query()
		if err != nil {
			return err
		}
		current.Running, current.Word = status.State == svc.Running, word(status)
		if status.ProcessId != 0 {
			current.Since = startOf(status.ProcessId)
		}
		current.Program, err = programOf(service)
		return err
	})
	return current, err
}

// programOf returns the program of a service.
func programOf(service *mgr.Service) (string, error) {
	buffer := make([]byte, 8<<10) // more than QueryServiceConfig ever needs
	config := (*windows.QUERY_SERVICE_CONFIG)(unsafe.Pointer(&buffer[0]))
	var needed uint32
	if err := windows.QueryServiceConfig(service.Handle, config, uint32(len(buffer)), &needed); err != nil {
		return "", err
	}
	command, err := windows.DecomposeCommandLine(windows.UTF16PtrToString(config.BinaryPathName))
	if err != nil || len(command) == 0 {
		return "", fmt.Errorf("the service has no program: %w", err)
	}
	return command[0], nil
}

// startOf returns when a process began, zero if that is not known. Unlike
// GetProcessTimes this needs no right to the process.
func startOf(pid uint32) time.Time {
	const each = int(unsafe.Sizeof(windows.SYSTEM_PROCESS_INFORMATION{}))
	buffer := make([]byte, 1<<20)
	for {
		err := windows.NtQuerySystemInformation(windows.SystemProcessInformation, unsafe.Pointer(&buffer[0]), uint32(len(buffer)), nil)
		if err == nil {
			break
		}
		if !errors.Is(err, windows.STATUS_INFO_LENGTH_MISMATCH) || len(buffer) > 1<<27 {
			return time.Time{}
		}
		buffer = make([]byte, 2*len(buffer))
	}
	for at := 0; at+each <= len(buffer); {
		process := (*windows.SYSTEM_PROCESS_INFORMATION)(unsafe.Pointer(&buffer[at]))
		if process.UniqueProcessID == uintptr(pid) {
			created := windows.Filetime{LowDateTime: uint32(process.CreateTime), HighDateTime: uint32(process.CreateTime >> 32)}
			return time.Unix(0, created.Nanoseconds())
		}
		if process.NextEntryOffset == 0 {
			break
		}
		at += int(process.NextEntryOffset)
	}
	return time.Time{}
}

// InstallEventSource registers the service as a source of events. Their texts
// are those of a program of Windows that takes any text.
func InstallEventSource() error {
	RemoveEventSource()
	return eventlog.InstallAsEventCreate(Name, eventlog.Info|eventlog.Warning|eventlog.Error)
}

// RemoveEventSource takes that back.
func RemoveEventSource() { eventlog.Remove(Name) }
