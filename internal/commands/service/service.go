// Package service has the commands that install and control the system service, and the command cert.
package service

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/daemon"
	common "github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/guard"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Service is the service of a PC, with the dependencies of its commands.
type Service struct {
	Format sqlite.Format
	Daemon func(env cli.Env, o daemon.Options) error // serves until the context of env ends
	Host   managers.Host
	Data   string // the data folder; Host.DataFolder if empty
}

// All returns the commands of this package.
func (s Service) All() []*cobra.Command {
	cmd := &cobra.Command{
		Use:        "service",
		Short:      "Install and control the server as a service of this PC",
		GroupID:    cli.GroupServer,
		SuggestFor: []string{"daemon", "systemd", "autostart"},
		Example: `  sudo firefighters service install
  firefighters service status`,
	}
	cmd.AddCommand(s.installCommand(), s.uninstallCommand(), s.startCommand(), s.stopCommand(), s.restartCommand(),
		s.statusCommand(), s.logCommand(), s.backupDiskCommand(), s.runCommand())
	return []*cobra.Command{cmd, certCommand()}
}

// hintOf returns the hint for a service that does not run. It uses the hint in the log of the service
// only if it is a single shell command: an administrator will run it, and the service, which has fewer
// rights, can write anything to its log.
func hintOf(state managers.State) string {
	switch {
	case state.Hint == "", strings.ContainsAny(state.Hint, "&|<>$`\\"), strings.ContainsFunc(state.Hint, unicode.IsControl),
		strings.Contains(state.Hint, "firefighters ") && strings.Contains(state.Hint, ";"):
		return asReader(cli.Typed() + " service log")
	case strings.HasPrefix(state.Hint, "firefighters "):
		return cli.AsAdministrator(state.Hint)
	}
	return state.Hint
}

// asReader is cli.AsAdministrator for a command that on Windows needs no rights or requests them
// itself.
func asReader(line string) string {
	if runtime.GOOS == "windows" {
		return line
	}
	return cli.AsAdministrator(line)
}

// Fault returns the reason why the installed service does not run, and a hint. Both are empty if it
// runs or the reason is unknown.
func (s Service) Fault() (reason, hint string) {
	state, err := s.Host.Current()
	if err != nil || state.Running || state.Error == "" {
		return "", ""
	}
	return state.Error, hintOf(state)
}

func printAll(env cli.Env, lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	return env.Println(strings.Join(lines, "\n"))
}

func (s Service) data() string { return cmp.Or(s.Data, s.Host.DataFolder()) }

// options returns the options of the daemon for settings, by default with the folders of the service.
// A control character is an error: the service can write the settings file, and root copies settings
// to a systemd unit.
func (s Service) options(settings managers.Settings) (daemon.Options, error) {
	for _, line := range settings {
		if strings.ContainsFunc(line, unicode.IsControl) {
			return daemon.Options{}, cli.Usage(fmt.Sprintf("the setting %q contains a control character", line),
				"remove that line from "+cli.Quote(managers.SettingsIn(s.data())))
		}
	}
	o, cmd := installFlags()
	o.DB, o.Backups.Dir = managers.DatabaseIn(s.data()), managers.BackupsIn(s.data())
	if err := cmd.ParseFlags(settings); err != nil {
		return *o, cli.UsageErrorf(cmd, "%v", err)
	}
	switch {
	case cmd.Flags().NArg() > 0:
		return *o, cli.UsageErrorf(cmd, "unexpected argument %q", cmd.Flags().Arg(0))
	case o.DB == "":
		return *o, cli.UsageErrorf(cmd, "--db is empty")
	}
	return *o, o.Check(cmd)
}

// readOptions is options for the saved settings with changes, and with the settings of the page.
func (s Service) readOptions(changes ...string) (daemon.Options, error) {
	settings, err := managers.ReadSettings(s.data())
	if err != nil {
		return daemon.Options{}, err
	}
	o, err := s.options(settings.Merge(changes))
	if err == nil {
		applyPage(&o)
	}
	return o, err
}

// applyPage applies the settings of the page if the database can be read. It returns those that apply,
// as flags.
func applyPage(o *daemon.Options) (flags []string) {
	c, err := sqlite.Peek(osutil.Resolve(o.DB))
	if err != nil {
		return nil
	}
	defer c.Close()
	settings, err := store.ReadSettings(c)
	if err != nil {
		return nil
	}
	before := o.Backups
	network, _ := o.ApplySettings(settings) // the service warns of an error
	if o.Backups.Dir != before.Dir {
		flags = append(flags, "--backup-dir="+o.Backups.Dir)
	}
	if len(o.Backups.EncryptTo) > 0 && len(before.EncryptTo) == 0 {
		flags = append(flags, "--backup-encrypt-to="+strings.Join(settings.Recipients, ","))
	}
	if network {
		flags = append(flags, "--listen=[::]:8443 --tls-self-signed")
	}
	return flags
}

// Backups returns the backup settings of the installed service for a database. known is false if the
// service does not serve the database, or if its settings cannot be read.
func (s Service) Backups(_ cli.Env, db string) (settings backup.Options, known bool) {
	if !s.Host.Installed() {
		return settings, false
	}
	o, err := s.readOptions()
	return o.Backups, err == nil && osutil.SameFile(osutil.Resolve(o.DB), osutil.Resolve(db))
}

// changeable returns the state of the installed service. The error is ErrNotInstalled or
// ErrNotPermitted of package managers if a command cannot change it.
func (s Service) changeable() (managers.State, error) {
	state, err := s.Host.Current()
	switch {
	case err != nil:
		return state, err
	case !state.Installed:
		return state, managers.ErrNotInstalled
	case !s.Host.Permitted():
		return state, managers.ErrNotPermitted
	}
	return state, nil
}

// endOf returns the error that ended a service that was running, for example because the files of its
// database were lost.
func (s Service) endOf(before managers.State) error {
	after, err := s.Host.Current()
	if err != nil || !before.Running || after.Error == "" {
		return nil
	}
	return cli.WithHint(fmt.Errorf("the service stopped: %s", after.Error), hintOf(after))
}

// refuseLoss returns an error if the database was lost and not restored, and a copy of it was saved.
func refuseLoss(db string) error {
	db = osutil.Resolve(db)
	saved := savedCopy(db)
	if saved == "" || osutil.Exists(db) && guard.Refuse(db) == nil {
		return nil
	}
	return cli.WithHint(fmt.Errorf("the files of the database were lost: %s. Its content was saved as %s", cli.Quote(db), cli.Quote(saved)),
		cli.AsAdministrator(fmt.Sprintf("firefighters restore %s --db %s", cli.Quote(saved), cli.Quote(db))))
}

const startLine = "firefighters service start"

// refuseBegin returns the error of backup.RefuseBegin. Its hint has the commands that restore the newest
// backup and then repeat again, or else create an empty database. program replaces the name of the
// program in them.
func (s Service) refuseBegin(ctx context.Context, o daemon.Options, program, again string, isRunning bool) error {
	err := backup.RefuseBegin(s.Format, o.DB, o.Backups.Dir)
	if err == nil {
		return nil
	}
	from, newest := "FILE", backup.NewestValid(ctx, s.Format, o.DB, o.Backups.Dir)
	if newest != nil {
		from = newest.Path
	}
	again = program + strings.TrimPrefix(encrypting(again, newest, o), "firefighters")
	lines := []string{program + strings.TrimPrefix(common.RestoreLine(from, o.DB), "firefighters"), again}
	if isRunning {
		lines = slices.Insert(lines, 0, program+" service stop")
	}
	hint := cli.AsAdministrator(lines...) + "\nto create an empty database: " + cli.AsAdministrator(again+" --"+newFlag)
	return cli.WithHint(common.Schema{Format: s.Format}.Advise(ctx, err, o.DB, o.Backups.Dir), hint)
}

// encrypting returns a command line with the recipients of the newest backup unless the service has some.
func encrypting(line string, newest *backup.File, o daemon.Options) string {
	flag := common.EncryptFlag(newest)
	if flag == "" || len(o.Backups.EncryptTo) > 0 {
		return line
	}
	if line == startLine { // which has no such flag
		line = "firefighters service install"
	}
	return line + flag
}

// savedCopy returns the newest copy that the service saved when database files were lost, or "".
func savedCopy(db string) (newest string) {
	entries, _ := os.ReadDir(filepath.Dir(db)) // sorted by name, which contains the time
	for _, e := range entries {
		if name := e.Name(); strings.HasPrefix(name, filepath.Base(db)+".saved-") && strings.HasSuffix(name, "Z") {
			newest = filepath.Join(filepath.Dir(db), name)
		}
	}
	return newest
}
