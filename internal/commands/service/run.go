package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/daemon"
	common "github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// runCommand returns the hidden command that the service manager starts.
func (s Service) runCommand() *cobra.Command {
	return &cobra.Command{
		Use:         "run",
		Short:       "Serve with the settings of the service, as the service manager does",
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
		return s.withHint(env.Context, fmt.Errorf("reading the settings of the service: %w", err), daemon.Options{})
	}
	o, err := s.options(settings)
	if err != nil {
		return fmt.Errorf("in %s: %w", osutil.InQuotes(managers.SettingsIn(s.data())), err)
	}
	return s.withHint(env.Context, s.Daemon(env, o), o)
}

// withHint replaces the hint of an error with a hint for the installed service.
func (s Service) withHint(ctx context.Context, err error, o daemon.Options) error {
	file, isFile := errors.AsType[*fs.PathError](err)
	lost, isLost := errors.AsType[*daemon.LostError](err)
	advice, _ := errors.AsType[common.Advice](err)
	switch {
	case errors.Is(err, sqlite.ErrReadOnly): // other permissions would not help
	case errors.Is(err, sqlite.ErrPermission), isFile && osutil.NotPermitted(file):
		return cli.WithHint(err, cli.AsAdministrator("firefighters service install")+
			", which corrects the permissions, or reports unreadable files")
	case errors.Is(err, sqlite.ErrInUse):
		return cli.WithHint(err, "stop the other firefighters that serves this database; the service then starts automatically")
	case isLost:
		return cli.WithHint(err, lost.Before+cli.AsAdministrator(common.RestoreLine(lost.File, lost.DB), startLine))
	case advice.Restore:
		from, newest := "FILE", backup.NewestValid(ctx, s.Format, o.DB, o.Backups.Dir)
		if newest != nil {
			from = newest.Path
		}
		hint := cli.AsAdministrator(common.RestoreLine(from, o.DB), encrypting(startLine, newest, o))
		switch startNew := cli.AsAdministrator(startLine + " --new"); {
		case errors.Is(err, sqlite.ErrNotBack):
			hint += ", or, to continue without the lost changes: " + startNew
		case errors.Is(err, backup.ErrMissing):
			hint += ", or, to create an empty database: " + startNew
		}
		return cli.WithHint(err, hint)
	}
	return err
}
