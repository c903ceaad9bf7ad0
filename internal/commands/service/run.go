package service

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unicode"

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

func (p Program) run(env cli.Env, args []string) error {
	if err := env.Parse(env.Flags("service run", runHelp), args, 0); err != nil {
		return err
	}
	if !p.Manager.AwaitTurn(env.Context) {
		return nil
	}
	defer p.Manager.FollowLog()()
	err := p.serve(env)
	if _, wrong := errors.AsType[*cli.UsageError](err); wrong && p.Manager.RestartsAll() {
		cli.PrintError(err, env.Stderr) // wrong settings stay wrong, and this is how it is not started again
		return nil
	}
	return err
}

// serve serves with the settings of the service.
func (p Program) serve(env cli.Env) error {
	if _, err := os.Stat(p.data()); errors.Is(err, fs.ErrNotExist) {
		return p.explain(managers.ErrNotInstalled, "")
	}
	settings, err := managers.ReadSettings(p.data())
	if err != nil {
		return advise(fmt.Errorf("reading the settings of the service: %w", err))
	}
	serving, err := p.serving(env, settings)
	if err != nil {
		return fmt.Errorf("in %s: %w", osutil.InQuotes(managers.SettingsIn(p.data())), err)
	}
	return advise(serving.Run())
}

// advise adds to an error of the service what to type, where its own commands say it
// better than those that serve by hand.
func advise(err error) error {
	file, isFile := errors.AsType[*fs.PathError](err)
	before, restore, found := strings.Cut(cli.HintOf(err), "firefighters restore ")
	switch {
	case errors.Is(err, sqlite.ErrReadOnly): // which is no matter of the owner
	case errors.Is(err, sqlite.ErrPermission), isFile && osutil.NotPermitted(file):
		return cli.WithHint(err, cli.AsAdministrator("firefighters service install")+", which gives the service its files, or says what it may not read")
	case errors.Is(err, sqlite.ErrInUse):
		return cli.WithHint(err, "end the other firefighters that serves this database; the service then starts by itself")
	case found:
		restore, _, _ = strings.Cut(restore, "; or, ") // by hand, with serve
		hint := before + cli.AsAdministrator("firefighters restore "+restore) + ", and then: " + cli.AsAdministrator("firefighters service start")
		if errors.Is(err, sqlite.ErrNotBack) {
			hint += ", or, for a new and empty one: " + cli.AsAdministrator("firefighters service start --new")
		}
		return cli.WithHint(err, hint)
	}
	return err
}

// serving returns what serves with some settings, and with the folders of the
// service where they name no others. The service can write the file of the settings,
// and root makes an instruction for systemd of them, so they have no control character.
func (p Program) serving(env cli.Env, settings managers.Settings) (Serving, error) {
	serving := p.Serve(env, installHelp)
	for _, line := range settings {
		if strings.ContainsFunc(line, unicode.IsControl) {
			return serving, cli.Usage(fmt.Sprintf("the setting %q has a control character in it", line),
				"take that line out of "+cli.Quote(managers.SettingsIn(p.data())))
		}
	}
	for flag, path := range map[string]string{"db": managers.DatabaseIn(p.data()), "backup-dir": managers.BackupsIn(p.data())} {
		if err := serving.Flags.Lookup(flag).Value.Set(path); err != nil {
			return serving, err
		}
	}
	return serving, cmp.Or(env.Parse(serving.Flags, settings, 0), serving.Check())
}

// value returns what a flag is set to.
func (s Serving) value(flag string) string { return s.Flags.Lookup(flag).Value.String() }
