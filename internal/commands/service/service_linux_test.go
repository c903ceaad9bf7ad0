package service

import (
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/managers"
)

// pc is a system with systemd below a folder of its own. systemctl and journalctl are
// scripts, which know one service. A test with it cannot run beside others: it sets the
// environment.
type pc struct {
	Service
	said string // the folder of the scripts
}

const systemctl = `#!/bin/sh
cd %[1]q || exit 9
echo "$*" >>asked
if [ -e "$1.fails" ]; then
	if [ "$1" = restart ]; then cp failed state; fi
	cat "$1.fails"
	exit 1
fi
case $1 in
start | restart) cp running state ;;
stop) cp stopped state ;;
enable) case $(cat state) in *not-found*) cp stopped state ;; esac ;;
show) cat state ;;
esac
`

func newPC(t *testing.T) *pc {
	t.Helper()
	me, err := user.Current()
	must(t, err)
	own, err := os.Executable() // in the place of the program that is installed
	must(t, err)
	s, _ := newService(t)
	s.Data, s.Host.User = "", me.Username
	c := &pc{s, t.TempDir()}
	c.write(t, "systemctl", fmt.Sprintf(systemctl, c.said))
	c.write(t, "journalctl", fmt.Sprintf("#!/bin/sh\necho \"$*\"\ncat %q/log\n", c.said))
	c.write(t, "log", "")
	c.write(t, "running", "LoadState=loaded\nActiveState=active\nSubState=running\nResult=success\nStatusText=Listening on http://127.0.0.1:9\nExecStart={ path="+own+" ; }\n")
	c.write(t, "stopped", "LoadState=loaded\nActiveState=inactive\nSubState=dead\nResult=success\nExecStart={ path="+own+" ; }\n")
	c.write(t, "failed", "LoadState=loaded\nActiveState=failed\nSubState=failed\nResult=exit-code\nExecStart={ path="+own+" ; }\n")
	c.write(t, "state", "LoadState=not-found\nActiveState=inactive\n")
	for _, folder := range []string{"run/systemd/system", "var/lib", "usr/local/bin"} {
		must(t, os.MkdirAll(filepath.Join(c.Host.Root, folder), 0o755))
	}
	t.Setenv("PATH", c.said+":"+os.Getenv("PATH"))
	return c
}

// write writes a file beside the scripts.
func (c *pc) write(t *testing.T, name, text string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(c.said, name), []byte(text), 0o700))
}

func (c *pc) forget(t *testing.T, name string) {
	t.Helper()
	must(t, os.Remove(filepath.Join(c.said, name)))
}

// is makes the service be as in one of the files.
func (c *pc) is(t *testing.T, state string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.said, state))
	must(t, err)
	c.write(t, "state", string(text))
}

// changes returns what systemctl was asked to change since the last time.
func (c *pc) changes(t *testing.T) string {
	t.Helper()
	text, _ := os.ReadFile(filepath.Join(c.said, "asked")) // missing if it was asked nothing
	c.write(t, "asked", "")
	var words []string
	for line := range strings.Lines(string(text)) {
		if word := strings.Fields(line)[0]; word != "show" {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// does runs a subcommand that must end with a code, and say some words and not others,
// which begin with "not ".
func (c *pc) does(t *testing.T, line string, code int, words ...string) {
	t.Helper()
	args := strings.Fields(strings.ReplaceAll(line, c.Host.Root, "ROOT")) // whose path may have spaces
	for i, arg := range args {
		args[i] = strings.ReplaceAll(arg, "ROOT", c.Host.Root)
	}
	got, stdout, stderr := runService(t, c.Service, args...)
	quoted := regexp.MustCompile("'(" + regexp.QuoteMeta(os.TempDir()) + "[^']*)'")
	stdout, stderr = quoted.ReplaceAllString(stdout, "$1"), quoted.ReplaceAllString(stderr, "$1")
	for _, word := range words {
		unwanted, not := strings.CutPrefix(word, "not ")
		if strings.Contains(stdout+stderr, unwanted) == not {
			t.Errorf("%s: it says, and it must be %q:\n%s%s", line, word, stdout, stderr)
		}
	}
	if got != code {
		t.Errorf("%s: code %d, not %d:\n%s%s", line, got, code, stdout, stderr)
	}
}

// TestInstall: everything is put in its place and kept the next time, and what is wrong
// is found before anything is changed.
func TestInstall(t *testing.T) {
	c := newPC(t)
	data, program := c.Host.DataFolder(), c.Host.InstalledProgram()
	disk := filepath.Join(c.Host.Root, "disk")
	c.does(t, "install --backup-dir "+disk+"/gone/copies", 1, "does not exist\n", "not Try: ")
	if _, err := os.Stat(managers.SettingsIn(data)); !os.IsNotExist(err) || c.changes(t) != "" {
		t.Errorf("it has changed something: %v", err)
	}
	must(t, os.Mkdir(disk, 0o755))
	c.does(t, "install --listen 127.0.0.1:8090 --backup-dir "+disk+"/copies", 0, "Copied the program to "+program+".", "The service starts with this PC.",
		"The service is running at http://127.0.0.1:9\n", "Data:                "+data+"\n", "Backups:             "+disk+"/copies\n", " open\n", "To let others in:    ",
		"Warning: the backups are on the same disk", "not kept as", "not without TLS")
	if asked := c.changes(t); asked != "daemon-reload enable stop restart" {
		t.Errorf("systemd was asked to %s", asked)
	}
	settings := managers.Settings{"--backup-dir=" + disk + "/copies", "--listen=127.0.0.1:8090"}
	if got, err := managers.ReadSettings(data); err != nil || !slices.Equal(got, settings) {
		t.Errorf("the settings are %q, %v", got, err)
	}
	for path, mode := range map[string]fs.FileMode{data: 0o700 | fs.ModeDir, program: 0o755, disk + "/copies": 0o700 | fs.ModeDir} {
		if info, err := os.Stat(path); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	unit, err := os.ReadFile(filepath.Join(c.Host.Root, "etc/systemd/system/firefighters.service"))
	if err != nil || string(unit) != managers.Unit(program) {
		t.Errorf("the unit is %s, %v", unit, err)
	}
	c.does(t, "install --listen 0.0.0.0:443", 0, "Warning: other computers reach the service without TLS", "not Copied", "not To let others in")
	settings[1] = "--listen=0.0.0.0:443"
	if got, err := managers.ReadSettings(data); err != nil || !slices.Equal(got, settings) {
		t.Errorf("the settings are %q, %v", got, err)
	}
	dropIn, err := os.ReadFile(filepath.Join(c.Host.Root, "etc/systemd/system/firefighters.service.d/settings.conf"))
	if err != nil || !strings.Contains(strings.ReplaceAll(string(dropIn), `"`, ""), disk+"/copies\n") || !strings.Contains(string(dropIn), "CAP_NET_BIND_SERVICE") {
		t.Errorf("the drop-in is %s, %v", dropIn, err)
	}
	c.does(t, "install --tls-self-signed=true", 0, "For other computers: ", "not without TLS", " cert\n")
	must(t, os.RemoveAll(disk)) // it is not connected just now
	c.does(t, "install", 0, "The service is running")
	c.is(t, "stopped")
	c.write(t, "restart.fails", "")
	c.write(t, "log", `{"msg":"port 443 is used by another program","try":"another port","exitCode":1}`)
	c.does(t, "install", 1, "Error: the service does not start: port 443 is used by another program\nTry: another port\n", "not The service is running")
	c.forget(t, "restart.fails")
	must(t, os.Rename(filepath.Join(c.Host.Root, "var"), filepath.Join(c.Host.Root, "kept")))
	c.changes(t)
	c.does(t, "install", 1, "Error: mkdir "+data+": no such file or directory\n", "not The service is running")
	if asked := c.changes(t); asked != "" {
		t.Errorf("without a folder for the data, systemd was asked to %s", asked)
	}
	must(t, os.Rename(filepath.Join(c.Host.Root, "kept"), filepath.Join(c.Host.Root, "var")))
	must(t, os.WriteFile(filepath.Join(data, "service.conf"), []byte("--backup-dir=/x\rExecStartPre=+/y\n"), 0o600))
	c.does(t, "install", 2, "contains a control character", "not The service is running")
	must(t, os.Remove(filepath.Join(data, "service.conf")))
	c.write(t, "enable.fails", "it is masked\n")
	c.does(t, "install", 1, "systemctl enable firefighters.service: it is masked\n")
}

// TestInstallOverLoss: no empty database takes the place of one whose files have gone,
// and how a service that was running has ended is said.
func TestInstallOverLoss(t *testing.T) {
	c := newPC(t)
	c.does(t, "install", 0)
	saved := backup.SavedName(managers.DatabaseIn(c.Host.DataFolder()), time.Now())
	must(t, os.WriteFile(saved, nil, 0o600))
	c.changes(t)
	for _, command := range []string{"install", "start"} {
		c.is(t, "stopped")
		c.does(t, command, 1, "the files of the database were lost", "Its content was saved as "+saved, "firefighters restore "+saved)
	}
	if asked := c.changes(t); strings.Contains(asked, "start") {
		t.Errorf("systemd was asked to %s", asked)
	}
	c.is(t, "running")
	c.write(t, "log", `{"msg":"the files of the database have gone","try":"firefighters restore x --db y","exitCode":1}`)
	c.write(t, "stopped", "LoadState=loaded\nActiveState=failed\nResult=exit-code\n")
	for _, command := range []string{"install", "stop"} {
		c.is(t, "running")
		c.does(t, command, 1, "the service stopped: the files of the database have gone\nTry: "+cli.AsAdministrator("firefighters restore x --db y")+"\n", "not starts with this PC, or by")
	}
}

// TestInstallSecondPath: a database with two names is refused before a running service is
// stopped, and status reports it.
func TestInstallSecondPath(t *testing.T) {
	c := newPC(t)
	db := managers.DatabaseIn(c.Host.DataFolder())
	c.does(t, "install", 0)
	newDatabase(t, Service{Data: c.Host.DataFolder()}, 1, "")
	must(t, os.Link(db, db+"-other"))
	c.changes(t)
	c.does(t, "install", 1, "database \""+db+"\" has another name as well")
	c.does(t, "install --db "+db+"-other", 1, "database \""+db+"-other\" has another name as well")
	if asked := c.changes(t); asked != "" {
		t.Errorf("systemd was asked to %s", asked)
	}
	c.does(t, "status", 0, "the file has another name as well")
	must(t, os.Remove(db+"-other"))
	c.does(t, "status", 0, "not the file has another name as well")
	c.does(t, "install", 0)
}

// TestStartNew: start --new lets a new database be made where one was lost, if it is
// typed, nobody serves that one, and there is none.
func TestStartNew(t *testing.T) {
	c := newPC(t)
	c.does(t, "install", 0)
	db := managers.DatabaseIn(c.Host.DataFolder())
	lose := func() {
		t.Helper()
		must(t, backup.WriteNote(db, backup.NoteLost, map[string]string{"what": "it was deleted"}))
	}
	marked := func(doing string, want bool) {
		t.Helper()
		if got := backup.ReadNote(db, backup.NoteLost, &map[string]any{}); got != want {
			t.Errorf("%s: the loss is noted: %v", doing, got)
		}
	}
	lose()
	c.does(t, "start --new", 1, "Error: the service is already running; nothing was changed\nTry: ", " service stop\n")
	marked("it runs", true)
	c.is(t, "stopped")
	release, err := sqlite.LockDatabase(db)
	must(t, err)
	c.does(t, "start --new", 1, "Error: another firefighters serves the lost database ", "not Try: ")
	must(t, release())
	marked("it is served", true)
	must(t, managers.Settings{"--listen"}.Write(c.Host.DataFolder()))
	c.does(t, "start --new", 2, "--listen")
	marked("the settings are wrong", true)
	must(t, managers.Settings{}.Write(c.Host.DataFolder()))
	must(t, os.WriteFile(db, []byte("damaged"), 0o600))
	c.changes(t)
	c.does(t, "start --new", 0)
	marked("there is a database", false)
	must(t, os.Remove(db))
	lose()
	must(t, os.WriteFile(backup.SavedName(db, time.Now()), nil, 0o600))
	c.is(t, "stopped")
	c.does(t, "start --new", 0, "The service is running.")
	marked("it was typed", false)
	if asked := c.changes(t); asked != "restart restart" {
		t.Errorf("systemd was asked to %s", asked)
	}
}

// TestCommandsOfService: start, stop, status and uninstall, of a service that is there
// and of one that is not.
func TestCommandsOfService(t *testing.T) {
	c := newPC(t)
	for _, command := range []string{"start", "stop", "restart", "log", "status", "uninstall"} {
		c.does(t, command, 1, "Error: the service is not installed on this PC\nTry: ", " service install\n")
	}
	c.does(t, "status --json", 1, `"installed": false`)
	c.does(t, "install", 0)
	c.does(t, "start", 0, "The service is already running. To open its page: ")
	c.does(t, "status", 0, "Service    runs\n", "Address    http://127.0.0.1:9, which does not answer\n", "Data       "+c.Host.DataFolder()+"\n", "Database   "+managers.DatabaseIn(c.Host.DataFolder())+", there is no database\n")
	c.changes(t)
	c.does(t, "stop", 0, "The service has stopped. It starts with this PC, or by: "+cli.AsAdministrator("firefighters service start"))
	c.does(t, "status", 1, "does not run: inactive (dead)\n", "Error: the service does not run\nTry: ", " service start\n")
	c.does(t, "stop", 0, "The service was not running.")
	c.does(t, "start", 0, "The service is running. To open its page: ")
	c.does(t, "restart", 0, "The service is running.")
	if asked := c.changes(t); asked != "stop stop restart stop restart" {
		t.Errorf("systemd was asked to %s", asked)
	}
	c.does(t, "log --follow", 0, "-u firefighters.service -n 50 --no-pager --follow\n")
	c.is(t, "failed")
	c.write(t, "log", `{"msg":"port 8080 is used by another program\u001b[2J","try":"another port","exitCode":1}`)
	c.does(t, "status", 1, "Error: the service does not run: port 8080 is used by another program\\u001b[2J\nTry: another port\n", "not \x1b")
	c.does(t, "status --json", 1, `"error": "port 8080 is used`, `"running": false`)
	if why, hint := c.Fault(); why != "port 8080 is used by another program\x1b[2J" || hint != "another port" {
		t.Errorf("the fault is %q, %q", why, hint)
	}
	c.is(t, "running")
	if why, hint := c.Fault(); why+hint != "" {
		t.Errorf("it runs, and its fault is %q, %q", why, hint)
	}
	for command, state := range map[string]string{"restart": "stopped", "stop": "running", "disable": "running"} {
		c.is(t, state)
		c.write(t, command+".fails", "it is broken\n")
		line := strings.NewReplacer("disable", "uninstall", "restart", "start").Replace(command)
		c.does(t, line, 1, "Error: ", "not The service is running.", "not has stopped.", "not These remain")
		c.forget(t, command+".fails")
	}
	must(t, os.MkdirAll(managers.BackupsIn(c.Host.DataFolder()), 0o700))
	c.does(t, "uninstall", 0, "Stopped the service.", "No data was deleted. These remain:\n  the data      "+c.Host.DataFolder()+"\n", "  the program   ")
	if left, err := os.ReadDir(c.Host.DataFolder()); err != nil || len(left) != 2 {
		t.Errorf("there is %v, %v", left, err)
	}
	must(t, os.RemoveAll(filepath.Join(c.Host.Root, "run")))
	for _, command := range []string{"install", "start", "stop", "restart", "log", "status", "uninstall"} {
		c.does(t, command, 1, "systemd does not run here\nTry: start this program by other means")
	}
}

// TestLogClosed: a reader such as head may close the log, which is no error for the command
// that prints it either.
func TestLogClosed(t *testing.T) {
	t.Parallel()
	signal.Ignore(syscall.SIGPIPE) // as main does
	r, w, err := os.Pipe()
	must(t, err)
	must(t, r.Close())
	defer w.Close()
	var stderr strings.Builder
	env := cli.Env{Context: t.Context(), Stdout: w, Stderr: &stderr}
	if err := printLog(env, []string{"/bin/sh", "-c", "while echo line; do :; done; echo closed >&2; exit 1"}); err != nil || stderr.String() != "" {
		t.Errorf("%v, %q", err, stderr.String())
	}
}

// TestBackupDisk: the disks are listed, one that is chosen is mounted for the service, and
// the first backup is on it before the service has the setting and starts again.
func TestBackupDisk(t *testing.T) {
	c := newPC(t)
	c.write(t, "udevadm", "#!/bin/sh\n")
	c.write(t, "lsblk", `#!/bin/sh
echo '{"blockdevices": [{"name":"/dev/sda","type":"disk","size":500000000000,"model":"SYSTEM","mountpoint":"/"},
{"name":"/dev/sdb","type":"disk","size":16000000000,"model":"Ultra","children":[
{"name":"/dev/sdb1","type":"part","size":15900000000,"fstype":"vfat","label":"STI\\u001bCK","uuid":"1A2B-3C4D","mountpoint":null},
{"name":"/dev/sdb2","type":"part","size":1000,"fstype":"hfsplus","label":null,"uuid":"x","mountpoint":null}]}]}'
`)
	c.does(t, "backup-disk", 0, "  /dev/sdb1       15.9 GB  vfat     STI\\u001bCK  Ultra\n", ": it has no file system for backups", " service backup-disk /dev/sdb1\n", "not /dev/sda")
	c.does(t, "backup-disk /dev/sdb1", 1, "Error: the service is not installed on this PC\n")
	c.does(t, "install", 0)
	newDatabase(t, Service{Data: c.Host.DataFolder()}, 1, "")
	folder := filepath.Join(c.Host.Root, "mnt/backup-disk")
	must(t, os.MkdirAll(folder, 0o755)) // as systemd makes it
	c.changes(t)
	c.does(t, "backup-disk sda", 1, "Error: no disk sda for backups")
	c.does(t, "backup-disk sdb2", 1, "Error: /dev/sdb2 cannot hold backups: it has no file system for backups")
	c.write(t, "start.fails", "Job failed.\n")
	c.does(t, "backup-disk sdb1", 1, "Error: the system cannot mount the disk", "not Try: ", "not The service is running")
	c.forget(t, "start.fails")
	if settings, err := managers.ReadSettings(c.Host.DataFolder()); err != nil || len(settings) > 0 {
		t.Errorf("the settings are %q, %v", settings, err)
	}
	c.changes(t)
	c.does(t, "backup-disk sdb1", 0, "/dev/sdb1 is mounted at /mnt/backup-disk while it is connected", "Created and checked a backup: ", "Backups:             "+folder+"/firefighters\n", "The service is running")
	if asked := c.changes(t); asked != "stop daemon-reload enable start start daemon-reload enable stop restart" {
		t.Errorf("systemd was asked to %s", asked)
	}
	want := managers.Settings{"--backup-dir=" + folder + "/firefighters"}
	if settings, err := managers.ReadSettings(c.Host.DataFolder()); err != nil || !slices.Equal(settings, want) {
		t.Errorf("the settings are %q, %v", settings, err)
	}
	made, err := os.ReadDir(folder + "/firefighters")
	if info, _ := os.Stat(folder + "/firefighters"); err != nil || len(made) != 1 || info.Mode().Perm() != 0o700 {
		t.Errorf("there is %v, %v", made, err)
	}
}
