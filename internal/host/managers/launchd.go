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

// launchdLabel is the name of the service to launchd.
const launchdLabel = "org.firefighter-records.firefighters"

// launchdLog is where launchd writes the output of the service.
const launchdLog = "/Library/Logs/firefighters.log"

// plist returns what launchd must know to run a program as the service, for a
// user. launchd starts it again unless it ended well, once a minute: it knows one
// interval alone, and a fault that lasts must not fill the log.
func plist(program, data, user string) string {
	escape := func(text string) string {
		var escaped bytes.Buffer
		xml.EscapeText(&escaped, []byte(text)) // a Buffer never fails
		return escaped.String()
	}
	return strings.NewReplacer("LABEL", launchdLabel, "LOG", launchdLog,
		"PROGRAM", escape(program), "DATA", escape(data), "USER", escape(user)).Replace(plistText)
}

// plistText is the plist with words in capitals in the place of what plist fills in.
//
//go:embed firefighters.plist
var plistText string

// The file that describes the service, and its name in commands.
const (
	plistFile     = "/Library/LaunchDaemons/" + launchdLabel + ".plist"
	launchdTarget = "system/" + launchdLabel
)

// launchd is the Host of macOS, which has more in launchd_darwin.go. Other systems have
// it for its tests.
type launchd struct{ pc }

func (h launchd) InstalledProgram() string { return h.path("/usr/local/bin/firefighters") }
func (h launchd) Installed() bool          { return osutil.Exists(h.path(plistFile)) }

func (h launchd) Install(d Definition) (steps []string, err error) {
	if _, err := writeOrRemove(h.path(plistFile), plist(d.Program, d.Data, h.user())); err != nil {
		return nil, err
	}
	return []string{"Wrote " + plistFile + ".", "The service starts with this Mac."}, nil
}

// Uninstall leaves the description of a service that does not stop.
func (h launchd) Uninstall(string) (steps []string, err error) {
	if err := h.Stop(); err != nil {
		return nil, err
	}
	if _, err := writeOrRemove(h.path(plistFile), ""); err != nil {
		return nil, err
	}
	return []string{"Stopped the service. It no longer starts with this Mac.", "Removed " + plistFile + "."}, nil
}

// Start returns when the service runs: launchd does not say whether it is ready.
func (h launchd) Start() error {
	if !h.Installed() {
		return ErrNotInstalled
	}
	if state, _ := launchdState(); state.Running {
		return nil
	}
	launchctl("enable", launchdTarget)                  // it may have been disabled by hand
	launchctl("bootstrap", "system", h.path(plistFile)) // which fails if it is there already
	launchctl("kickstart", launchdTarget)               // which fails if it runs
	for began := time.Now(); time.Since(began) < 10*time.Second; time.Sleep(time.Second / 5) {
		if state, _ := launchdState(); state.Running && time.Since(began) > 2*time.Second {
			return nil
		}
	}
	said, _ := errorInLog(tailOf(h.path(launchdLog)))
	return fmt.Errorf("%w: %s", ErrNotReady, cmp.Or(said, "launchd could not start it"))
}

// endLimit is how long the service may take to end, at most.
var endLimit = time.Minute

func (h launchd) Stop() error {
	if !h.Installed() {
		return ErrNotInstalled
	}
	launchctl("bootout", launchdTarget) // which fails if it does not run
	for began := time.Now(); ; time.Sleep(time.Second / 5) {
		if _, loaded := launchdState(); !loaded {
			return nil
		}
		if time.Since(began) > endLimit {
			return errors.New("the service has not ended after a minute")
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

// launchdState returns what launchd knows of the service. loaded is false if the service
// was stopped.
func launchdState() (s State, loaded bool) {
	text, err := launchctl("print", launchdTarget)
	if err != nil {
		return State{}, false
	}
	return parseLaunchdState(text), true
}

// parseLaunchdState reads what launchctl print says of the service.
func parseLaunchdState(text string) (s State) {
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " = ")
		switch {
		case key == "state" && s.Detail == "": // later ones are of its parts
			s.Detail = value
		case key == "last exit code" && value != "0" && value != "(never exited)":
			s.Detail += ", the last run ended with: " + value
		}
	}
	s.Running = s.Detail == "running" || strings.HasPrefix(s.Detail, "running,")
	return s
}

// freeID returns the first number from 400 on that does not stand at the end of
// a line, as dscl lists those in use. macOS keeps the numbers below 500 for services.
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
