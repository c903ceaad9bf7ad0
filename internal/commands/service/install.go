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

	"github.com/spf13/pflag"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/daemon"
	command "github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

const installHelp = `Usage: firefighters service install [flags]

Installs this program as a service, which starts with the PC, and starts it. The
service has a folder of its own for the database, the backups and the settings,
which nobody else can read. To sign in: sudo firefighters open

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
	state      managers.State    // of the service before the installation
	given      managers.Settings // by the flags of this installation
	settings   managers.Settings // those with which the service will run: kept and given
	options    daemon.Options    // by settings
	definition managers.Definition
}

func (s Service) install(env cli.Env, args []string) error {
	typed, given := optionsAndFlags(env)
	if err := cmp.Or(env.Parse(given, args, 0), typed.CheckRecipients(given)); err != nil {
		return err
	}
	in := installation{Service: s, env: env}
	err := in.plan(given)
	if _, wrong := errors.AsType[*cli.UsageError](err); !wrong && !s.Host.Permitted() {
		err = managers.ErrNotPermitted
	}
	if err == nil {
		err = in.checkPaths()
	}
	if err == nil {
		err = in.do()
	}
	if err != nil {
		return s.explain(err, strings.TrimPrefix(cli.TypedLine(given, 0), "firefighters "))
	}
	return in.conclude()
}

// plan reads how everything is, and returns an error for flags that cannot be.
// It changes nothing.
func (in *installation) plan(given *pflag.FlagSet) (err error) {
	state, stateErr := in.Host.Current()
	in.state = state
	old, readErr := managers.ReadSettings(in.data())
	lines, unset, err := linesOf(given)
	if err != nil {
		return err
	}
	in.given, in.settings = lines, old.Merge(lines, unset...)
	if in.options, err = in.Service.options(in.env, in.settings); err != nil {
		return err
	}
	in.definition, err = in.define()
	return cmp.Or(stateErr, readErr, err)
}

// pathFlags are the flags that name a file or folder.
var pathFlags = []string{"db", "backup-dir", "tls-cert", "tls-key"}

// linesOf returns the settings that were given as flags, with absolute paths, and the
// flags that were given their default, which are no settings any more.
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
			if value != "" && slices.Contains(pathFlags, f.Name) {
				path, absErr := filepath.Abs(value)
				value, err = path, cmp.Or(err, absErr)
			}
			given = append(given, "--"+f.Name+"="+value)
			if strings.ContainsFunc(value, unicode.IsControl) {
				err = cmp.Or(err, cli.Wrong(flags, "--"+f.Name+" may have no line break and no other control character"))
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
		advice := command.AdviceOn(err, in.options.DB)
		return cli.WithHint(advice, advice.Hint)
	}
	for _, flag := range pathFlags {
		path := in.given.Get(flag)
		if path != "" && in.Host.Hides(osutil.Resolve(path)) {
			return cli.WithHint(fmt.Errorf("--%s: %s is hidden from the service, as all home and temporary folders are", flag, osutil.InQuotes(path)),
				"a place below /mnt, /media or /srv, or for a certificate /etc/firefighters")
		}
	}
	if in.given.Get("tls-cert") == "" && in.given.Get("tls-key") == "" {
		return nil
	}
	if _, err := tls.LoadX509KeyPair(in.settings.Get("tls-cert"), in.settings.Get("tls-key")); err != nil {
		return cli.WithHint(fmt.Errorf("--tls-cert and --tls-key: %w", err), "name PEM files that belong together")
	}
	return nil
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
		return fmt.Errorf("the program could not be written: %w", err)
	}
	if err := in.settings.Write(in.data()); err != nil {
		return fmt.Errorf("the settings could not be written: %w", err)
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

// checkFiles lets the service write to the folders of the flags given, and makes
// sure that it may read the files. About files that were named before it only warns. It
// opens no folder to the service because of what stands in the file of the settings
// alone, which the service itself can change.
func (in *installation) checkFiles() error {
	for _, flag := range pathFlags {
		path := in.settings.Get(flag)
		if path == "" {
			continue
		}
		var err error
		given := in.given.Get(flag) != ""
		switch {
		case flag == "db" && given:
			err = folderError(filepath.Dir(path), in.Host.Share(filepath.Dir(path)))
		case flag == "backup-dir" && given:
			if err = backup.CheckPlace(path, in.options.DB); err == backup.ErrAway {
				err = cli.WithHint(err, "connect it, and mount it, and then the same again")
			} else {
				err = folderError(path, in.Host.Share(path))
			}
		case strings.HasPrefix(flag, "tls-"):
			err = fileError(path, in.Host.MayRead(path))
		}
		if err == nil {
			continue
		}
		err = fmt.Errorf("--%s: %w", flag, err)
		if given {
			return err
		}
		in.env.Warn(err.Error(), "")
	}
	return nil
}

// folderError says why the service may not write to a folder.
func folderError(folder string, err error) error {
	name := osutil.InQuotes(folder)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return cli.WithHint(fmt.Errorf("the folder of %s does not exist", name), "connect its disk, or make the folder first")
	case errors.Is(err, fs.ErrPermission) && runtime.GOOS != "windows":
		return cli.WithHint(fmt.Errorf("the service, which runs as the user %s, may not write to %s", managers.Account, name),
			fmt.Sprintf("for a stick or a whole disk: %s; or a new folder in it, as %s", cli.AsAdministrator(typed()+" service backup-disk"), cli.Quote(filepath.Join(folder, "firefighters"))))
	}
	return fmt.Errorf("the service may not write to %s: %w", name, err)
}

// fileError says why the service may not read a file.
func fileError(file string, err error) error {
	name := osutil.InQuotes(file)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no file %s", name)
	case errors.Is(err, fs.ErrPermission) && runtime.GOOS != "windows":
		return cli.WithHint(fmt.Errorf("the service may not read %s", name),
			fmt.Sprintf("sudo chgrp %[1]s %[2]s && sudo chmod g+r %[2]s, and its folders must be open to the service too", managers.Account, cli.Quote(file)))
	}
	return fmt.Errorf("the service may not read %s: %w", name, err)
}

// copyProgram puts this program where the system will start it.
func (in *installation) copyProgram() error {
	own, err := os.Executable()
	if err != nil {
		return err
	}
	copied, kept, err := managers.CopyProgram(own, in.definition.Program)
	if err != nil || !copied {
		return err
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
	runs := "The service runs"
	address := state.Address
	if address == "" {
		_, address, _ = in.inspect(db)
	}
	if address != "" {
		runs += " at " + address
	}
	lines := []string{
		"",
		runs,
		"Its data are in " + in.data() + ", its backups in " + backups + ".",
		"To sign in on this PC:   " + signIn(program),
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

// signIn returns what to type to open the page. On Windows open asks for the rights itself.
func signIn(program string) string {
	if runtime.GOOS == "windows" {
		return program + " open"
	}
	return cli.AsAdministrator(program + " open")
}

// warn warns of unsafe settings.
func (in *installation) warn(db, backups string) {
	program := typedAs(in.definition.Program)
	if in.definition.Shared && !in.options.SelfSigned && in.options.CertFile == "" {
		in.env.Notef("\nWARNING: others reach the service, without TLS. Everybody on the network between can read\n"+
			"the records, the keys and the links to sign in, and use them.\nTry: %s", cli.AsAdministrator(program+" service install --tls-self-signed"))
	}
	if osutil.SharedFolder(backups) {
		command := program + " service install --backup-dir " + cli.Quote(filepath.Join(backups, "firefighters"))
		if runtime.GOOS != "windows" { // the disk has no owners
			command = program + " service backup-disk"
		}
		in.env.Notef("\nWarning: every user of this PC may read or delete the backups in %s\nTry: %s", cli.Quote(backups), cli.AsAdministrator(command))
	}
	if err := backup.CheckPlace(backups, db); err != nil {
		in.env.Notef("\nWarning: %v", err)
	} else if sameDisk(backups, db) {
		in.env.Notef("\nWarning: the backups are on the same disk as the database, and would be lost with it.\nTry: %s",
			cli.AsAdministrator(program+" service backup-disk")+", which lists the disks that can hold them")
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
