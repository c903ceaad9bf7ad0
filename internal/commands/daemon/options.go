package daemon

import (
	"fmt"
	"net"
	"time"

	"github.com/spf13/pflag"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

// Options say what a daemon serves, and how. They are the flags of serve.
type Options struct {
	DB, Listen        string
	CertFile, KeyFile string // to serve HTTPS: both or neither
	SelfSigned        bool   // make them
	RateLimit         int    // requests per second and key; 0 is no limit
	Origins           []string
	NoOffice          bool
	Backups           backup.Options // no folder: no backups

	// Installed is set for the service of the PC. Nobody reads what it prints, so it
	// never prints a key.
	Installed bool

	every   string // the flag of Backups.Every
	makeNew bool   // also where a database was lost
	again   string // what to type to start this again, with another --listen
	anyPort bool   // another will do if it is taken
}

const maxRateLimit = 1_000_000

// AddFlags adds the flags of serve.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	o.addNetFlags(flags)
	flags.StringVar(&o.DB, "db", cli.DefaultDB, "the database `file`")
	flags.StringVar(&o.Backups.Dir, "backup-dir", "", "the `folder` to make backups in, by itself; made if it is not there")
	flags.StringVar(&o.every, "backup-every", "24h", "how often, as 24h or 7d; with --backup-dir")
	flags.IntVar(&o.Backups.Keep, "backup-keep", 90, "how many to keep, with --backup-dir: a quarter each the newest, daily, weekly and monthly ones")
}

// addNetFlags adds the flags that serve and demo share.
func (o *Options) addNetFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Listen, "listen", "127.0.0.1:8080", "the address and port to listen on; port 0 picks a free one")
	flags.StringVar(&o.CertFile, "tls-cert", "", "serve HTTPS with the certificate (PEM) in this `file`, and its chain")
	flags.StringVar(&o.KeyFile, "tls-key", "", "the `file` with the private key (PEM) of --tls-cert")
	flags.BoolVar(&o.SelfSigned, "tls-self-signed", false, "serve HTTPS with a certificate that this makes and renews; other machines must trust it once: firefighters cert")
	flags.IntVar(&o.RateLimit, "rate-limit", 0, "how many requests each key may send per second, twice as many at once; 0 is no limit")
	flags.BoolVar(&o.NoOffice, "no-office", false, "serve the API alone, without the page for people at /office/")
	flags.StringSliceVar(&o.Origins, "cors-origin", nil, "let pages from this `origin` use the API in a browser, as https://roster.example.org; may be repeated")
}

// Check returns a usage error for flags that cannot be. They are those of AddFlags,
// after they were parsed.
func (o *Options) Check(flags *pflag.FlagSet) error {
	every, err := cli.ParseDuration(o.every)
	switch {
	case err != nil || every < time.Second:
		return cli.Wrong(flags, cli.WrongTime("backup-every", "24h or 7d", o.every, err).Error())
	case o.Backups.Keep < 1:
		return cli.Wrong(flags, "--backup-keep takes 1 or more")
	case o.Backups.Dir == "" && (flags.Changed("backup-every") || flags.Changed("backup-keep")):
		return cli.Usage("--backup-every and --backup-keep need a folder for the backups", cli.TypedLine(flags, 0)+" --backup-dir DIR")
	}
	o.Backups.Every = every
	return o.checkNet(flags)
}

// checkNet returns a usage error for flags of addNetFlags that cannot be.
func (o *Options) checkNet(flags *pflag.FlagSet) error {
	o.again = cli.TypedLine(flags, 0, "listen")
	if o.Installed {
		o.again = cli.AsAdministrator(o.again)
	}
	_, port, err := net.SplitHostPort(o.Listen)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	switch {
	case err != nil:
		return cli.Usage(fmt.Sprintf("--listen takes an address and a port, not %q", o.Listen), o.again+" --listen 127.0.0.1:8080")
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
