package service

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/guard"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

const startHelp = `Usage: firefighters service start [flags]

Starts the service, and returns when it is ready. If it runs already, nothing
changes.

  firefighters service start

Flags:
`

func (s Service) start(env cli.Env, args []string) error {
	flags := env.Flags("service start", startHelp)
	makeNew := flags.Bool("new", false, "start without what was lost while the database was served: with the file there, or with a new and empty one")
	state, err := s.parseAndInspect(env, flags, args)
	if err != nil {
		return err
	}
	if state.Running && *makeNew {
		return cli.WithHint(errors.New("the service runs already, so nothing was made"), cli.AsAdministrator(typed()+" service stop")+", and then the same again")
	}
	if state.Running {
		return env.Println("The service runs already.")
	}
	settings, settingsErr := managers.ReadSettings(s.data())
	o, err := s.options(env, settings)
	switch err = cmp.Or(settingsErr, err); {
	case err == nil && *makeNew:
		err = forgetLoss(osutil.Resolve(o.DB))
	case err == nil:
		err = refuseLoss(o.DB)
	case !*makeNew:
		err = nil // the start says what is wrong with the settings
	}
	if err != nil {
		return err
	}
	if err := s.Host.Start(); err != nil {
		return s.explain(err, "service start")
	}
	return env.Println("The service runs. How it is: firefighters service status")
}

const stopHelp = `Usage: firefighters service stop

Stops the service, and returns when it has finished. It starts again with the PC
or by "firefighters service start".

  firefighters service stop
`

func (s Service) stop(env cli.Env, args []string) error {
	state, err := s.parseAndInspect(env, env.Flags("service stop", stopHelp), args)
	if err != nil {
		return err
	}
	if err := s.Host.Stop(); err != nil { // also one that is about to start
		return s.explain(err, "service stop")
	}
	said := "The service has stopped."
	if !state.Running {
		said = "The service does not run."
	}
	if err := s.endOf(state); err != nil {
		return err
	}
	return env.Println(said + " It starts with this PC, or by: " + cli.AsAdministrator("firefighters service start"))
}

// forgetLoss lets the next start go on without what was lost.
func forgetLoss(db string) error {
	if err := guard.Refuse(db); errors.Is(err, sqlite.ErrLost) {
		return cli.WithHint(err, "end the other firefighters that serves it, and then the same again")
	}
	return guard.Forget(db)
}

const uninstallHelp = `Usage: firefighters service uninstall

Stops the service and removes it from the system. The data, the settings and the
backups stay where they are, and so does the program.

  firefighters service uninstall
`

func (s Service) uninstall(env cli.Env, args []string) error {
	state, err := s.parseAndInspect(env, env.Flags("service uninstall", uninstallHelp), args)
	if err != nil {
		return err
	}
	settings, _ := managers.ReadSettings(s.data()) // which only add to what is said
	steps, err := s.Host.Uninstall(state.Program)
	if saidErr := sayAll(env, steps); err != nil || saidErr != nil {
		return s.explain(cmp.Or(err, saidErr), "service uninstall")
	}
	left := []string{"", "Nothing of the data was touched. What is left:"}
	for _, line := range [][2]string{{"the data", s.data()}, {"the database", settings.Get("db")}, {"the backups", settings.Get("backup-dir")}, {"the program", state.Program}} {
		if line[1] != "" && osutil.Exists(line[1]) {
			left = append(left, fmt.Sprintf("  %-12s  %s", line[0], line[1]))
		}
	}
	if how := s.Host.Packaged(state.Program); how != "" {
		left = append(left, "To remove the package as well: "+how)
	}
	return sayAll(env, left)
}
