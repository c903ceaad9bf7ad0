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

// Host is a PC with systemd. Prepare, Install, Attach and other methods return ErrUnsupported
// if systemd does not run.
type Host struct{ pc }

// Account is the user that runs the service.
const Account = Name

const (
	unitName     = Name + ".service"
	unitFile     = "/etc/systemd/system/" + unitName
	dropInFile   = unitFile + ".d/settings.conf"
	packagedUnit = "/usr/lib/systemd/system/" + unitName // the unit of the .deb
)

// DataFolder returns the folder of the service's data, whether it exists or not.
func (h Host) DataFolder() string { return h.path("/var/lib/firefighters") }

// InstalledProgram returns where Install expects the program, unless a package installed it.
func (h Host) InstalledProgram() string { return h.path("/usr/local/bin/firefighters") }

// Packaged returns the command or menu that removes the package of a program, or "" if no
// package installed it.
func (h Host) Packaged(program string) string {
	if program != "/usr/bin/firefighters" || !osutil.Exists(h.path(packagedUnit)) {
		return ""
	}
	return "sudo apt remove firefighters"
}

// Installed reports whether the service is installed. It needs no rights and asks no service
// manager. It is false for a unit written by hand.
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

// booted returns ErrUnsupported if systemd does not run, with the test of sd_booted(3).
func (h Host) booted() error {
	if !osutil.Exists(h.path("/run/systemd/system")) {
		return fmt.Errorf("%w: systemd does not run here", ErrUnsupported)
	}
	return nil
}

// own returns ErrForeign if the unit was written by hand, which this program must not replace
// or remove, and ErrUnsupported if systemd does not run.
func (h Host) own() error {
	unit := h.path(unitFile)
	if text, err := os.ReadFile(unit); err == nil && !isOurs(string(text)) {
		return fmt.Errorf("%w: %s", ErrForeign, unit)
	}
	return h.booted()
}

// Firewall returns the name of the firewall of this PC and the command that opens a TCP port in it. Both
// are empty if no firewall is known.
func (h Host) Firewall(port int) (name, command string) {
	text, _ := os.ReadFile(h.path("/etc/ufw/ufw.conf"))
	if slices.Contains(strings.Fields(string(text)), "ENABLED=yes") {
		return "ufw", fmt.Sprintf("sudo ufw allow %d/tcp", port)
	}
	if osutil.Exists(h.path("/sys/fs/cgroup/system.slice/firewalld.service")) { // the unit is active
		return "firewalld", fmt.Sprintf("sudo firewall-cmd --permanent --add-port=%d/tcp && sudo firewall-cmd --reload", port)
	}
	return "", ""
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

func (h Host) addUser() error {
	file := h.path("/etc/sysusers.d/firefighters.conf")
	if _, err := writeOrRemove(file, Sysusers); err != nil {
		return err
	}
	_, err := system("systemd-sysusers", file)
	return err
}

// Install registers the service so that it starts with the PC. It can be repeated.
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
		steps = append(steps, "Updated "+dropInFile+" for the settings.")
	}
	if _, err := systemctl("daemon-reload"); err != nil {
		return steps, err
	}
	if _, err := systemctl("enable", unitName); err != nil {
		return steps, err
	}
	return append(steps, "The service starts with this PC."), nil
}

// writeUnit writes the unit, or removes it if a package provides one.
func (h Host) writeUnit(d Definition) (steps []string, err error) {
	text := Unit(d.Program)
	if h.Packaged(d.Program) != "" {
		text = ""
	}
	changed, err := writeOrRemove(h.path(unitFile), text)
	if changed && text != "" {
		steps = append(steps, "Wrote the unit "+unitFile+".")
	} else if changed {
		steps = append(steps, "Removed the unit "+unitFile+". The package provides one.")
	}
	return steps, err
}

// Uninstall stops the service and removes it from the system. The data and the program remain.
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
		system("udevadm", "control", "--reload") // after an error, the next boot drops the rule
	}
	_, err = systemctl("daemon-reload")
	systemctl("reset-failed", unitName) // fails if there is nothing to reset
	return steps, err
}

// Start restarts the service and returns when it is ready. If the service does not start, the
// error is ErrNotReady with the cause.
func (h Host) Start() error {
	if _, _, err := h.show(); err != nil {
		return err
	}
	began := time.Now()
	if _, err := systemctl("restart", unitName); err != nil { // start would wait out RestartSec after a failure
		cause, _ := lastError(began)
		return fmt.Errorf("%w: %s", ErrNotReady, cmp.Or(cause, err.Error()))
	}
	return nil
}

// Stop stops the service if it runs, and returns when it has ended.
func (h Host) Stop() error {
	if _, _, err := h.show(); err != nil {
		return err
	}
	_, err := systemctl("stop", unitName)
	return err
}

// show returns the state of the unit. failed reports whether the last run ended with an error.
// The error is ErrNotInstalled if there is no unit.
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

func lastError(since time.Time) (found, hint string) {
	log, err := system("journalctl", "-u", unitName, "-o", "cat", "--no-pager", "--since", "@"+strconv.FormatInt(since.Unix(), 10))
	if err != nil {
		return "", ""
	}
	return errorInLog(log)
}

// Current returns the state of the service. It needs no administrator rights.
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

// unitProperties are the properties that parseUnitState reads.
const unitProperties = "LoadState,ActiveState,SubState,Result,StatusText,ActiveEnterTimestamp,ExecStart,UnitFileState"

// parseUnitState parses the output of systemctl show. failed reports whether the last run ended
// with an error.
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

// Sysusers is the sysusers.d(5) file that creates the user of the service.
const Sysusers = `u firefighters - "Firefighter Records Service" /var/lib/firefighters
`

// Unit returns the systemd unit that runs a program as the service. It is the same for all
// settings; the drop-in has the parts that depend on them.
func Unit(program string) string {
	return strings.ReplaceAll(unitText, "PROGRAM", strings.ReplaceAll(program, "%", "%%"))
}

// unitText is the unit, with PROGRAM as a placeholder.
//
//go:embed firefighters.service
var unitText string

// unitWrites are the folders of StateDirectory and ReadWritePaths.
var unitWrites = []string{"/var/lib/firefighters", "/mnt", "/media", "/run/media", "/srv"}

// unitHides are the folders that the unit hides from the service.
var unitHides = []string{"/home", "/root", "/run/user", "/tmp", "/var/tmp", "/dev", "/proc", "/sys"}

// Hides reports whether the service cannot access a file or folder, whatever its permissions.
func (h Host) Hides(name string) bool { return within(strings.TrimPrefix(name, h.Root), unitHides) }

// within reports whether a path is one of the folders or inside one.
func within(name string, folders []string) bool {
	name = path.Clean(name)
	return slices.ContainsFunc(folders, func(folder string) bool { return name == folder || strings.HasPrefix(name, folder+"/") })
}

// dropIn returns the drop-in that lets the service write to folders and listen on a port, or ""
// if it needs none. It skips folders with a control character in the name: such a character can
// end the line for systemd, and the rest would be a directive that root obeys.
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
	return "# Created by firefighters service install from the settings of the service.\n[Service]\n" + lines.String()
}

func quoted(name string) string {
	name = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%").Replace(name)
	if strings.ContainsAny(name, " \t'\"\\") {
		return `"` + name + `"`
	}
	return name
}

// isOurs reports whether Unit created a unit.
func isOurs(unit string) bool { return strings.Contains(unit, " service run\n") }
