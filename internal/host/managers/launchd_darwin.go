package managers

import (
	"cmp"
	"fmt"
	"os"
	"time"
)

// macOS with launchd.

// Account is the user of the service.
const Account = "_" + Name

func (h Host) daemon() daemon { return daemon{root: h.Root, run: system} }

// DataFolder returns the folder of the service's data.
func (h Host) DataFolder() string { return h.path("/Library/Application Support/Firefighters") }

// InstalledProgram returns where Install wants the program.
func (h Host) InstalledProgram() string { return h.path("/usr/local/bin/firefighters") }

// Packaged returns how the package that brought a program is removed: there is none
// for macOS.
func (h Host) Packaged(string) string { return "" }

// Installed reports whether the service is installed.
func (h Host) Installed() bool { return h.daemon().installed() }

// LogCommand is what to type to see the log.
const LogCommand = "sudo tail -n 50 " + launchdLog

// Prepare makes the account and the folder of the data.
func (h Host) Prepare(d Definition) (steps []string, err error) {
	owner, err := lookUpAccount(h.user())
	if err != nil {
		if err := addUser(); err != nil {
			return nil, err
		}
		if owner, err = lookUpAccount(h.user()); err != nil {
			return nil, err
		}
		steps = append(steps, "Made the user "+Account+", who runs the service and cannot sign in.")
	}
	made, err := owner.take(d.Data)
	if err != nil {
		return steps, err
	}
	log, err := os.OpenFile(h.path(launchdLog), os.O_CREATE|os.O_WRONLY, 0o640)
	if err == nil {
		err = cmp.Or(os.Lchown(h.path(launchdLog), owner.uid, owner.gid), log.Close())
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
	number := freeID(taken + "\n" + groups)
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
	if err := h.daemon().install(d.Program, d.Data, h.user()); err != nil {
		return nil, err
	}
	return []string{"Wrote " + plistFile + ".", "The service starts with this Mac."}, nil
}

// Uninstall takes the service from the system, and leaves the data.
func (h Host) Uninstall(program string) (steps []string, err error) {
	if !h.Installed() {
		return nil, ErrNotInstalled
	}
	if err := h.daemon().uninstall(); err != nil {
		return nil, err
	}
	return []string{"Stopped the service. It does not start with this Mac any more.", "Removed " + plistFile + "."}, nil
}

// Start returns when the service runs.
func (h Host) Start() error {
	if !h.Installed() {
		return ErrNotInstalled
	}
	if err := h.daemon().start(); err != nil {
		said, _ := errorInLog(tailOf(h.path(launchdLog)))
		return fmt.Errorf("%w: %s", ErrNotReady, cmp.Or(said, err.Error()))
	}
	return nil
}

// Stop returns when the service has ended.
func (h Host) Stop() error {
	if !h.Installed() {
		return ErrNotInstalled
	}
	return h.daemon().stop()
}

// Current returns what launchd knows of the service.
func (h Host) Current() (State, error) {
	if !h.Installed() {
		return State{}, nil
	}
	s, pid, ok := h.daemon().current()
	if !ok { // it was stopped
		return State{Installed: true, Program: h.InstalledProgram(), Detail: "stopped"}, nil
	}
	if age, err := system("ps", "-o", "etime=", "-p", pid); err == nil && s.Running {
		s.Since = time.Now().Add(-parseElapsed(age))
		info, err := os.Stat(s.Program)
		s.Replaced = err != nil || info.ModTime().After(s.Since)
	}
	if !s.Running {
		s.Error, s.Hint = errorInLog(tailOf(h.path(launchdLog)))
	}
	return s, nil
}
