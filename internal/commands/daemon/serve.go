package daemon

import (
	"fmt"
	"net"
	"runtime"
	"time"

	"github.com/spf13/pflag"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/commands/invite"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

const serveHelp = `Usage: firefighters [serve] [flags]

Serves the API and the office page until it is told to stop (Ctrl-C), and then
finishes what it has begun. Where there is no database it makes one, with a
department "default", a link that lets you into its page and a key for programs,
which are shown only now. Later: firefighters open

  firefighters serve --db /var/lib/firefighters/firefighters.db --listen 127.0.0.1:8080
  firefighters serve --listen 0.0.0.0:8443 --tls-self-signed --rate-limit 50
  firefighters serve --db /var/lib/firefighters/firefighters.db --backup-dir /mnt/backup/firefighters

By default it listens on this machine alone. It then answers only to the hosts
localhost and 127.0.0.1. If other machines can reach it, use a certificate:
--tls-self-signed makes one, as firefighters cert explains. A renewed certificate
is used within seconds.

With --backup-dir it saves the database there by itself, as
firefighters-20261120T093000Z.db, and leaves a tenth of that disk free.

Flags:
`

func (c Commands) serve(env cli.Env, args []string) error {
	var o Options
	flags := env.Flags("serve", serveHelp)
	o.AddFlags(flags)
	// The installed service has no such flag: as a setting it would hold for ever.
	flags.BoolVar(&o.makeNew, "new", false, "start without what was lost while the database was served: with the file there, or with a new and empty one")
	if err := env.Parse(flags, args, 0); err != nil {
		return err
	}
	if err := o.Check(flags); err != nil {
		return err
	}
	return c.Run(env, o)
}

// addFirst makes the first department of an empty database, and prints its first key,
// unless nobody reads that.
func (d *daemon) addFirst() error {
	empty, err := d.store.Empty()
	switch {
	case err != nil || !empty:
		return err
	case d.Installed:
		return d.store.AddDepartments([]store.Department{{Name: store.FirstDepartment}})
	}
	return d.announceKey(store.FirstDepartment)
}

// announceKey creates an admin's key for a department and prints it, a link to the office
// page unless there is none, and a command that lists the people.
func (d *daemon) announceKey(tenant string) error {
	curl := "curl"
	if runtime.GOOS == "windows" {
		curl = "curl.exe" // in PowerShell curl is another program
	}
	var command string
	err := d.store.CreateKey(store.NewKey{Tenant: tenant, Label: "first key", Scope: store.ScopeAdmin}, func(key string) error {
		command = fmt.Sprintf(`%s -H "Authorization: Bearer %s" %s%s/api/v1/firefighters`, curl, key, d.trust(), d.url())
		return d.env.Println(fmt.Sprintf("The first key of the department %q, shown this once:\n\n  %s\n", tenant, key))
	})
	if err != nil {
		return fmt.Errorf("making the first key: %w", err)
	}
	if !d.NoOffice {
		if err := invite.Announce(d.store, tenant, d.url(), d.env.Println); err != nil {
			return fmt.Errorf("making a link to the page: %w", err)
		}
	}
	return d.env.Println("Try:\n\n  " + command + "\n")
}

// trust returns the options by which curl trusts the certificate. On Windows curl
// would also ask whether it is revoked, and there is nobody to ask.
func (d *daemon) trust() string {
	switch {
	case d.authority == nil:
		return ""
	case runtime.GOOS == "windows":
		return "--ssl-revoke-best-effort --cacert " + cli.Quote(d.authority.PublicFile()) + " "
	}
	return "--cacert " + cli.Quote(d.authority.PublicFile()) + " "
}

// Options say what a daemon serves, and how. They are the flags of serve.
type Options struct {
	DB, Listen        string
	Local             string // an address of this machine alone, for HTTP beside HTTPS for others; empty: none
	CertFile, KeyFile string // to serve HTTPS: both or neither
	SelfSigned        bool   // make them
	RateLimit         int    // requests per second and key; 0 is no limit
	Origins           []string
	NoOffice          bool
	NoPhones          bool
	Backups           backup.Options // no folder: no backups
	encryptTo         database.Recipients

	// Installed is set for the service of the PC. Nobody reads what it prints, so it
	// never prints a key.
	Installed bool

	every    string         // the flag of Backups.Every
	makeNew  bool           // also where a database was lost
	again    string         // what to type to start this again, with another --listen
	anyPort  bool           // another will do if it is taken
	invented *demonstration // to serve; nil: what is in the database
}

const (
	defaultLocal = "127.0.0.1:8080"
	noLocal      = "off"
)

const maxRateLimit = 1_000_000

// AddFlags adds the flags of serve.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	o.addNetFlags(flags)
	flags.StringVar(&o.Local, "local", defaultLocal, "where this machine alone finds it without TLS, while others have TLS; "+noLocal+" for nowhere")
	flags.StringVar(&o.DB, "db", cli.DefaultDB, "the database `file`")
	flags.StringVar(&o.Backups.Dir, "backup-dir", "", "the `folder` to make backups in, by itself; made if it is not there")
	flags.StringVar(&o.every, "backup-every", "24h", "how often, as 24h or 7d; with --backup-dir")
	flags.IntVar(&o.Backups.Keep, "backup-keep", 90, "how many to keep, with --backup-dir: a quarter each the newest, daily, weekly and monthly ones")
	o.encryptTo.AddFlag(flags)
}

// addNetFlags adds the flags that serve and demo share.
func (o *Options) addNetFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Listen, "listen", "127.0.0.1:8080", "the address and port to listen on; port 0 picks a free one")
	flags.StringVar(&o.CertFile, "tls-cert", "", "serve HTTPS with the certificate (PEM) in this `file`, and its chain")
	flags.StringVar(&o.KeyFile, "tls-key", "", "the `file` with the private key (PEM) of --tls-cert")
	flags.BoolVar(&o.SelfSigned, "tls-self-signed", false, "serve HTTPS with a certificate that this makes and renews; other machines must trust it once: firefighters cert")
	flags.IntVar(&o.RateLimit, "rate-limit", 0, "how many requests each key may send per second, twice as many at once; 0 is no limit")
	flags.BoolVar(&o.NoOffice, "no-office", false, "serve no page for people at /office/")
	flags.BoolVar(&o.NoPhones, "no-phones", false, "serve no address book and no calendar for phones at /dav/")
	flags.StringSliceVar(&o.Origins, "cors-origin", nil, "let pages from this `origin` use the API in a browser, as https://roster.example.org; may be repeated")
}

// Check returns a usage error for flags that cannot be. They are those of AddFlags,
// after they were parsed.
func (o *Options) Check(flags *pflag.FlagSet) error {
	if err := o.CheckRecipients(flags); err != nil {
		return err
	}
	every, err := cli.ParseDuration(o.every)
	switch {
	case err != nil || every < time.Second:
		return cli.Wrong(flags, cli.WrongTime("backup-every", "24h or 7d", o.every).Error())
	case o.Backups.Keep < 1:
		return cli.Wrong(flags, "--backup-keep takes 1 or more")
	case o.Backups.Dir == "" && (flags.Changed("backup-every") || flags.Changed("backup-keep") || len(o.encryptTo.To) > 0):
		return cli.Usage("--backup-every, --backup-keep and --backup-encrypt-to need a folder for the backups", cli.TypedLine(flags, 0)+" --backup-dir DIR")
	}
	o.Backups.Every, o.Backups.EncryptTo = every, o.encryptTo.To
	return o.checkNet(flags)
}

func checkAddress(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	return err
}

// CheckRecipients is the part of Check that must come before anything is done with what
// was typed: there may be a secret key in it.
func (o *Options) CheckRecipients(flags *pflag.FlagSet) error { return o.encryptTo.Check(flags) }

// checkNet returns a usage error for flags of addNetFlags that cannot be.
func (o *Options) checkNet(flags *pflag.FlagSet) error {
	o.again = cli.TypedLine(flags, 0, "listen")
	if o.Installed {
		o.again = cli.AsAdministrator(o.again)
	}
	if o.Local == noLocal {
		o.Local = ""
	}
	switch {
	case checkAddress(o.Listen) != nil:
		return cli.Usage(fmt.Sprintf("--listen takes an address and a port, not %q", o.Listen), o.again+" --listen 127.0.0.1:8080")
	case o.Local != "" && (checkAddress(o.Local) != nil || !httpapi.IsLoopbackHost(o.Local)):
		return cli.Usage(fmt.Sprintf("--local takes an address of this machine alone and a port, or %s, not %q", noLocal, o.Local), cli.TypedLine(flags, 0, "local")+" --local "+defaultLocal)
	case o.SelfSigned && (o.CertFile != "" || o.KeyFile != ""):
		return cli.Usage("--tls-self-signed makes its own certificate, and cannot go with --tls-cert and --tls-key", "one or the other; to end it: --tls-self-signed=false")
	case (o.CertFile == "") != (o.KeyFile == ""):
		missing := " --tls-key key.pem"
		if o.CertFile == "" {
			missing = " --tls-cert cert.pem"
		}
		return cli.Usage("--tls-cert and --tls-key go together", o.again+" --listen "+cli.Quote(o.Listen)+missing)
	case o.RateLimit < 0 || o.RateLimit > maxRateLimit:
		return cli.Usage(fmt.Sprintf("--rate-limit takes 0 to %d, not %d", maxRateLimit, o.RateLimit), "firefighters serve --help")
	}
	for _, origin := range o.Origins {
		if !httpapi.ValidOrigin(origin) {
			return cli.Usage(fmt.Sprintf("--cors-origin takes an origin like https://roster.example.org, not %q", origin), "firefighters serve --help")
		}
	}
	return nil
}
