package managers

import (
	"cmp"
	"fmt"
	"os"
	"time"

	"github.com/firefighter-records/firefighters/internal/host/entrust"
	"github.com/firefighter-records/firefighters/internal/host/launchd"
	"github.com/firefighter-records/firefighters/internal/host/systemd"
)

// macOS with launchd.

// Account is the user of the service.
const Account = "_" + Name

func (h Host) daemon() launchd.Daemon { return launchd.Daemon{Root: h.Root, Run: system} }

// DataFolder returns the folder of the service's data.
func (h Host) DataFolder() string { return h.path("/Library/Application Support/Firefighters") }

// InstalledProgram returns where Install wants the program.
func (h Host) InstalledProgram() string { return h.path("/usr/local/bin/firefighters") }

// Packaged returns how the package that brought a program is removed: there is none
// for macOS.
func (h Host) Packaged(string) string { return "" }

// Installed reports whether the service is installed.
func (h Host) Installed() bool { return h.daemon().Installed() }

// LogCommand returns what to type to see the log.
func LogCommand() string { return "sudo tail -n 50 " + launchd.LogFile }

// Prepare makes the account and the folder of the data.
func (h Host) Prepare(d Definition) (steps []string, err error) {
	owner, err := entrust.LookUp(h.user())
	if err != nil {
		if err := addUser(); err != nil {
			return nil, err
		}
		if owner, err = entrust.LookUp(h.user()); err != nil {
			return nil, err
		}
		steps = append(steps, "Made the user "+Account+", who runs the service and cannot sign in.")
	}
	made, err := owner.Take(d.Data)
	if err != nil {
		return steps, err
	}
	log, err := os.OpenFile(h.path(launchd.LogFile), os.O_CREATE|os.O_WRONLY, 0o640)
	if err == nil {
		err = cmp.Or(owner.Own(h.path(launchd.LogFile)), log.Close())
	}
	return append(steps, made...), err
}

// addUser makes a user and a group with the first free number of those that
// macOS keeps for services.
func addUser() error {
	taken, err := system("dscl", ".", "-list", "/Users", "UniqueID")
	if err != nil {
		return err
	}
	groups, err := system("dscl", ".", "-list", "/Groups", "PrimaryGroupID")
	if err != nil {
		return err
	}
	number := launchd.FreeID(taken + "\n" + groups)
	user, group := "/Users/"+Account, "/Groups/"+Account
	for _, entry := range [][]string{
		{group}, {group, "PrimaryGroupID", number}, {group, "Password", "*"},
		{user}, {user, "UniqueID", number}, {user, "PrimaryGroupID", number}, {user, "Password", "*"},
		{user, "UserShell", "/usr/bin/false"}, {user, "NFSHomeDirectory", "/var/empty"},
		{user, "RealName", "Firefighter Records Service"}, {user, "IsHidden", "1"},
	} {
		if _, err := system("dscl", append([]string{".", "-create"}, entry...)...); err != nil {
			return err
		}
	}
	return nil
}

// Install describes the service to the system.
func (h Host) Install(d Definition) (steps []string, err error) {
	if err := h.daemon().Install(d.Program, d.Data, h.user()); err != nil {
		return nil, err
	}
	return []string{"Wrote " + launchd.PlistFile + ".", "The service starts with this Mac."}, nil
}

// Uninstall takes the service from the system, and leaves the data.
func (h Host) Uninstall(Definition) (steps []string, err error) {
	if !h.Installed() {
		return nil, ErrNotInstalled
	}
	if err := h.daemon().Uninstall(); err != nil {
		return nil, err
	}
	return []string{"Stopped the service. It does not start with this Mac any more.", "Removed " + launchd.PlistFile + "."}, nil
}

// Start returns when the service runs.
func (h Host) Start() error {
	if !h.Installed() {
		return ErrNotInstalled
	}
	if err := h.daemon().Start(); err != nil {
		said, _ := systemd.ErrorIn(tailOf(h.path(launchd.LogFile)))
		return fmt.Errorf("%w: %s", ErrNotReady, cmp.Or(said, err.Error()))
	}
	return nil
}

// Stop returns when the service has ended.
func (h Host) Stop() error {
	if !h.Installed() {
		return ErrNotInstalled
	}
	return h.daemon().Stop()
}

// Current returns what launchd knows of the service.
func (h Host) Current() (State, error) {
	if !h.Installed() {
		return State{}, nil
	}
	seen, ok := h.daemon().Current()
	if !ok { // it was stopped
		return State{Installed: true, Program: h.InstalledProgram(), Detail: "stopped"}, nil
	}
	s := State{Installed: true, Running: seen.Running, Program: seen.Program, Detail: seen.Detail}
	if age, err := system("ps", "-o", "etime=", "-p", seen.PID); err == nil && s.Running {
		s.Since = time.Now().Add(-launchd.ParseElapsed(age))
		info, err := os.Stat(s.Program)
		s.Replaced = err != nil || info.ModTime().After(s.Since)
	}
	if !s.Running {
		s.Error, s.Hint = systemd.ErrorIn(tailOf(h.path(launchd.LogFile)))
	}
	return s, nil
}
