//go:build !windows && !darwin

package managers

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Host is a PC with systemd, if that runs.
type Host struct{ pc }

const Account = Name

const (
	unitName   = Name + ".service"
	unitFile   = "/etc/systemd/system/" + unitName
	dropInFile = unitFile + ".d/settings.conf"
)

// packagedUnit is where a package puts the unit.
const packagedUnit = "/usr/lib/systemd/system/" + unitName

// DataFolder returns the folder of the service's data, whether it exists or not.
func (h Host) DataFolder() string { return h.path("/var/lib/firefighters") }

// InstalledProgram returns where Install expects the program, unless a package installed it.
func (h Host) InstalledProgram() string { return h.path("/usr/local/bin/firefighters") }

// Packaged returns how to remove the package that installed a program, empty if none did.
func (h Host) Packaged(program string) string {
	if program != "/usr/bin/firefighters" || !osutil.Exists(h.path(packagedUnit)) {
		return ""
	}
	return "sudo apt remove firefighters"
}

// Installed reports whether the service is installed, quickly and for every user. It is false
// for a unit that someone has written by hand.
func (h Host) Installed() bool {
	if text, err := os.ReadFile(h.path(unitFile)); err == nil {
		return isOurs(string(text))
	}
	return osutil.Exists(h.path(packagedUnit))
}

// LogCommand returns the command line that prints the end of the service's log.
func LogCommand(follow bool) []string {
	line := []string{"journalctl", "-u", unitName, "-n", "50", "--no-pager"}
	if follow {
		line = append(line, "--follow")
	}
	return line
}

// booted returns an error unless systemd runs this system, as sd_booted(3) finds out.
func (h Host) booted() error {
	if !osutil.Exists(h.path("/run/systemd/system")) {
		return fmt.Errorf("%w: systemd does not run here", ErrUnsupported)
	}
	return nil
}

// own returns an error if systemd does not run this system, or has a unit that somebody
// has written by hand: that is not ours to replace or to remove.
func (h Host) own() error {
	unit := h.path(unitFile)
	if text, err := os.ReadFile(unit); err == nil && !isOurs(string(text)) {
		return fmt.Errorf("%w: %s", ErrForeign, unit)
	}
	return h.booted()
}

func systemctl(args ...string) (string, error) { return system("systemctl", args...) }

// Prepare creates the account and the data folder, which the service may write to. It can be
// repeated.
func (h Host) Prepare(d Definition) (steps []string, err error) {
	if err := h.own(); err != nil {
		return nil, err
	}
	_, steps, err = h.prepare(d.Data, h.addUser)
	return steps, err
}

// addUser creates the user of the service.
func (h Host) addUser() error {
	file := h.path("/etc/sysusers.d/firefighters.conf")
	if _, err := writeOrRemove(file, Sysusers); err != nil {
		return err
	}
	_, err := system("systemd-sysusers", file)
	return err
}

// Install describes the service to the system, which then starts it with the PC. It can be
// repeated.
func (h Host) Install(d Definition) (steps []string, err error) {
	steps, err = h.writeUnit(d)
	if err != nil {
		return steps, err
	}
	changed, err := writeOrRemove(h.path(dropInFile), dropIn(d.Writes, d.Port))
	if err != nil {
		return steps, err
	}
	if changed {
		steps = append(steps, "Wrote what the unit needs for the settings to "+dropInFile+".")
	}
	if _, err := systemctl("daemon-reload"); err != nil {
		return steps, err
	}
	if _, err := systemctl("enable", unitName); err != nil {
		return steps, err
	}
	return append(steps, "The service starts with this PC."), nil
}

// writeUnit writes the unit, unless a package has brought it.
func (h Host) writeUnit(d Definition) (steps []string, err error) {
	text := Unit(d.Program)
	if h.Packaged(d.Program) != "" {
		text = ""
	}
	changed, err := writeOrRemove(h.path(unitFile), text)
	if changed && text != "" {
		steps = append(steps, "Wrote the unit "+unitFile+".")
	} else if changed {
		steps = append(steps, "Removed the unit "+unitFile+": the package has one.")
	}
	return steps, err
}

// Uninstall stops the service and removes it from the system. The data and the program that
// runs stay.
func (h Host) Uninstall(program string) (steps []string, err error) {
	if err := h.own(); err != nil {
		return nil, err
	}
	if _, err := systemctl("disable", "--now", unitName); err != nil {
		return nil, err
	}
	steps = []string{"Stopped the service. It no longer starts with this PC."}
	hadDisks := osutil.Exists(h.path(unitPath(diskAutomount)))
	if hadDisks {
		systemctl("disable", diskAutomount)
		systemctl("stop", diskAutomount, diskMount)
	}
	for _, file := range append(diskFiles, dropInFile, unitFile) {
		changed, err := writeOrRemove(h.path(file), "")
		if err != nil {
			return steps, err
		}
		if changed {
			steps = append(steps, "Removed "+file+".")
		}
	}
	if hadDisks {
		system("udevadm", "control", "--reload") // the rule is gone at the next start in any case
	}
	_, err = systemctl("daemon-reload")
	systemctl("reset-failed", unitName) // which fails if there is nothing to reset
	return steps, err
}

// Start starts the service and returns when it is ready, also if it was already.
func (h Host) Start() error {
	if _, _, err := h.show(); err != nil {
		return err
	}
	began := time.Now()
	if _, err := systemctl("restart", unitName); err != nil { // start would wait for the next attempt after a failure
		said, _ := lastError(began)
		return fmt.Errorf("%w: %s", ErrNotReady, cmp.Or(said, err.Error()))
	}
	return nil
}

// Stop stops the service and returns when it has ended, also if it had already.
func (h Host) Stop() error {
	if _, _, err := h.show(); err != nil {
		return err
	}
	_, err := systemctl("stop", unitName)
	return err
}

// show returns what systemd knows of the service. failed reports whether the last run
// did not end well.
func (h Host) show() (s State, failed bool, err error) {
	if err := h.booted(); err != nil {
		return State{}, false, err
	}
	text, err := systemctl("show", unitName, "--property="+unitProperties)
	if err != nil {
		return State{}, false, err
	}
	if s, failed = parseUnitState(text); !s.Installed {
		err = ErrNotInstalled
	}
	return s, failed, err
}

// lastError returns what the service has logged as its error since a time, and what
// to type then. Both are empty if there is none.
func lastError(since time.Time) (said, hint string) {
	log, err := system("journalctl", "-u", unitName, "-o", "cat", "--no-pager", "--since", "@"+strconv.FormatInt(since.Unix(), 10))
	if err != nil {
		return "", ""
	}
	return errorInLog(log)
}

// Current returns what the system knows of the service, for every user.
func (h Host) Current() (State, error) {
	s, failed, err := h.show()
	if err != nil && !errors.Is(err, ErrNotInstalled) {
		return State{}, err
	}
	if failed && !s.Running {
		s.Error, s.Hint = lastError(time.Now().Add(-time.Hour))
	}
	return s, nil
}

// unitProperties are those that parseUnitState reads.
const unitProperties = "LoadState,ActiveState,SubState,Result,StatusText,ActiveEnterTimestamp,ExecStart,UnitFileState"

// parseUnitState reads what systemctl show prints of the unit, in UTC. failed reports
// whether the last run did not end well.
func parseUnitState(properties string) (s State, failed bool) {
	values := map[string]string{}
	for line := range strings.Lines(properties) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		values[key] = value
	}
	s.Installed = values["LoadState"] == "loaded"
	s.Running = values["ActiveState"] == "active"
	s.Manual = s.Installed && slices.Contains([]string{"disabled", "masked"}, values["UnitFileState"])
	_, s.Address, _ = strings.Cut(values["StatusText"], "Listening on ")
	_, program, _ := strings.Cut(values["ExecStart"], "path=")
	s.Program, _, _ = strings.Cut(program, " ;")
	if at, err := time.Parse("Mon 2006-01-02 15:04:05 MST", values["ActiveEnterTimestamp"]); err == nil && s.Running {
		s.Since = at
	}
	s.Detail = values["ActiveState"]
	if sub := values["SubState"]; sub != "" && sub != s.Detail {
		s.Detail += " (" + sub + ")"
	}
	if result := values["Result"]; result != "" && result != "success" {
		failed = true
		s.Detail += ", the last run ended with: " + result
	}
	return s, failed
}

// Sysusers is the text for systemd-sysusers that makes the user of the service.
const Sysusers = `u firefighters - "Firefighter Records Service" /var/lib/firefighters
`

// Unit returns the unit of systemd that runs a program as the service. It does
// not change with the settings: what depends on them is in the drop-in.
func Unit(program string) string {
	return strings.ReplaceAll(unitText, "PROGRAM", strings.ReplaceAll(program, "%", "%%"))
}

// unitText is the unit with PROGRAM in the place of the path of the program.
//
//go:embed firefighters.service
var unitText string

// unitWrites are the folders of StateDirectory and ReadWritePaths in the unit.
var unitWrites = []string{"/var/lib/firefighters", "/mnt", "/media", "/run/media", "/srv"}

// unitHides are the folders that the unit hides from the service.
var unitHides = []string{"/home", "/root", "/run/user", "/tmp", "/var/tmp", "/dev", "/proc", "/sys"}

// Hides reports whether the system hides a file or folder from the service, whatever its
// permissions allow.
func (h Host) Hides(name string) bool { return within(strings.TrimPrefix(name, h.Root), unitHides) }

// within reports whether a path is one of the folders or in one.
func within(name string, folders []string) bool {
	name = path.Clean(name)
	return slices.ContainsFunc(folders, func(folder string) bool { return name == folder || strings.HasPrefix(name, folder+"/") })
}

// dropIn returns what the unit needs beside itself to write to some folders and to
// listen on a port. It is empty if it needs nothing. A folder with a control character
// in its name is left out: for systemd more than a line feed ends a line, and what
// follows would be an instruction to root.
func dropIn(writes []string, port int) string {
	var lines strings.Builder
	for _, folder := range writes {
		if !within(folder, unitWrites) && !strings.ContainsFunc(folder, unicode.IsControl) {
			fmt.Fprintf(&lines, "ReadWritePaths=-%s\n", quoted(folder))
		}
	}
	if port > 0 && port < 1024 {
		lines.WriteString("AmbientCapabilities=CAP_NET_BIND_SERVICE\nCapabilityBoundingSet=CAP_NET_BIND_SERVICE\nPrivateUsers=no\n")
	}
	if lines.Len() == 0 {
		return ""
	}
	return "# Made by firefighters service install, from the settings of the service.\n[Service]\n" + lines.String()
}

// quoted writes a path as a word of a unit.
func quoted(name string) string {
	name = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%").Replace(name)
	if strings.ContainsAny(name, " \t'\"\\") {
		return `"` + name + `"`
	}
	return name
}

// isOurs reports whether a unit was made by Unit.
func isOurs(unit string) bool { return strings.Contains(unit, " service run\n") }
