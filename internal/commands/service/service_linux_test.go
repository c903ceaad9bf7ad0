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
	"github.com/firefighter-records/firefighters/internal/commands/daemon"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// pc is a system with systemd in a temporary folder. Its systemctl and journalctl are scripts that
// simulate one service. newPC sets PATH, so its tests cannot be parallel.
type pc struct {
	Service
	scripts string // the folder of the scripts
}

const systemctl = `#!/bin/sh
cd %[1]q || exit 9
echo "$*" >>calls
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
	own, err := os.Executable() // stands for the installed program
	must(t, err)
	s, _ := newService(t)
	s.Data, s.Host.User = "", me.Username
	c := &pc{s, t.TempDir()}
	c.write(t, "systemctl", fmt.Sprintf(systemctl, c.scripts))
	c.write(t, "journalctl", fmt.Sprintf("#!/bin/sh\necho \"$*\"\ncat %q/log\n", c.scripts))
	c.write(t, "log", "")
	c.write(t, "running", "LoadState=loaded\nActiveState=active\nSubState=running\nResult=success\nStatusText=Listening on http://127.0.0.1:9\nExecStart={ path="+own+" ; }\n")
	c.write(t, "stopped", "LoadState=loaded\nActiveState=inactive\nSubState=dead\nResult=success\nExecStart={ path="+own+" ; }\n")
	c.write(t, "failed", "LoadState=loaded\nActiveState=failed\nSubState=failed\nResult=exit-code\nExecStart={ path="+own+" ; }\n")
	c.write(t, "state", "LoadState=not-found\nActiveState=inactive\n")
	for _, folder := range []string{"run/systemd/system", "var/lib", "usr/local/bin"} {
		must(t, os.MkdirAll(filepath.Join(c.Host.Root, folder), 0o755))
	}
	t.Setenv("PATH", c.scripts+":"+os.Getenv("PATH"))
	return c
}

// write writes a file next to the scripts.
func (c *pc) write(t *testing.T, name, text string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(c.scripts, name), []byte(text), 0o700))
}

func (c *pc) forget(t *testing.T, name string) {
	t.Helper()
	must(t, os.Remove(filepath.Join(c.scripts, name)))
}

// set sets the state of the service to the content of a file.
func (c *pc) set(t *testing.T, state string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.scripts, state))
	must(t, err)
	c.write(t, "state", string(text))
}

// changes returns the subcommands of systemctl since the last call, without show.
func (c *pc) changes(t *testing.T) string {
	t.Helper()
	text, _ := os.ReadFile(filepath.Join(c.scripts, "calls")) // missing without calls
	c.write(t, "calls", "")
	var words []string
	for line := range strings.Lines(string(text)) {
		if word := strings.Fields(line)[0]; word != "show" {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// does runs a subcommand and checks its exit code and output. The output must contain each of words,
// and must not contain a word with the prefix "not ".
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
			t.Errorf("%s: want %q in the output:\n%s%s", line, word, stdout, stderr)
		}
	}
	if got != code {
		t.Errorf("%s: code %d, want %d:\n%s%s", line, got, code, stdout, stderr)
	}
}

// TestInstall checks installed files and settings, that a second installation keeps them, and that
// problems are found before a change.
func TestInstall(t *testing.T) {
	c := newPC(t)
	data, program := c.Host.DataFolder(), c.Host.InstalledProgram()
	disk := filepath.Join(c.Host.Root, "disk")
	c.does(t, "install --backup-dir "+disk+"/gone/copies", 1, "does not exist\n", "not Try: ")
	if _, err := os.Stat(managers.SettingsIn(data)); !os.IsNotExist(err) || c.changes(t) != "" {
		t.Errorf("a rejected installation changed something: %v", err)
	}
	must(t, os.Mkdir(disk, 0o755))
	must(t, backup.WriteNote(managers.DatabaseIn(data), backup.NoteWarnings, []string{daemon.SameDisk}))
	c.does(t, "install --listen 127.0.0.1:8090 --backup-dir "+disk+"/copies", 0, "Copied the program to "+program+".", "The service starts with this PC.",
		"The service is running at http://127.0.0.1:9\n", "Data:                "+data+"\n", "Backups:             "+disk+"/copies\n", " open\n",
		"For other computers: on the page, Access, Settings, or type: ", "Warning: the backups are on the same disk",
		"Try: on the page, Access, Settings, or type: ", " service backup-disk\n", "not kept as", "not without TLS")
	if calls := c.changes(t); calls != "daemon-reload enable stop restart" {
		t.Errorf("systemctl was called with %s", calls)
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
	must(t, backup.WriteNote(managers.DatabaseIn(data), backup.NoteWarnings, []string{"the cellar is wet", daemon.NoTLS}))
	c.does(t, "install --listen 0.0.0.0:443", 0, "Warning: the cellar is wet\nTry: ", " service log\n",
		"Warning: other computers reach the service without TLS", " service install --tls-self-signed\n", "not Copied", "not For other computers")
	must(t, backup.RemoveNotes(managers.DatabaseIn(data)))
	settings[1] = "--listen=0.0.0.0:443"
	if got, err := managers.ReadSettings(data); err != nil || !slices.Equal(got, settings) {
		t.Errorf("the settings are %q, %v", got, err)
	}
	dropIn, err := os.ReadFile(filepath.Join(c.Host.Root, "etc/systemd/system/firefighters.service.d/settings.conf"))
	if err != nil || !strings.Contains(strings.ReplaceAll(string(dropIn), `"`, ""), disk+"/copies\n") || !strings.Contains(string(dropIn), "CAP_NET_BIND_SERVICE") {
		t.Errorf("the drop-in is %s, %v", dropIn, err)
	}
	c.does(t, "install --tls-self-signed=true", 0, "For other computers: ", "not without TLS", " cert\n")
	must(t, os.RemoveAll(disk)) // a disconnected disk
	c.does(t, "install", 0, "The service is running")
	c.set(t, "stopped")
	c.write(t, "restart.fails", "")
	c.write(t, "log", `{"msg":"port 443 is used by another program","try":"another port","exitCode":1}`)
	c.does(t, "install", 1, "Error: the service does not start: port 443 is used by another program\nTry: another port\n", "not The service is running")
	c.forget(t, "restart.fails")
	must(t, os.Rename(filepath.Join(c.Host.Root, "var"), filepath.Join(c.Host.Root, "kept")))
	c.changes(t)
	c.does(t, "install", 1, "Error: mkdir "+data+": no such file or directory\n", "not The service is running")
	if calls := c.changes(t); calls != "" {
		t.Errorf("without a data folder, systemctl was called with %s", calls)
	}
	must(t, os.Rename(filepath.Join(c.Host.Root, "kept"), filepath.Join(c.Host.Root, "var")))
	must(t, os.WriteFile(filepath.Join(data, "service.conf"), []byte("--backup-dir=/x\rExecStartPre=+/y\n"), 0o600))
	c.does(t, "install", 2, "contains a control character", "not The service is running")
	must(t, os.Remove(filepath.Join(data, "service.conf")))
	c.write(t, "enable.fails", "it is masked\n")
	c.does(t, "install", 1, "systemctl enable firefighters.service: it is masked\n")
}

// TestInstallOverLoss checks that no empty database replaces a lost one, and that the error of a
// service that ended is reported.
func TestInstallOverLoss(t *testing.T) {
	c := newPC(t)
	c.does(t, "install", 0)
	saved := backup.SavedName(managers.DatabaseIn(c.Host.DataFolder()), time.Now())
	must(t, os.WriteFile(saved, nil, 0o600))
	c.changes(t)
	for _, command := range []string{"install", "start"} {
		c.set(t, "stopped")
		c.does(t, command, 1, "the files of the database were lost", "Its content was saved as "+saved, "firefighters restore "+saved)
	}
	if calls := c.changes(t); strings.Contains(calls, "start") {
		t.Errorf("systemctl was called with %s", calls)
	}
	c.set(t, "running")
	c.write(t, "log", `{"msg":"the files of the database have gone","try":"firefighters restore x --db y","exitCode":1}`)
	c.write(t, "stopped", "LoadState=loaded\nActiveState=failed\nResult=exit-code\n")
	for _, command := range []string{"install", "stop"} {
		c.set(t, "running")
		c.does(t, command, 1, "the service stopped: the files of the database have gone\nTry: "+cli.AsAdministrator("firefighters restore x --db y")+"\n", "not starts with this PC, or with")
	}
}

// TestInstallSecondPath checks that a database with two names is rejected before a running service is
// stopped, and that status reports it.
func TestInstallSecondPath(t *testing.T) {
	c := newPC(t)
	db := managers.DatabaseIn(c.Host.DataFolder())
	c.does(t, "install", 0)
	newDatabase(t, Service{Data: c.Host.DataFolder()}, 1, "")
	must(t, os.Link(db, db+"-other"))
	c.changes(t)
	c.does(t, "install", 1, "database \""+db+"\" also has another name")
	c.does(t, "install --db "+db+"-other", 1, "database \""+db+"-other\" also has another name")
	if calls := c.changes(t); calls != "" {
		t.Errorf("systemctl was called with %s", calls)
	}
	c.does(t, "status", 0, "the file also has another name")
	must(t, os.Remove(db+"-other"))
	c.does(t, "status", 0, "not the file also has another name")
	c.does(t, "install", 0)
}

// TestStartNew checks that start --new replaces a lost database, unless the database is served or the
// settings are invalid.
func TestStartNew(t *testing.T) {
	c := newPC(t)
	c.does(t, "install", 0)
	db := managers.DatabaseIn(c.Host.DataFolder())
	lose := func() {
		t.Helper()
		must(t, backup.WriteNote(db, backup.NoteLost, map[string]string{"what": "it was deleted"}))
	}
	marked := func(state string, want bool) {
		t.Helper()
		if got := backup.ReadNote(db, backup.NoteLost, &map[string]any{}); got != want {
			t.Errorf("%s: the loss is noted: %v", state, got)
		}
	}
	lose()
	c.does(t, "start --new", 1, "Error: the service is already running; nothing was changed\nTry: ", " service stop\n")
	marked("running", true)
	c.set(t, "stopped")
	release, err := sqlite.LockDatabase(db)
	must(t, err)
	c.does(t, "start --new", 1, "Error: another firefighters serves the lost database ", "not Try: ")
	must(t, release())
	marked("served by another program", true)
	must(t, managers.Settings{"--listen"}.Write(c.Host.DataFolder()))
	c.does(t, "start --new", 2, "--listen")
	marked("invalid settings", true)
	must(t, managers.Settings{}.Write(c.Host.DataFolder()))
	must(t, os.WriteFile(db, []byte("damaged"), 0o600))
	c.changes(t)
	c.does(t, "start --new", 0)
	marked("existing database", false)
	must(t, os.Remove(db))
	lose()
	must(t, os.WriteFile(backup.SavedName(db, time.Now()), nil, 0o600))
	c.set(t, "stopped")
	c.does(t, "start --new", 0, "The service is running.")
	marked("missing database", false)
	if calls := c.changes(t); calls != "restart restart" {
		t.Errorf("systemctl was called with %s", calls)
	}
}

// TestCommandsOfService checks start, stop, status, log and uninstall, with and without a service.
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
	c.does(t, "stop", 0, "The service has stopped. It starts with this PC, or with: "+cli.AsAdministrator("firefighters service start"))
	c.does(t, "status", 1, "does not run: inactive (dead)\n", "Error: the service does not run\nTry: ", " service start\n")
	c.does(t, "stop", 0, "The service was not running.")
	c.does(t, "start", 0, "The service is running. To open its page: ")
	c.does(t, "restart", 0, "The service is running.")
	if calls := c.changes(t); calls != "stop stop restart stop restart" {
		t.Errorf("systemctl was called with %s", calls)
	}
	c.does(t, "log --follow", 0, "-u firefighters.service -n 50 --no-pager --follow\n")
	c.set(t, "failed")
	c.write(t, "log", `{"msg":"port 8080 is used by another program\u001b[2J","try":"another port","exitCode":1}`)
	c.does(t, "status", 1, "Error: the service does not run: port 8080 is used by another program\\u001b[2J\nTry: another port\n", "not \x1b")
	c.does(t, "status --json", 1, `"error": "port 8080 is used`, `"running": false`)
	if reason, hint := c.Fault(); reason != "port 8080 is used by another program\x1b[2J" || hint != "another port" {
		t.Errorf("Fault() = %q, %q", reason, hint)
	}
	c.set(t, "running")
	if reason, hint := c.Fault(); reason+hint != "" {
		t.Errorf("running: Fault() = %q, %q", reason, hint)
	}
	for command, state := range map[string]string{"restart": "stopped", "stop": "running", "disable": "running"} {
		c.set(t, state)
		c.write(t, command+".fails", "it is broken\n")
		line := strings.NewReplacer("disable", "uninstall", "restart", "start").Replace(command)
		c.does(t, line, 1, "Error: ", "not The service is running.", "not has stopped.", "not These remain")
		c.forget(t, command+".fails")
	}
	must(t, os.MkdirAll(managers.BackupsIn(c.Host.DataFolder()), 0o700))
	c.does(t, "uninstall", 0, "Stopped the service.", "No data was deleted. These remain:\n  the data      "+c.Host.DataFolder()+"\n", "  the program   ")
	if left, err := os.ReadDir(c.Host.DataFolder()); err != nil || len(left) != 2 {
		t.Errorf("the folder contains %v, %v", left, err)
	}
	must(t, os.RemoveAll(filepath.Join(c.Host.Root, "run")))
	for _, command := range []string{"install", "start", "stop", "restart", "log", "status", "uninstall"} {
		c.does(t, command, 1, "systemd does not run here\nTry: start this program by other means")
	}
}

// TestLogClosed checks that a reader such as head can close the log without an error message.
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

// TestBackupDisk checks that disks are listed, that a chosen disk is mounted, and that the first backup
// is created before the settings change.
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
	must(t, os.MkdirAll(folder, 0o755)) // as systemd creates it
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
	c.does(t, "backup-disk sdb1", 0, "systemd mounts /dev/sdb1 at /mnt/backup-disk when the service needs it.", "Created and checked a backup: ", "Backups:             "+folder+"/firefighters\n", "The service is running")
	if calls := c.changes(t); calls != "stop daemon-reload enable start start daemon-reload enable stop restart" {
		t.Errorf("systemctl was called with %s", calls)
	}
	want := managers.Settings{"--backup-dir=" + folder + "/firefighters"}
	if settings, err := managers.ReadSettings(c.Host.DataFolder()); err != nil || !slices.Equal(settings, want) {
		t.Errorf("the settings are %q, %v", settings, err)
	}
	saved, err := os.ReadDir(folder + "/firefighters")
	if info, _ := os.Stat(folder + "/firefighters"); err != nil || len(saved) != 1 || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder contains %v, %v", saved, err)
	}
}

// TestInstallOverBackups checks that install, start and backup-disk begin no empty database where there
// are backups, and that a new PC writes none of its own among them, unless --new is used.
func TestInstallOverBackups(t *testing.T) {
	c := newPC(t)
	data, sudo := c.Host.DataFolder(), cli.AsAdministrator
	db, stick := managers.DatabaseIn(data), filepath.Join(c.Host.Root, "stick")
	old := newDatabase(t, Service{Data: t.TempDir()}, 1, "")
	opened, err := store.Open(old, time.Now)
	must(t, err)
	must(t, opened.AddDepartments([]store.Department{{Name: "A"}}))
	must(t, opened.Close())
	must(t, os.Mkdir(stick, 0o700))
	backUpTo := filepath.Join(stick, "firefighters-20261120T093000Z.db")
	_, err = backup.Job{Format: format(t), Source: old, Target: backUpTo}.Run(t.Context())
	must(t, err)

	restore, install, program := " restore "+backUpTo+" --db "+db, " service install --backup-dir "+stick, c.Host.InstalledProgram()
	c.does(t, "install --backup-dir "+stick, 1, "there is no database", "Copied the program",
		"Try: "+sudo(program+restore)+", and then: "+sudo(program+install)+"\n",
		"Try: to create an empty database: "+sudo(program+install)+" --new\n")
	if osutil.Exists(managers.SettingsIn(data)) || !osutil.Exists(data) || c.changes(t) != "" {
		t.Error("a rejected installation changed something")
	}
	c.does(t, "install --new --backup-dir "+stick, 0)
	if !backup.ReadNote(db, backup.NoteNew, new(bool)) {
		t.Error("the service may not create an empty database")
	}
	if settings, err := managers.ReadSettings(data); err != nil || slices.Contains(settings, "--new=true") {
		t.Errorf("settings %q, %v", settings, err)
	}
	must(t, backup.RemoveNotes(db))
	c.set(t, "stopped")
	c.does(t, "start", 1, "there is no database", "Try: to create an empty database: "+sudo("firefighters service start --new")+"\n")
	c.does(t, "start --new", 0)
	must(t, backup.RemoveNotes(db))

	newDatabase(t, Service{Data: data}, 1, "")
	opened, err = store.Open(db, time.Now)
	must(t, err)
	must(t, opened.AddDepartments([]store.Department{{Name: store.FirstDepartment}}))
	must(t, opened.Close())
	c.set(t, "running")
	c.does(t, "install --backup-dir "+stick, 1, "is empty, but there are backups", "not Copied",
		"Try: "+sudo(program+" service stop")+", and then: "+sudo(program+restore)+", and then: "+sudo(program+install)+"\n")
	c.set(t, "stopped")
	c.does(t, "start", 1, "is empty, but there are backups")
	c.does(t, "install --new --backup-dir "+stick, 0)
	if !backup.ReadNote(db, backup.NoteNew, new(bool)) {
		t.Error("the service may not use the empty database")
	}

	_, recipient, err := backup.NewKey()
	must(t, err)
	recipients, err := backup.ParseRecipients([]string{recipient})
	must(t, err)
	target := filepath.Join(stick, "firefighters-20261121T093000Z.db.age")
	_, err = backup.Job{Format: format(t), Source: old, Target: target, EncryptTo: recipients}.Run(t.Context())
	must(t, err)
	encrypt := " --backup-encrypt-to " + recipient
	c.does(t, "install --backup-dir "+stick, 1, ".db.age --identity KEYFILE --db ",
		", and then: "+sudo(program+install+encrypt)+"\n", install+encrypt+" --new\n")
	must(t, backup.RemoveNotes(db))
	c.set(t, "stopped")
	c.does(t, "start", 1, ", and then: "+sudo("firefighters service install"+encrypt)+"\n",
		sudo("firefighters service install"+encrypt+" --new\n"))
}
