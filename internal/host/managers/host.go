// Package managers installs and runs the program as a system service, under systemd, launchd or
// the Windows service manager.
package managers

import (
	"cmp"
	"encoding/json"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// pc has the fields common to the Host types of all systems. The zero value is this PC.
type pc struct {
	Root string // the root folder of the system, "/" if empty; ignored on Windows
	User string // the user that runs the service, Account if empty
}

func (p pc) path(file string) string { return filepath.Join(p.Root, file) }

func (p pc) user() string { return cmp.Or(p.User, Account) }

// Each system defines a type Host with the same methods, which installs, starts and stops the
// service: systemd.go (Linux and every other Unix except macOS) documents them, launchd.go is for
// macOS, host_windows.go for Windows. Prepare, Install, Uninstall and Attach return one sentence
// for each step they completed.

// Name is the name of the service and, on Linux, of its user. Windows shows it
// as Firefighters.
const Name = "firefighters"

// Errors that the methods of Host return on every system.
var (
	ErrNotInstalled = errors.New("the service is not installed on this PC")
	ErrNotPermitted = errors.New("this needs administrator rights")
	ErrUnsupported  = errors.New("no supported service manager on this system")
	ErrForeign      = errors.New("there is already a service unit that this program did not create")
	ErrNotReady     = errors.New("the service does not start")
)

// Definition describes the service to install.
type Definition struct {
	Program string   // absolute path of the installed program
	Data    string   // the folder with the database, the backups and the settings
	Writes  []string // folders outside Data that the service writes to; they may be missing
	Port    int      // the port of --listen; 0 for none
	Shared  bool     // other machines may reach the port
}

// State is the state of the service, as the system reports it.
type State struct {
	Installed, Running bool
	Since              time.Time // start of the current run; zero if not running or unknown
	Program            string    // path of the program that the system starts
	Manual             bool      // the service does not start with the PC; false if unknown
	Address            string    // http://127.0.0.1:8080, from the service's status; may be empty
	Detail             string    // the system's name of the state, such as "failed"
	Error              string    // the error that ended the service, from its log; may be empty
	Hint               string    // the hint that the log has with Error; may be empty
}

// DatabaseIn returns the default path of the database in a data folder.
func DatabaseIn(data string) string { return filepath.Join(data, "firefighters.db") }

// BackupsIn returns the default folder of the backups in a data folder.
func BackupsIn(data string) string { return filepath.Join(data, "backups") }

// Database returns the path of the installed service's database, or the default path if the
// current user may not read the settings. It is empty if no service is installed.
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

// errorInLog returns the message and the hint of the last log entry with an exit code. The
// service writes such an entry only when an error ends it.
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

// AdminCommand returns the command line that runs this program as an administrator.
func AdminCommand(args ...string) string {
	line := []string{"firefighters"}
	if runtime.GOOS != "windows" {
		line = []string{"sudo", "firefighters"}
	}
	for _, argument := range args {
		line = append(line, osutil.Quote(argument))
	}
	return strings.Join(line, " ")
}

// Disk is a partition, or a disk without partitions, that can have a file system.
type Disk struct {
	Name       string // the system's name: /dev/sdb1, /Volumes/USB, E:\
	Label      string // label of the file system; may be empty
	FileSystem string // type, such as ext4, vfat or NTFS; empty for none
	Bytes      int64  // size; 0 if unknown
	Model      string // model of the whole disk; may be empty
	Unfit      string // the reason why the disk cannot hold backups; empty if it can
	Folder     string // where the service finds the disk; empty if it is not mounted
	Free       int64  // free bytes; 0 if unknown
	id         string // UUID of the file system, on Linux
	mounted    string // current mount point, on Linux; may be empty
}

func (d Disk) withFree() Disk {
	if d.Folder != "" {
		space, _ := osutil.SpaceOf(d.Folder) // fails without the right to open the folder
		d.Free = space.Free
	}
	return d
}

// Errors that Attach returns.
var (
	ErrDiskUsed = errors.New("a program uses the disk")
	ErrMount    = errors.New("the system cannot mount the disk")
)
