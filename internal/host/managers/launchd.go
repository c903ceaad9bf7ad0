//go:build !windows

package managers

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/xml"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

const (
	launchdLabel  = "org.firefighter-records.firefighters"
	launchdTarget = "system/" + launchdLabel // the name of the service in commands
	launchdLog    = "/Library/Logs/firefighters.log"
	plistFile     = "/Library/LaunchDaemons/" + launchdLabel + ".plist"
)

// plist returns the property list that runs a program as the service. After a failure launchd
// restarts the service once a minute: it has only one interval, and a lasting fault must not
// fill the log.
func plist(program, data, user string) string {
	escape := func(text string) string {
		var escaped bytes.Buffer
		xml.EscapeText(&escaped, []byte(text)) // a Buffer never fails
		return escaped.String()
	}
	return strings.NewReplacer("LABEL", launchdLabel, "LOG", launchdLog,
		"PROGRAM", escape(program), "DATA", escape(data), "USER", escape(user)).Replace(plistText)
}

// plistText is the property list, with placeholders in capitals.
//
//go:embed firefighters.plist
var plistText string

// launchd is the Host of macOS. Other systems compile this file for its tests.
type launchd struct{ pc }

func (h launchd) InstalledProgram() string { return h.path("/usr/local/bin/firefighters") }
func (h launchd) Installed() bool          { return osutil.Exists(h.path(plistFile)) }

func (h launchd) Install(d Definition) (steps []string, err error) {
	if _, err := writeOrRemove(h.path(plistFile), plist(d.Program, d.Data, h.user())); err != nil {
		return nil, err
	}
	return []string{"Wrote " + plistFile + ".", "The service starts with this Mac."}, nil
}

// Uninstall keeps the property list if the service does not stop.
func (h launchd) Uninstall(string) (steps []string, err error) {
	if err := h.Stop(); err != nil {
		return nil, err
	}
	if _, err := writeOrRemove(h.path(plistFile), ""); err != nil {
		return nil, err
	}
	return []string{"Stopped the service. It no longer starts with this Mac.", "Removed " + plistFile + "."}, nil
}

// Start returns when the service has run for two seconds: launchd does not report readiness.
func (h launchd) Start() error {
	if !h.Installed() {
		return ErrNotInstalled
	}
	if state, _ := launchdState(); state.Running {
		return nil
	}
	launchctl("enable", launchdTarget)                  // it may have been disabled by hand
	launchctl("bootstrap", "system", h.path(plistFile)) // fails if it is already loaded
	launchctl("kickstart", launchdTarget)               // fails if it runs
	for began := time.Now(); time.Since(began) < 10*time.Second; time.Sleep(time.Second / 5) {
		if state, _ := launchdState(); state.Running && time.Since(began) > 2*time.Second {
			return nil
		}
	}
	cause, _ := errorInLog(tailOf(h.path(launchdLog)))
	return fmt.Errorf("%w: %s", ErrNotReady, cmp.Or(cause, "launchd could not start it"))
}

// endLimit is how long Stop waits for the service to end. Tests change it.
var endLimit = time.Minute

func (h launchd) Stop() error {
	if !h.Installed() {
		return ErrNotInstalled
	}
	launchctl("bootout", launchdTarget) // fails if it does not run
	for began := time.Now(); ; time.Sleep(time.Second / 5) {
		if _, loaded := launchdState(); !loaded {
			return nil
		}
		if time.Since(began) > endLimit {
			return errors.New("the service did not stop within a minute")
		}
	}
}

func (h launchd) Current() (State, error) {
	if !h.Installed() {
		return State{}, nil
	}
	s, loaded := launchdState()
	s.Installed, s.Program = true, h.InstalledProgram()
	if !loaded { // it was stopped
		s.Detail = "stopped"
		return s, nil
	}
	if !s.Running {
		s.Error, s.Hint = errorInLog(tailOf(h.path(launchdLog)))
	}
	return s, nil
}

func launchctl(args ...string) (string, error) { return system("launchctl", args...) }

// launchdState returns the state of the service. loaded is false if the service was stopped.
func launchdState() (s State, loaded bool) {
	text, err := launchctl("print", launchdTarget)
	if err != nil {
		return State{}, false
	}
	return parseLaunchdState(text), true
}

func parseLaunchdState(text string) (s State) {
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " = ")
		switch {
		case key == "state" && s.Detail == "": // later states belong to nested entries
			s.Detail = value
		case key == "last exit code" && value != "0" && value != "(never exited)":
			s.Detail += ", the last run ended with: " + value
		}
	}
	s.Running = s.Detail == "running" || strings.HasPrefix(s.Detail, "running,")
	return s
}

// freeID returns the first unused ID from 400. Each line of the dscl list ends with an ID in use.
// macOS reserves the IDs below 500 for services.
func freeID(list string) string {
	used := map[string]bool{}
	for line := range strings.Lines(list) {
		if words := strings.Fields(line); len(words) > 0 {
			used[words[len(words)-1]] = true
		}
	}
	number := 400
	for used[strconv.Itoa(number)] {
		number++
	}
	return strconv.Itoa(number)
}
