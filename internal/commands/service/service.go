// Package service has the commands that install the program as a service of the
// system, and that start, stop and describe it.
package service

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/daemon"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/guard"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Service is the service of a PC, and what its commands are handed.
type Service struct {
	Content backup.Content // what backups must know of the content of a database

	// Daemon serves until the program must stop.
	Daemon func(env cli.Env, o daemon.Options) error

	// Host is the PC that has the service.
	Host managers.Host

	// Data is the folder of the service's data. If it is empty, that is the one of
	// the system.
	Data string
}

const serviceHelp = `Usage: firefighters service [command]

Keeps the program running as a service of this PC, also after a power cut.

  firefighters service install
  firefighters service status

Commands:
`

// Table returns the table of the commands.
func (s Service) Table() []cli.Command {
	sub := []cli.Command{
		{Name: "backup-disk", Also: "disk disks usb stick", Summary: "puts the backups on a disk of their own", Run: s.backupDisk},
		{Name: "install", Also: "setup enable update upgrade", Summary: "installs the service, updates it or changes its settings", Run: s.install},
		{Name: "run", Summary: "serves, as the system starts it", Run: s.run, Logs: true},
		{Name: "start", Also: "restart", Summary: "starts the service", Run: s.start},
		{Name: "status", Also: "info show", Summary: "says how the service is", Run: s.status},
		{Name: "stop", Also: "halt", Summary: "stops the service until the PC starts again", Run: s.stop},
		{Name: "uninstall", Also: "remove disable", Summary: "removes the service, and leaves the data", Run: s.uninstall},
	}
	return []cli.Command{{Name: "service", Also: "daemon systemd autostart", Summary: "installs the program as a service of this PC", Help: serviceHelp + cli.CommandList(sub), Sub: sub}}
}

func (s Service) data() string { return cmp.Or(s.Data, s.Host.DataFolder()) }

// explain adds to an error about the service what to type next. line is the
// command that has failed, without the name of the program.
func (s Service) explain(err error, line string) error {
	switch {
	case errors.Is(err, managers.ErrNotPermitted):
		return cli.WithHint(err, cli.AsAdministrator(typed()+" "+line))
	case errors.Is(err, managers.ErrNotInstalled):
		return cli.WithHint(errors.New("the service is not installed on this PC"), cli.AsAdministrator(typed()+" service install"))
	case errors.Is(err, managers.ErrUnsupported):
		return cli.WithHint(err, "let your system start this by its own means: firefighters serve --db FILE --backup-dir DIR")
	case errors.Is(err, managers.ErrForeign):
		return cli.WithHint(err, "stop it and remove that file, and then the same again")
	case errors.Is(err, managers.ErrNotReady):
		state, _ := s.Host.Current() // without it the hint is to see the log
		return cli.WithHint(err, hintOf(state))
	}
	return err
}

// hintOf returns what to type about a service that does not run as it should. The hint
// of the service itself is taken only if a shell would make one command of it: an
// administrator will type it, and the service has fewer rights.
func hintOf(state managers.State) string {
	switch {
	case state.Hint == "", strings.ContainsAny(state.Hint, "&|<>$`\\"), strings.ContainsFunc(state.Hint, unicode.IsControl),
		strings.Contains(state.Hint, "firefighters ") && strings.Contains(state.Hint, ";"):
		return "see its log: " + managers.LogCommand
	case strings.HasPrefix(state.Hint, "firefighters "):
		return cli.AsAdministrator(state.Hint)
	}
	return state.Hint
}

// Fault returns why the installed service does not run and what to type then. Both are
// empty if it runs, or if that is not known.
func (s Service) Fault() (why, hint string) {
	state, err := s.Host.Current()
	if err != nil || state.Running || state.Error == "" {
		return "", ""
	}
	return state.Error, hintOf(state)
}

// typed returns how the running program is typed: by its name, or with its path if
// the system does not find it.
func typed() string {
	own, err := os.Executable()
	if err != nil {
		return managers.Name
	}
	return typedAs(own)
}

func typedAs(program string) string {
	if found, err := exec.LookPath(managers.Name); err == nil && osutil.SameFile(found, program) {
		return managers.Name
	}
	return cli.Quote(program)
}

// sayAll prints what was done.
func sayAll(env cli.Env, steps []string) error {
	for _, step := range steps {
		if err := env.Println(step); err != nil {
			return err
		}
	}
	return nil
}

// options returns the options of the daemon by some settings, and with the folders of
// the service where they name no others. A control character in them is an error: the
// service can write the file of the settings, and root writes them into a unit of systemd.
func (s Service) options(env cli.Env, settings managers.Settings) (daemon.Options, error) {
	for _, line := range settings {
		if strings.ContainsFunc(line, unicode.IsControl) {
			return daemon.Options{}, cli.Usage(fmt.Sprintf("the setting %q has a control character in it", line),
				"take that line out of "+cli.Quote(managers.SettingsIn(s.data())))
		}
	}
	o, flags := optionsAndFlags(env)
	o.DB, o.Backups.Dir = managers.DatabaseIn(s.data()), managers.BackupsIn(s.data())
	err := env.Parse(flags, settings, 0)
	if err == nil {
		err = o.Check(flags)
	}
	return *o, err
}

// Backups returns where, and how often, the installed service backs a database up. known
// is false if it does not serve that database, or if its settings cannot be read.
func (s Service) Backups(env cli.Env, db string) (of backup.Options, known bool) {
	if !s.Host.Installed() {
		return of, false
	}
	settings, err := managers.ReadSettings(s.data())
	if err != nil {
		return of, false
	}
	o, err := s.options(env, settings)
	return o.Backups, err == nil && osutil.SameFile(osutil.Resolve(o.DB), osutil.Resolve(db))
}

// optionsAndFlags returns the options of the daemon as a service, and the flags of install
// that set them. install only asks the flags which of them were typed.
func optionsAndFlags(env cli.Env) (*daemon.Options, *pflag.FlagSet) {
	o, flags := &daemon.Options{Installed: true}, env.Flags("service install", installHelp)
	o.AddFlags(flags)
	return o, flags
}

// parseAndInspect parses the arguments of a command that changes an installed service,
// and returns the state of the service. The error says why the command cannot go on.
func (s Service) parseAndInspect(env cli.Env, flags *pflag.FlagSet, args []string) (managers.State, error) {
	if err := env.Parse(flags, args, 0); err != nil {
		return managers.State{}, err
	}
	state, err := s.Host.Current()
	if err == nil && !state.Installed {
		err = managers.ErrNotInstalled
	}
	if err == nil && !s.Host.Permitted() {
		err = managers.ErrNotPermitted
	}
	return state, s.explain(err, strings.TrimPrefix(cli.TypedLine(flags, 0), "firefighters "))
}

// endOf returns the error with which a service that ran has ended, as when the files of
// its database had gone.
func (s Service) endOf(before managers.State) error {
	after, err := s.Host.Current()
	if err != nil || !before.Running || after.Error == "" {
		return nil
	}
	return cli.WithHint(fmt.Errorf("the service has stopped: %s", after.Error), hintOf(after))
}

// refuseLoss returns an error if the database was lost, is not back, and a copy of it was saved.
func refuseLoss(db string) error {
	db = osutil.Resolve(db)
	saved := savedCopy(db)
	if saved == "" || osutil.Exists(db) && guard.Refuse(db) == nil {
		return nil
	}
	return cli.WithHint(fmt.Errorf("the files of the database have gone: %s. What was in it is saved as %s", cli.Quote(db), cli.Quote(saved)),
		cli.AsAdministrator(fmt.Sprintf("firefighters restore %s --db %s", cli.Quote(saved), cli.Quote(db))))
}

// savedCopy returns the newest copy that the service has saved when the files of the
// database had gone, empty if there is none.
func savedCopy(db string) (newest string) {
	entries, _ := os.ReadDir(filepath.Dir(db)) // in the order of their names, which have the time
	for _, e := range entries {
		if name := e.Name(); strings.HasPrefix(name, filepath.Base(db)+".saved-") && strings.HasSuffix(name, "Z") {
			newest = filepath.Join(filepath.Dir(db), name)
		}
	}
	return newest
}
