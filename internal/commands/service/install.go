package service

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/daemon"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// installFlags returns a command with the flags of install, for parsing, and their options.
func installFlags() (*daemon.Options, *cobra.Command) {
	o, cmd := &daemon.Options{Installed: true}, &cobra.Command{Use: "install"}
	parent := &cobra.Command{Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "firefighters service"}}
	parent.AddCommand(cmd)
	o.AddFlags(cmd)
	return o, cmd
}

func (s Service) installCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "install",
		Short:      "Install the service, update it or change its settings",
		SuggestFor: []string{"setup", "enable", "update", "upgrade", "create"},
		Long: `Install this program as a service that starts with the PC, and start it. Its
database, backups and settings are in a private folder unless --db and
--backup-dir name others.

Run it again to update the program or to change settings; the data is kept. The
flags are the flags of serve, and are saved. They take precedence over Settings
on the page. To reset one, set it to its default, such as --tls-cert "".`,
		Example: `  sudo firefighters service install
  sudo firefighters service install --backup-dir /mnt/usb/firefighters
  sudo firefighters service install --listen 0.0.0.0:8443 --tls-self-signed`,
	}
	o := &daemon.Options{Installed: true}
	o.AddFlags(cmd)
	db, backups := cmd.Flags().Lookup("db"), cmd.Flags().Lookup("backup-dir")
	db.DefValue, db.Usage = "", "database `file` (default: in the folder of the service)"
	backups.Usage = "back up to this `folder` (default: in the folder of the service)"
	cmd.MarkFlagDirname("backup-dir")
	cmd.Flags().Bool(newFlag, false, "create an empty database, even if there are backups of another; not saved")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := o.CheckRecipients(cmd); err != nil {
			return err
		}
		return s.install(cli.EnvOf(cmd), cmd)
	}
	return cmd
}

const newFlag = "new"

type installation struct {
	Service
	env        cli.Env
	cmd        *cobra.Command
	isNew      bool              // create an empty database
	state      managers.State    // before the installation
	flags      managers.Settings // set by the flags of this command
	settings   managers.Settings // all settings, previous and new
	options    daemon.Options    // for settings
	definition managers.Definition
}

// install installs the service with the flags of a command.
func (s Service) install(env cli.Env, cmd *cobra.Command) error {
	in := installation{Service: s, env: env, cmd: cmd}
	in.isNew, _ = cmd.Flags().GetBool(newFlag) // useDisk has no such flag
	err := in.plan(cmd)
	if _, isUsage := errors.AsType[*cli.UsageError](err); !isUsage && !s.Host.Permitted() {
		return managers.ErrNotPermitted
	}
	if err != nil {
		return err
	}
	if err := in.checkPaths(); err != nil {
		return err
	}
	if err := in.do(); err != nil {
		return err
	}
	return in.conclude()
}

// plan reads the current state and checks the flags. It changes nothing.
func (in *installation) plan(cmd *cobra.Command) error {
	state, stateErr := in.Host.Current()
	in.state = state
	old, readErr := managers.ReadSettings(in.data())
	flags, unset, err := settingsOf(cmd)
	if err != nil {
		return err
	}
	in.flags, in.settings = flags, old.Merge(flags, unset...)
	if in.options, err = in.Service.options(in.settings); err != nil {
		return err
	}
	if stateErr != nil || readErr != nil {
		return errors.Join(stateErr, readErr)
	}
	in.definition, err = in.define()
	return err
}

// pathFlags are the flags with a file or folder.
var pathFlags = []string{"db", "backup-dir", "tls-cert", "tls-key"}

// settingsOf returns the settings from the flags of a command, with absolute paths, and the flags that
// are set to their default, which removes their settings.
func settingsOf(cmd *cobra.Command) (changes managers.Settings, unset []string, err error) {
	cmd.Flags().SortFlags = true // so that the settings have a fixed order
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name == newFlag {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		if f.Value.String() == f.DefValue || len(values) == 0 {
			unset = append(unset, f.Name)
			return
		}
		for _, value := range values {
			if value != "" && slices.Contains(pathFlags, f.Name) {
				path, absErr := filepath.Abs(value)
				value, err = path, cmp.Or(err, absErr)
			}
			changes = append(changes, "--"+f.Name+"="+value)
			if strings.ContainsFunc(value, unicode.IsControl) {
				err = cli.UsageErrorf(cmd, "--%s contains a control character", f.Name)
			}
		}
	})
	return changes, unset, err
}

// define returns the definition of the service for its settings.
func (in *installation) define() (d managers.Definition, err error) {
	if d.Program, err = os.Executable(); err != nil {
		return d, err
	}
	d.Program = osutil.Resolve(d.Program)
	if in.Host.Packaged(d.Program) == "" {
		d.Program = in.Host.InstalledProgram()
	}
	d.Data = in.data()
	for _, folder := range []string{filepath.Dir(in.options.DB), in.options.Backups.Dir} {
		if folder != d.Data && filepath.Dir(folder) != d.Data {
			d.Writes = append(d.Writes, folder)
		}
	}
	host, port, err := net.SplitHostPort(in.options.Listen)
	if err != nil {
		return d, err
	}
	d.Port, err = net.LookupPort("tcp", port)
	ip := net.ParseIP(host)
	d.Shared = host != "localhost" && (ip == nil || !ip.IsLoopback())
	return d, err
}

// checkPaths returns an error for files and folders that the service cannot use, and for a database
// with a second path. It changes nothing.
func (in *installation) checkPaths() error {
	if err := backup.RefuseSecondPath(in.options.DB); err != nil {
		return err
	}
	for _, flag := range pathFlags {
		path := in.flags.Get(flag)
		if path != "" && in.Host.Hides(osutil.Resolve(path)) {
			err := fmt.Errorf("--%s: the service cannot see %s, because home and temporary folders are hidden from it", flag, osutil.InQuotes(path))
			return cli.WithHint(err, "a folder below /mnt, /media or /srv, or /etc/firefighters for a certificate")
		}
	}
	if in.flags.Get("tls-cert") == "" && in.flags.Get("tls-key") == "" {
		return nil
	}
	if _, err := tls.LoadX509KeyPair(in.settings.Get("tls-cert"), in.settings.Get("tls-key")); err != nil {
		return fmt.Errorf("--tls-cert and --tls-key: %w", err)
	}
	return nil
}

// refuseEmpty returns an error if the service would create an empty database although there are backups.
func (in *installation) refuseEmpty() error {
	db := osutil.Resolve(in.options.DB)
	isLost := !osutil.Exists(db) && (in.state.Running || savedCopy(db) != "") // see refuseLoss
	if in.isNew || isLost || backup.RefuseBegin(in.Format, in.options.DB, in.options.Backups.Dir) == nil {
		return nil
	}
	if !in.state.Running {
		if err := in.copyProgram(); err != nil { // for the commands of the hint
			return err
		}
	}
	return in.refuseBegin(in.env.Context, in.options, cli.TypedAs(in.definition.Program), cli.CommandLine(in.cmd), in.state.Running)
}

// do installs the service. It checks the files of the flags before it changes a running service.
func (in *installation) do() error {
	steps, err := in.Host.Prepare(in.definition)
	printAll(in.env, steps)
	if err != nil {
		return err
	}
	if err := cmp.Or(in.refuseEmpty(), in.checkFiles()); err != nil { // the folder exists, for a restore
		return err
	}
	if err := in.copyProgram(); err != nil {
		return err
	}
	if err := in.settings.Write(in.data()); err != nil {
		return fmt.Errorf("writing the settings: %w", err)
	}
	steps, err = in.Host.Install(in.definition)
	printAll(in.env, steps)
	if err != nil {
		return err
	}
	if err := in.Host.Stop(); err != nil && in.state.Running {
		return err
	}
	if err := in.endOf(in.state); err != nil {
		return err
	}
	if err := refuseLoss(in.options.DB); err != nil {
		return err
	}
	if in.isNew {
		if err := forgetLoss(osutil.Resolve(in.options.DB)); err != nil {
			return err
		}
	}
	return in.startHost()
}

// checkFiles lets the service write to the folders of the flags, and checks that it can read the files.
// It only warns about files of previous settings. It does not change the permissions of folders in
// previous settings, because the service itself can write the settings.
func (in *installation) checkFiles() error {
	for _, flag := range pathFlags {
		path, isSet := in.settings.Get(flag), in.flags.Get(flag) != ""
		if path == "" {
			continue
		}
		var err error
		switch {
		case flag == "db" && isSet:
			err = folderError(filepath.Dir(path), in.Host.Share(filepath.Dir(path)))
		case flag == "backup-dir" && isSet:
			if err = backup.CheckPlace(path, in.options.DB); err != backup.ErrAway {
				err = folderError(path, in.Host.Share(path))
			}
		case strings.HasPrefix(flag, "tls-"):
			err = fileError(path, in.Host.MayRead(path))
		}
		if err == nil {
			continue
		}
		err = fmt.Errorf("--%s: %w", flag, err)
		if isSet {
			return err
		}
		in.env.Warn(err.Error(), "")
	}
	return nil
}

// folderError explains why the service cannot write to a folder.
func folderError(folder string, err error) error {
	name := osutil.InQuotes(folder)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the folder of %s does not exist", name)
	case errors.Is(err, fs.ErrPermission) && runtime.GOOS != "windows":
		hint := "a folder for the service: " + cli.Quote(filepath.Join(folder, backup.OwnFolder))
		if filepath.Base(folder) == backup.OwnFolder { // never for a folder such as /home
			hint = "if it is from another PC: sudo chown -R " + managers.Account + " " + cli.Quote(folder)
		}
		return cli.WithHint(fmt.Errorf("the service, which runs as the user %s, cannot write to %s", managers.Account, name),
			hint+"\nfor a whole disk: "+cli.AsAdministrator(cli.Typed()+" service backup-disk"))
	}
	return fmt.Errorf("the service cannot write to %s: %w", name, err)
}

// fileError explains why the service cannot read a file.
func fileError(file string, err error) error {
	if err == nil {
		return nil
	}
	failed := fmt.Errorf("the service cannot read %s: %w", osutil.InQuotes(file), err)
	if errors.Is(err, fs.ErrPermission) && runtime.GOOS != "windows" {
		return cli.WithHint(failed, fmt.Sprintf("sudo chgrp %[1]s %[2]s && sudo chmod g+r %[2]s", managers.Account, cli.Quote(file)))
	}
	return failed
}

func (in *installation) copyProgram() error {
	own, err := os.Executable()
	if err != nil {
		return err
	}
	copied, kept, err := managers.CopyProgram(own, in.definition.Program)
	if err != nil {
		return fmt.Errorf("writing the program: %w", err)
	}
	if !copied {
		return nil
	}
	result := "Copied the program to " + in.definition.Program + "."
	if kept != "" {
		result += " The previous one is kept as " + kept + "."
	}
	return in.env.Println(result)
}

// conclude prints where the service runs, its folders and the next commands.
func (in *installation) conclude() error {
	state, err := in.Host.Current()
	if err != nil {
		return err
	}
	applyPage(&in.options)
	program, address, running := cli.TypedAs(in.definition.Program), state.Address, "The service is running"
	if address == "" {
		_, address, _ = in.inspect(in.options.DB)
	}
	if address != "" {
		running += " at " + address
	}
	lines := []string{
		"",
		running,
		"Data:                " + in.data(),
		"Backups:             " + in.options.Backups.Dir,
		"To open the page:    " + asReader(program+" open"),
		"To see its status:   " + program + " service status",
	}
	if in.definition.Shared && in.options.SelfSigned {
		lines = append(lines, "For other computers: "+cli.AsAdministrator(program+" cert"))
	} else if !in.definition.Shared && in.options.PublicURL == "" {
		lines = append(lines, "For other computers: "+onPage+cli.AsAdministrator(program+" service install --listen 0.0.0.0:8443 --tls-self-signed"))
	}
	if err := printAll(in.env, lines); err != nil {
		return err
	}
	in.warn(program)
	return nil
}

// onPage is where an admin changes settings without a terminal. A command follows.
const onPage = "on the page, Access, Settings, or type: "

// warn repeats the warnings of the service, if possible with another hint.
func (in *installation) warn(program string) {
	for _, text := range serviceWarnings(in.options.DB) {
		hint := asReader(program + " service log")
		switch text {
		case daemon.NoTLS:
			hint = cli.AsAdministrator(program + " service install --tls-self-signed")
		case daemon.SameDisk, daemon.SharedBackups(in.options.Backups.Dir):
			hint = cli.AsAdministrator(program + " service backup-disk")
			if in.options.PublicURL == "" {
				hint = onPage + hint
			}
		}
		in.env.Warn(text, hint)
	}
}

// sameDisk reports whether a backup folder, which may be missing, is on the disk of the database.
func sameDisk(backups, db string) bool {
	if !osutil.Exists(backups) {
		backups = filepath.Dir(backups)
	}
	return osutil.SameDisk(backups, filepath.Dir(osutil.Resolve(db)))
}
