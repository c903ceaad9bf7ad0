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

// installFlags returns a command with the flags of install, and the options that they set.
// It is not run.
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
flags are those of serve. They are saved: to reset one, set it to its default,
as --tls-cert "".`,
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
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := o.CheckRecipients(cmd); err != nil {
			return err
		}
		return s.install(cli.EnvOf(cmd), cmd)
	}
	return cmd
}

// installation is what install is about to do.
type installation struct {
	Service
	env        cli.Env
	state      managers.State    // of the service before the installation
	given      managers.Settings // by the flags of this installation
	settings   managers.Settings // those with which the service will run: kept and given
	options    daemon.Options    // by settings
	definition managers.Definition
}

// install installs the service with the flags of a command.
func (s Service) install(env cli.Env, cmd *cobra.Command) error {
	in := installation{Service: s, env: env}
	err := in.plan(cmd)
	if _, wrong := errors.AsType[*cli.UsageError](err); !wrong && !s.Host.Permitted() {
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

// plan reads the current state and returns an error for flags that are wrong. It changes
// nothing.
func (in *installation) plan(cmd *cobra.Command) error {
	state, stateErr := in.Host.Current()
	in.state = state
	old, readErr := managers.ReadSettings(in.data())
	given, unset, err := settingsOf(cmd)
	if err != nil {
		return err
	}
	in.given, in.settings = given, old.Merge(given, unset...)
	if in.options, err = in.Service.options(in.settings); err != nil {
		return err
	}
	if stateErr != nil || readErr != nil {
		return errors.Join(stateErr, readErr)
	}
	in.definition, err = in.define()
	return err
}

// pathFlags are the flags that name a file or folder.
var pathFlags = []string{"db", "backup-dir", "tls-cert", "tls-key"}

// settingsOf returns the settings that were typed as flags, with absolute paths, and the
// flags that were set to their default, which are no longer settings.
func settingsOf(cmd *cobra.Command) (given managers.Settings, unset []string, err error) {
	cmd.Flags().SortFlags = true // so that the settings have a fixed order
	cmd.Flags().Visit(func(f *pflag.Flag) {
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
			given = append(given, "--"+f.Name+"="+value)
			if strings.ContainsFunc(value, unicode.IsControl) {
				err = cli.UsageErrorf(cmd, "--%s contains a control character", f.Name)
			}
		}
	})
	return given, unset, err
}

// define returns what the system must know of the service.
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

// checkPaths returns an error for files and folders of the flags given that the
// service could not use, and for a database with a second path. It changes nothing.
func (in *installation) checkPaths() error {
	if err := backup.RefuseSecondPath(in.options.DB); err != nil {
		return err
	}
	for _, flag := range pathFlags {
		path := in.given.Get(flag)
		if path != "" && in.Host.Hides(osutil.Resolve(path)) {
			err := fmt.Errorf("--%s: the service cannot see %s, as it cannot see home and temporary folders", flag, osutil.InQuotes(path))
			return cli.WithHint(err, "a folder below /mnt, /media or /srv, or for a certificate /etc/firefighters")
		}
	}
	if in.given.Get("tls-cert") == "" && in.given.Get("tls-key") == "" {
		return nil
	}
	if _, err := tls.LoadX509KeyPair(in.settings.Get("tls-cert"), in.settings.Get("tls-key")); err != nil {
		return fmt.Errorf("--tls-cert and --tls-key: %w", err)
	}
	return nil
}

// do installs. It finds problems with the files of the flags before it changes a running
// service.
func (in *installation) do() error {
	steps, err := in.Host.Prepare(in.definition)
	printAll(in.env, steps)
	if err != nil {
		return err
	}
	if err := in.checkFiles(); err != nil {
		return err
	}
	if err := in.copyProgram(); err != nil {
		return fmt.Errorf("writing the program: %w", err)
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
	return in.startHost()
}

// checkFiles lets the service write to the folders of the given flags, and checks that it
// can read the files. It only warns about files that were named before. It opens no folder to
// the service because of the saved settings alone, which the service itself can change.
func (in *installation) checkFiles() error {
	for _, flag := range pathFlags {
		path, isGiven := in.settings.Get(flag), in.given.Get(flag) != ""
		if path == "" {
			continue
		}
		var err error
		switch {
		case flag == "db" && isGiven:
			err = folderError(filepath.Dir(path), in.Host.Share(filepath.Dir(path)))
		case flag == "backup-dir" && isGiven:
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
		if isGiven {
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
		return cli.WithHint(fmt.Errorf("the service, which runs as the user %s, cannot write to %s", managers.Account, name),
			"for a whole disk: "+cli.AsAdministrator(cli.Typed()+" service backup-disk"))
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

// copyProgram copies this program to where the system will start it.
func (in *installation) copyProgram() error {
	own, err := os.Executable()
	if err != nil {
		return err
	}
	copied, kept, err := managers.CopyProgram(own, in.definition.Program)
	if err != nil || !copied {
		return err
	}
	result := "Copied the program to " + in.definition.Program + "."
	if kept != "" {
		result += " The previous one is kept as " + kept + "."
	}
	return in.env.Println(result)
}

// conclude reports where the service is, and what to do next.
func (in *installation) conclude() error {
	state, err := in.Host.Current()
	if err != nil {
		return err
	}
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
		"To see its state:    " + program + " service status",
	}
	if in.definition.Shared && in.options.SelfSigned {
		lines = append(lines, "For other computers: "+cli.AsAdministrator(program+" cert"))
	} else if !in.definition.Shared {
		lines = append(lines, "To let others in:    "+cli.AsAdministrator(program+" service install --listen 0.0.0.0:8443 --tls-self-signed"))
	}
	if err := printAll(in.env, lines); err != nil {
		return err
	}
	in.warn(program)
	return nil
}

// warn warns of unsafe settings.
func (in *installation) warn(program string) {
	db, backups := in.options.DB, in.options.Backups.Dir
	useDisk := cli.AsAdministrator(program + " service backup-disk")
	if in.definition.Shared && !in.options.SelfSigned && in.options.CertFile == "" {
		in.env.Warn("other computers reach the service without TLS: everyone on the network can read and use the records, keys and sign-in links",
			cli.AsAdministrator(program+" service install --tls-self-signed"))
	}
	if osutil.SharedFolder(backups) {
		in.env.Warn("every user of this PC may read or delete the backups in "+cli.Quote(backups), useDisk)
	}
	if err := backup.CheckPlace(backups, db); err != nil {
		in.env.Warn(err.Error(), "")
	} else if sameDisk(backups, db) {
		in.env.Warn("the backups are on the same disk as the database, and would be lost with it", useDisk)
	}
}

// sameDisk reports whether a folder for backups, which may be missing, is on the disk
// of the database.
func sameDisk(backups, db string) bool {
	if !osutil.Exists(backups) {
		backups = filepath.Dir(backups)
	}
	return osutil.SameDisk(backups, filepath.Dir(osutil.Resolve(db)))
}
