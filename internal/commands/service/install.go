package service

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/daemon"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

const installHelp = `Usage: firefighters service install [flags]

Installs this program as a service, which starts with the PC, and starts it. The
service has a folder of its own for the database, the backups and the settings,
which nobody else can read. To sign in: firefighters open

  firefighters service install
  firefighters service install --backup-dir /mnt/usb/firefighters
  firefighters service install --listen 0.0.0.0:8443 --tls-cert cert.pem --tls-key key.pem

Again, it updates the program, keeps the data, and restarts the service. The
flags are those of serve. They are kept as settings until they are given again;
a flag with its default, or with no value as --tls-cert "", is taken back. The
database and the backups are in the folder of the service unless --db and
--backup-dir name others.

Flags:
`

// installation is what install is about to do.
type installation struct {
	Service
	env        cli.Env
	state      managers.State    // before
	given      managers.Settings // by the flags of this installation
	trusted    managers.Settings // those that an administrator has written
	settings   managers.Settings // all
	options    daemon.Options    // by the settings
	definition managers.Definition
}

func (s Service) install(env cli.Env, args []string) error {
	_, given := newOptions(env)
	if err := env.Parse(given, args, 0); err != nil {
		return err
	}
	in := installation{Service: s, env: env}
	line := strings.TrimPrefix(cli.TypedLine(given, 0), "firefighters ")
	err := in.plan(given)
	if _, wrong := errors.AsType[*cli.UsageError](err); !wrong {
		err = cmp.Or(s.permitted(line), err)
	}
	if err != nil {
		return s.explain(err, line)
	}
	if err = in.checkPaths(); err == nil {
		err = in.do()
	}
	if err != nil {
		return s.explain(err, line)
	}
	return in.conclude()
}

// plan reads how everything is, and returns an error for flags that cannot be.
// It changes nothing.
func (in *installation) plan(given *pflag.FlagSet) (err error) {
	state, stateErr := in.Host.Current()
	if errors.Is(stateErr, managers.ErrNotInstalled) {
		stateErr = nil
	}
	in.state = state
	old, readErr := managers.ReadSettings(in.data())
	if old == nil && readErr == nil {
		old = in.former()
		in.trusted = old
	}
	lines, unset, err := linesOf(given)
	if err != nil {
		return err
	}
	in.given, in.trusted, in.settings = lines, in.trusted.Merge(lines), old.Merge(lines, unset...)
	if in.options, err = in.Service.options(in.env, in.settings); err != nil {
		return err
	}
	in.definition, err = in.define()
	return cmp.Or(stateErr, readErr, err)
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

// former returns the settings in a definition of the service that somebody has
// written by hand. Flags that serve does not take are left out with all others.
func (in *installation) former() managers.Settings {
	_, flags := newOptions(in.env)
	if in.state.Former == nil || in.env.Parse(flags, in.state.Former, 0) != nil {
		return nil
	}
	lines, _, err := linesOf(flags)
	if err != nil {
		return nil
	}
	lines = slices.DeleteFunc(lines, func(line string) bool { return line == "--db="+managers.DatabaseIn(in.data()) })
	if len(lines) > 0 {
		in.env.Notef("The flags of the unit that was there are kept as settings: %s", strings.Join(lines, " "))
	}
	return lines
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

// do installs. What can be wrong with the files of the flags it finds out before
// it changes a running service.
func (in *installation) do() error {
	steps, err := in.Host.Prepare(in.definition)
	if err := cmp.Or(err, sayAll(in.env, steps)); err != nil {
		return err
	}
	if err := in.checkFiles(); err != nil {
		return err
	}
	if err := in.copyProgram(); err != nil {
		return notWritten("the program", err)
	}
	if err := in.settings.Write(in.data()); err != nil {
		return notWritten("the settings", err)
	}
	steps, err = in.Host.Install(in.definition)
	if err := cmp.Or(err, sayAll(in.env, steps)); err != nil {
		return err
	}
	if err := in.Host.Stop(); err != nil && in.state.Running {
		return err
	}
	if err := cmp.Or(in.endOf(in.state), refuseLoss(in.options.DB)); err != nil {
		return err
	}
	return in.Host.Start()
}

// notWritten is about a file of the installation.
func notWritten(what string, err error) error {
	if osutil.DiskFull(err) {
		return cli.WithHint(fmt.Errorf("%s could not be written: the disk is full", what), "make room on it, and then the same again")
	}
	return fmt.Errorf("%s could not be written: %w", what, err)
}

// copyProgram puts this program where the system will start it.
func (in *installation) copyProgram() error {
	own, err := os.Executable()
	if err != nil {
		return err
	}
	before, _ := os.Stat(in.definition.Program) // which may be missing
	kept, err := managers.CopyProgram(own, in.definition.Program)
	if after, statErr := os.Stat(in.definition.Program); err != nil || statErr != nil || before != nil && os.SameFile(before, after) {
		return cmp.Or(err, statErr)
	}
	said := "Copied the program to " + in.definition.Program + "."
	if kept != "" {
		said += " The one before is kept as " + kept + "."
	}
	return in.env.Println(said)
}

// conclude says where the service is, and what to do next.
func (in *installation) conclude() error {
	state, err := in.Host.Current()
	if err != nil {
		return err
	}
	db, backups := in.options.DB, in.options.Backups.Dir
	program := typedAs(in.definition.Program)
	address := in.address(state, db)
	lines := []string{
		"",
		"The service runs" + address,
		"Its data are in " + in.data() + ", its backups in " + backups + ".",
		"To sign in on this PC:   " + program + " open",
		"To see how it is:        " + program + " service status",
	}
	if in.definition.Shared && in.options.SelfSigned {
		lines = append(lines, "For the other PCs:       "+cli.AsAdministrator(program+" cert"))
	} else if !in.definition.Shared {
		lines = append(lines, "To let other PCs in:     "+cli.AsAdministrator(program+" service install --listen 0.0.0.0:8443 --tls-self-signed"))
	}
	if err := sayAll(in.env, lines); err != nil {
		return err
	}
	in.warn(db, backups)
	return nil
}

// warn warns of what is not safe, and of another installation on this PC.
func (in *installation) warn(db, backups string) {
	program := typedAs(in.definition.Program)
	if in.definition.Shared && !in.options.SelfSigned && in.options.CertFile == "" {
		in.env.Notef("\nWARNING: others reach the service, without TLS. Everybody on the network between can read\n"+
			"the records, the keys and the links to sign in, and use them.\nTry: %s", cli.AsAdministrator(program+" service install --tls-self-signed"))
	}
	packaged, byHand := in.Host.PackagedProgram(), in.Host.InstalledProgram()
	switch {
	case packaged == "":
	case packaged != in.definition.Program:
		in.env.Notef("\nNote: the package firefighters is installed, too, and its upgrades do not change this service.\n"+
			"To use the program of the package again: %s", cli.AsAdministrator(packaged+" service install"))
	case osutil.Exists(byHand) && !osutil.SameFile(byHand, packaged):
		in.env.Notef("\nNote: the program of an installation by hand is still there, and is what \"firefighters\" starts.\n"+
			"Try: %s", cli.AsAdministrator("rm "+byHand))
	}
	if osutil.SharedFolder(backups) {
		in.env.Notef("\nWarning: every user of this PC may read or delete the backups in %s\nTry: %s", cli.Quote(backups),
			cli.AsAdministrator(program+" service install --backup-dir "+cli.Quote(filepath.Join(backups, "firefighters"))))
	}
	if err := backup.CheckPlace(backups, db); err != nil {
		in.env.Notef("\nWarning: %v", err)
	} else if sameDisk(backups, db) {
		in.env.Notef("\nWarning: the backups are on the same disk as the database, and would be lost with it.\nTry: %s",
			cli.AsAdministrator(program+" service install --backup-dir DIR")+", with a folder on another disk")
	}
}

// address returns " at URL" for a service that has begun to run, or nothing if it
// does not say.
func (in *installation) address(state managers.State, db string) string {
	_, url, _ := strings.Cut(state.Word, "Listening on ")
	if url == "" {
		_, url = in.inspect(db)
	}
	if url == "" {
		return ""
	}
	return " at " + url
}

// sameDisk reports whether a folder for backups, which may be missing, is on the disk
// of the database.
func sameDisk(backups, db string) bool {
	if !osutil.Exists(backups) {
		backups = filepath.Dir(backups)
	}
	return osutil.SameDisk(backups, filepath.Dir(osutil.Resolve(db)))
}
