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
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Program is what the commands are handed.
type Program struct {
	Content backup.Content // what backups must know of the content of a database

	// Daemon serves until the program must stop.
	Daemon func(env cli.Env, o daemon.Options) error

	// Manager has started this process, if any has.
	Manager managers.Manager

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

// Commands returns the table of the commands.
func (p Program) Commands() []cli.Command {
	sub := []cli.Command{
		{Name: "install", Also: "setup enable update upgrade", Summary: "installs the service, updates it or changes its settings", Run: p.install},
		{Name: "run", Summary: "serves, as the system starts it", Run: p.run},
		{Name: "start", Also: "restart", Summary: "starts the service", Run: p.start},
		{Name: "status", Also: "info show", Summary: "says how the service is", Run: p.status},
		{Name: "stop", Also: "halt", Summary: "stops the service until the PC starts again", Run: p.stop},
		{Name: "uninstall", Also: "remove disable", Summary: "removes the service, and leaves the data", Run: p.uninstall},
	}
	return []cli.Command{{Name: "service", Also: "daemon systemd autostart", Summary: "installs the program as a service of this PC", Help: serviceHelp + cli.CommandList(sub), Sub: sub}}
}

func (p Program) data() string { return cmp.Or(p.Data, p.Host.DataFolder()) }

// permitted returns an error that says how to get the rights to change the
// service, if this process does not have them. line is the command without the
// name of the program.
func (p Program) permitted(line string) error {
	if p.Host.Permitted() {
		return nil
	}
	return p.explain(managers.ErrNotPermitted, line)
}

// explain adds to an error about the service what to type next. line is the
// command that has failed, without the name of the program.
func (p Program) explain(err error, line string) error {
	switch {
	case errors.Is(err, managers.ErrNotPermitted):
		return cli.WithHint(err, cli.AsAdministrator(typed()+" "+line))
	case errors.Is(err, managers.ErrNotInstalled):
		return cli.WithHint(errors.New("the service is not installed on this PC"), cli.AsAdministrator(typed()+" service install"))
	case errors.Is(err, managers.ErrUnsupported):
		return cli.WithHint(err, "let your system start this by its own means: firefighters serve --db FILE --backup-dir DIR")
	case errors.Is(err, managers.ErrNotReady):
		state, _ := p.Host.Current() // which only knows better what to type
		return cli.WithHint(err, hintOf(state))
	}
	return err
}

// hintOf returns what to type about a service that does not run as it should. What
// the service itself has said counts only if a shell would make one command of it.
func hintOf(state managers.State) string {
	switch {
	case state.Hint == "", strings.ContainsAny(state.Hint, "&|<>$`\\"), printable(state.Hint) != state.Hint,
		strings.Contains(state.Hint, "firefighters ") && strings.Contains(state.Hint, ";"):
		return "see its log: " + managers.LogCommand()
	case strings.HasPrefix(state.Hint, "firefighters "):
		return cli.AsAdministrator(state.Hint)
	}
	return state.Hint
}

// Fault returns why the installed service does not run and what to type then. Both are
// empty if it runs, or if that is not known.
func (p Program) Fault() (why, hint string) {
	state, err := p.Host.Current()
	if err != nil || state.Running || state.Error == "" {
		return "", ""
	}
	return printable(state.Error), hintOf(state)
}

// printable replaces what a terminal would obey. The service, which this process may
// have more rights than, has written a part of what is said of it.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
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

const startHelp = `Usage: firefighters service start [flags]

Starts the service, and returns when it is ready. If it runs already, nothing
changes.

  firefighters service start

Flags:
`

func (p Program) start(env cli.Env, args []string) error {
	flags := env.Flags("service start", startHelp)
	makeNew := flags.Bool("new", false, "make a new, empty database even where one was lost while it was served")
	state, err := p.before(env, flags, args)
	if err != nil {
		return err
	}
	if state.Running && *makeNew {
		return cli.WithHint(errors.New("the service runs already, so nothing was made"), cli.AsAdministrator(typed()+" service stop")+", and then the same again")
	}
	if state.Running {
		return env.Println("The service runs already.")
	}
	settings, settingsErr := managers.ReadSettings(p.data())
	o, err := p.options(env, settings)
	switch err = cmp.Or(settingsErr, err); {
	case err == nil && *makeNew:
		err = p.forgetLoss(osutil.Resolve(o.DB))
	case err == nil:
		err = refuseLoss(o.DB)
	case !*makeNew:
		err = nil // the start says what is wrong with the settings
	}
	if err != nil {
		return err
	}
	if err := p.Host.Start(); err != nil {
		return p.explain(err, "service start")
	}
	return env.Println("The service runs. How it is: firefighters service status")
}

const stopHelp = `Usage: firefighters service stop

Stops the service, and returns when it has finished. It starts again with the PC
or by "firefighters service start".

  firefighters service stop
`

func (p Program) stop(env cli.Env, args []string) error {
	state, err := p.before(env, env.Flags("service stop", stopHelp), args)
	if err != nil {
		return err
	}
	if err := p.Host.Stop(); err != nil { // also one that is about to start
		return p.explain(err, "service stop")
	}
	said := "The service has stopped."
	if !state.Running {
		said = "The service does not run."
	}
	if err := p.endOf(state); err != nil {
		return err
	}
	return env.Println(said + " It starts with this PC, or by: " + cli.AsAdministrator("firefighters service start"))
}

// endOf returns the error with which a service that ran has ended, as when the files of
// its database had gone.
func (p Program) endOf(before managers.State) error {
	after, err := p.Host.Current()
	if err != nil || !before.Running || after.Error == "" {
		return nil
	}
	return cli.WithHint(fmt.Errorf("the service has stopped: %s", printable(after.Error)), hintOf(after))
}

const uninstallHelp = `Usage: firefighters service uninstall

Stops the service and removes it from the system. The data, the settings and the
backups stay where they are, and so does the program.

  firefighters service uninstall
`

func (p Program) uninstall(env cli.Env, args []string) error {
	state, err := p.before(env, env.Flags("service uninstall", uninstallHelp), args)
	if err != nil {
		return err
	}
	settings, _ := managers.ReadSettings(p.data()) // which only add to what is said
	steps, err := p.Host.Uninstall(managers.Definition{Program: state.Program, Data: p.data()})
	if saidErr := sayAll(env, steps); err != nil || saidErr != nil {
		return p.explain(cmp.Or(err, saidErr), "service uninstall")
	}
	left := []string{"", "Nothing of the data was touched. What is left:"}
	for _, line := range [][2]string{{"the data", p.data()}, {"the database", settings.Get("db")}, {"the backups", settings.Get("backup-dir")}, {"the program", state.Program}} {
		if line[1] != "" && osutil.Exists(line[1]) {
			left = append(left, fmt.Sprintf("  %-12s  %s", line[0], line[1]))
		}
	}
	if program := p.Host.PackagedProgram(); program != "" {
		left = append(left, "", "The package firefighters is installed, and its service does not run.",
			"To start that:           "+cli.AsAdministrator(program+" service install"),
			"To remove it as well:    "+p.Host.Packaged(program))
	} else if how := p.Host.Packaged(state.Program); how != "" {
		left = append(left, "To remove the package as well: "+how)
	}
	return sayAll(env, left)
}

// before parses the arguments of a command that changes an installed service,
// and returns how that is.
func (p Program) before(env cli.Env, flags *pflag.FlagSet, args []string) (managers.State, error) {
	if err := env.Parse(flags, args, 0); err != nil {
		return managers.State{}, err
	}
	state, err := p.Host.Current()
	if err == nil && !state.Installed {
		err = managers.ErrNotInstalled
	}
	if err != nil {
		return state, p.explain(err, flags.Name())
	}
	return state, p.permitted(strings.TrimPrefix(cli.TypedLine(flags, 0), "firefighters "))
}

// absolute makes the paths in a value of a flag absolute. Other flags, and empty
// values, stay as they are.
func absolute(flag, value string) (string, error) {
	switch flag {
	case "db", "backup-dir", "tls-cert", "tls-key":
		if value != "" {
			return filepath.Abs(value)
		}
	}
	return value, nil
}

// linesOf returns the settings that were given as flags, and the flags that were
// given their default, which are no settings any more.
func linesOf(flags *pflag.FlagSet) (given managers.Settings, unset []string, err error) {
	flags.Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		if f.Value.String() == f.DefValue || len(values) == 0 {
			unset = append(unset, f.Name)
			return
		}
		for _, value := range values {
			path, absErr := absolute(f.Name, value)
			err = cmp.Or(err, absErr)
			given = append(given, "--"+f.Name+"="+path)
			if strings.ContainsFunc(path, unicode.IsControl) {
				err = cmp.Or(err, cli.Wrong(flags, "--"+f.Name+" may have no line break and no other control character"))
			}
		}
	})
	return given, unset, err
}
