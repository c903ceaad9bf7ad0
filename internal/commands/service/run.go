package service

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

const runHelp = `Usage: firefighters service run

Serves with the settings of the service, until it is told to stop. The system
starts it so. To serve by hand there is: firefighters serve

  firefighters service run
`

func (s Service) run(env cli.Env, args []string) error {
	if err := env.Parse(env.Flags("service run", runHelp), args, 0); err != nil {
		return err
	}
	if _, err := os.Stat(s.data()); errors.Is(err, fs.ErrNotExist) {
		return s.explain(managers.ErrNotInstalled, "")
	}
	settings, err := managers.ReadSettings(s.data())
	if err != nil {
		return advise(fmt.Errorf("reading the settings of the service: %w", err))
	}
	o, err := s.options(env, settings)
	if err != nil {
		return fmt.Errorf("in %s: %w", osutil.InQuotes(managers.SettingsIn(s.data())), err)
	}
	return advise(s.Daemon(env, o))
}

// advise adds to an error of the service what to type: commands about the service in
// place of those for somebody who serves by hand.
func advise(err error) error {
	file, isFile := errors.AsType[*fs.PathError](err)
	before, restore, found := strings.Cut(cli.HintOf(err), "firefighters restore ")
	switch {
	case errors.Is(err, sqlite.ErrReadOnly): // another owner would not help
	case errors.Is(err, sqlite.ErrPermission), isFile && osutil.NotPermitted(file):
		return cli.WithHint(err, cli.AsAdministrator("firefighters service install")+", which gives the service its files, or says what it may not read")
	case errors.Is(err, sqlite.ErrInUse):
		return cli.WithHint(err, "end the other firefighters that serves this database; the service then starts by itself")
	case found:
		restore, _, _ = strings.Cut(restore, "; or, ") // the rest is about serve
		hint := before + cli.AsAdministrator("firefighters restore "+restore) + ", and then: " + cli.AsAdministrator("firefighters service start")
		if errors.Is(err, sqlite.ErrNotBack) {
			hint += ", or, to go on without what was lost: " + cli.AsAdministrator("firefighters service start --new")
		}
		return cli.WithHint(err, hint)
	}
	return err
}
