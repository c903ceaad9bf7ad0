package launchd

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Daemon is the service as launchd keeps it.
type Daemon struct {
	Root string                                                          // the folder that its files are in; empty for those of this system
	Run  func(program string, args ...string) (output string, err error) // runs a command of the system
}

// The files that describe the service.
const (
	PlistFile    = "/Library/LaunchDaemons/" + Label + ".plist"
	RotationFile = "/etc/newsyslog.d/" + Label + ".conf"
)

const target = "system/" + Label

// Why the service is not as it should be.
var (
	ErrNotStarted = errors.New("launchd could not start it")
	ErrNotEnded   = errors.New("the service has not ended after a minute")
)

func (d Daemon) path(file string) string { return filepath.Join(d.Root, file) }

// Installed reports whether the service is described to launchd.
func (d Daemon) Installed() bool {
	_, err := os.Stat(d.path(PlistFile))
	return err == nil
}

// Install describes the service to launchd, and its log to newsyslog.
func (d Daemon) Install(program, data, user string) error {
	for file, text := range map[string]string{PlistFile: Plist(program, data, user), RotationFile: Rotation(user)} {
		if err := os.MkdirAll(filepath.Dir(d.path(file)), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(d.path(file), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Uninstall stops the service, and then takes the descriptions back. A service that
// does not stop keeps them.
func (d Daemon) Uninstall() error {
	if err := d.Stop(); err != nil {
		return err
	}
	if err := os.Remove(d.path(RotationFile)); err != nil && !errors.Is(err, fs.ErrNotExist) { // older versions made none
		return err
	}
	return os.Remove(d.path(PlistFile))
}

// Start returns when the service runs. launchd does not say whether it is ready.
func (d Daemon) Start() error {
	if state, ok := d.Current(); ok && state.Running {
		return nil
	}
	d.Run("launchctl", "enable", target)                         // it may have been disabled by hand
	d.Run("launchctl", "bootstrap", "system", d.path(PlistFile)) // which fails if it is there already
	d.Run("launchctl", "kickstart", target)                      // which fails if it runs
	for began := time.Now(); time.Since(began) < 10*time.Second; time.Sleep(time.Second / 5) {
		if state, ok := d.Current(); ok && state.Running && time.Since(began) > 2*time.Second {
			return nil
		}
	}
	return ErrNotStarted
}

// endLimit is how long the service may take to end, at most.
var endLimit = time.Minute

// Stop returns when the service has ended.
func (d Daemon) Stop() error {
	d.Run("launchctl", "bootout", target) // which fails if it does not run
	for began := time.Now(); ; time.Sleep(time.Second / 5) {
		if _, ok := d.Current(); !ok {
			return nil
		}
		if time.Since(began) > endLimit {
			return ErrNotEnded
		}
	}
}

// Current returns what launchd knows of the service; nothing if it was stopped.
func (d Daemon) Current() (state State, ok bool) {
	text, err := d.Run("launchctl", "print", target)
	if err != nil {
		return State{}, false
	}
	return ParseState(text), true
}
