// Package managers keeps the program running as a service of the system: of
// systemd, of launchd, or of the service manager of Windows.
package managers

import (
	"cmp"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"time"
)

// pc is what a Host of each system has. The zero Host is this PC.
type pc struct {
	Root string // the folder that all files of the system are below; only systemd and launchd know another than /
	User string // who runs the service, in place of Account
}

// path returns where a file of the system lies.
func (p pc) path(file string) string { return filepath.Join(p.Root, file) }

func (p pc) user() string { return cmp.Or(p.User, Account) }

// A Host is this PC with the service manager that installs, starts and stops the service. (A
// Manager is how the running service talks with the service manager that started it.) Each
// system has a Host with the same methods: in systemd.go (Linux and every other Unix but
// macOS), where they are explained, in launchd.go (macOS) and in host_windows.go. Each also has
// Account, the user of the service, and LogCommand, the command that prints the log of the
// service. Prepare, Install, Uninstall and Attach return what they did, one sentence per step.

// Name is the name of the service and, on Linux, of its user. Windows shows it
// as Firefighters.
const Name = "firefighters"

// Errors of all systems.
var (
	ErrNotInstalled = errors.New("the service is not installed on this PC")
	ErrNotPermitted = errors.New("this needs administrator rights")
	ErrUnsupported  = errors.New("no supported service manager on this system")
	ErrForeign      = errors.New("there is already a service unit that this program did not create")
	ErrNotReady     = errors.New("the service does not start")
)

// Definition is what a system must know of the service.
type Definition struct {
	Program string   // the installed program, as an absolute path
	Data    string   // the folder with the database, the backups and the settings
	Writes  []string // folders outside Data that the service writes to; they may be missing
	Port    int      // of Listen; 0 for none
	Shared  bool     // other machines may reach the port
}

// State is what a system knows of the service.
type State struct {
	Installed, Running bool
	Since              time.Time // when it began to run; zero if it does not run, or if the system does not tell
	Program            string    // the program that the system starts
	Manual             bool      // it does not start with the PC, as far as that is known
	Address            string    // as the service has said it, http://127.0.0.1:8080; may be empty
	Detail             string    // the system's own word, as "failed"; for people
	Error              string    // why it does not run, in the service's own words; may be empty
	Hint               string    // what the service says to type then; may be empty
}

// DatabaseIn is the database in a folder of data, unless the settings say
// otherwise.
func DatabaseIn(data string) string { return filepath.Join(data, "firefighters.db") }

// BackupsIn is the folder of the backups in a folder of data, unless the settings
// say otherwise.
func BackupsIn(data string) string { return filepath.Join(data, "backups") }

// Database returns the database of the service of this PC, as far as the
// current user may know its settings. It is empty if no service is installed.
func (h Host) Database() string {
	if !h.Installed() {
		return ""
	}
	settings, _ := ReadSettings(h.DataFolder())
	if db := settings.Get("db"); db != "" {
		return db
	}
	return DatabaseIn(h.DataFolder())
}

// errorInLog returns the last error in a log that ended the service, and what to type
// then. Both are empty if there is none. Only the entry of such an error has an exit code.
func errorInLog(log string) (found, hint string) {
	for line := range strings.Lines(log) {
		var entry struct {
			Msg, Try string
			ExitCode int
		}
		if json.Unmarshal([]byte(line), &entry) == nil && entry.ExitCode != 0 {
			found = entry.Msg
			hint, _, _ = strings.Cut(entry.Try, "\n")
		}
	}
	return found, hint
}
