package service

import (
	"cmp"
	"fmt"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

const uninstallHelp = `Usage: firefighters service uninstall

Stops the service and removes it from the system. The data, the settings and the
backups stay where they are, and so does the program.

  firefighters service uninstall
`

func (s Service) uninstall(env cli.Env, args []string) error {
	state, err := s.before(env, env.Flags("service uninstall", uninstallHelp), args)
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
	if program := s.Host.PackagedProgram(); program != "" {
		left = append(left, "", "The package firefighters is installed, and its service does not run.",
			"To start that:           "+cli.AsAdministrator(program+" service install"),
			"To remove it as well:    "+s.Host.Packaged(program))
	} else if how := s.Host.Packaged(state.Program); how != "" {
		left = append(left, "To remove the package as well: "+how)
	}
	return sayAll(env, left)
}
