package service

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// runCommand returns the command that the service manager starts.
func (s Service) runCommand() *cobra.Command {
	return &cobra.Command{
		Use:         "run",
		Short:       "Serve with the settings of the service, as the system starts it",
		Example:     "  firefighters service run",
		Hidden:      true,
		Annotations: map[string]string{cli.Server: ""},
		RunE:        func(cmd *cobra.Command, _ []string) error { return s.run(cli.EnvOf(cmd)) },
	}
}

func (s Service) run(env cli.Env) error {
	if _, err := os.Stat(s.data()); errors.Is(err, fs.ErrNotExist) {
		return managers.ErrNotInstalled
	}
	settings, err := managers.ReadSettings(s.data())
	if err != nil {
		return serviceHints(fmt.Errorf("reading the settings of the service: %w", err))
	}
	o, err := s.options(settings)
	if err != nil {
		return fmt.Errorf("in %s: %w", osutil.InQuotes(managers.SettingsIn(s.data())), err)
	}
	return serviceHints(s.Daemon(env, o))
}

// serviceHints replaces the hint of an error for somebody who serves by hand with one
// about the service.
func serviceHints(err error) error {
	file, isFile := errors.AsType[*fs.PathError](err)
	before, restore, found := strings.Cut(cli.HintOf(err), "firefighters restore ")
	switch {
	case errors.Is(err, sqlite.ErrReadOnly): // another owner would not help
	case errors.Is(err, sqlite.ErrPermission), isFile && osutil.NotPermitted(file):
		return cli.WithHint(err, cli.AsAdministrator("firefighters service install")+", which gives the service its files, or reports what it cannot read")
	case errors.Is(err, sqlite.ErrInUse):
		return cli.WithHint(err, "stop the other firefighters that serves this database; the service then starts automatically")
	case found:
		restore, _, _ = strings.Cut(restore, "; or, ") // the rest is about serve
		hint := before + cli.AsAdministrator("firefighters restore "+restore) + ", and then: " + cli.AsAdministrator("firefighters service start")
		if errors.Is(err, sqlite.ErrNotBack) {
			hint += ", or, to continue without what was lost: " + cli.AsAdministrator("firefighters service start --new")
		}
		return cli.WithHint(err, hint)
	}
	return err
}
