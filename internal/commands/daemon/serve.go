package daemon

import (
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/commands/invite"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

func (c Commands) serveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "serve",
		Short:      "Serve the office page and the API (the default command)",
		GroupID:    cli.GroupServer,
		SuggestFor: []string{"start", "run", "server", "listen"},
		Long: `Serve the office page and the API until stopped with Ctrl-C.

If the database does not exist, serve creates it and prints a link to the page
and an API key, which is shown only once. To open the page later, use
"firefighters open".

By default only this computer can connect. To allow other computers, add
--listen 0.0.0.0:8443 and --tls-self-signed. Renewed certificate files are
loaded within seconds.

With --backup-dir the database is backed up automatically. A tenth of that disk,
at most 1 GiB, always stays free.`,
		Example: `  firefighters serve --db records.db
  firefighters serve --listen 0.0.0.0:8443 --tls-self-signed
  firefighters serve --backup-dir /mnt/backup/firefighters`,
		Annotations: map[string]string{cli.Server: "true"},
	}
	var o Options
	o.AddFlags(cmd)
	cmd.Flags().VisitAll(func(f *pflag.Flag) { cli.FromEnvironment(cmd, f.Name) })
	// Not a setting of the installed service, where it would apply to every startup.
	cmd.Flags().BoolVar(&o.makeNew, "new", false, "start even if the database was lost, or is missing and has backups; see docs/operations.md")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := o.Check(cmd); err != nil {
			return err
		}
		return c.Run(cli.EnvOf(cmd), o)
	}
	return cmd
}

// addFirst creates the first department of an empty database and, unless it is the installed service,
// prints its first key.
func (d *daemon) addFirst() error {
	empty, err := d.service.Store.Empty()
	switch {
	case err != nil:
		return err
	case !empty && !d.Installed && !d.NoOffice:
		d.env.Notef("To open the page: firefighters open --db %s", cli.Quote(d.DB))
		return nil
	case !empty:
		return nil
	case d.Installed:
		return d.service.Store.AddDepartments([]store.Department{{Name: store.FirstDepartment}})
	}
	return d.announceKey(store.FirstDepartment, "")
}

// announceKey creates an admin key for a department. It prints the key, a link to the office page for
// invite.Announce unless the page is disabled, and a command that lists the people.
func (d *daemon) announceKey(department, person string) error {
	curl := "curl"
	if runtime.GOOS == "windows" {
		curl = "curl.exe" // in PowerShell curl is another program
	}
	var command string
	err := d.service.Store.CreateKey(store.NewKey{Tenant: department, Label: "first key", Scope: store.ScopeAdmin}, func(key string) error {
		command = fmt.Sprintf(`%s -H "Authorization: Bearer %s" %s%s/api/v1/firefighters`, curl, key, d.trust(), d.url())
		return d.env.Println(fmt.Sprintf("API key of the department %q, shown only once:\n\n  %s\n", department, key))
	})
	if err != nil {
		return fmt.Errorf("creating the first key: %w", err)
	}
	if !d.NoOffice {
		if err := invite.Announce(d.service.Store, department, person, d.linkURL(), d.env.Println); err != nil {
			return fmt.Errorf("creating a link to the page: %w", err)
		}
	}
	return d.env.Println("Try the key:\n\n  " + command + "\n")
}

// trust returns the options for curl to trust the certificate. On Windows curl also requires a
// revocation check, which a local authority cannot answer.
func (d *daemon) trust() string {
	switch {
	case d.service.Authority == nil:
		return ""
	case runtime.GOOS == "windows":
		return "--ssl-revoke-best-effort --cacert " + cli.Quote(d.service.Authority.PublicFile()) + " "
	}
	return "--cacert " + cli.Quote(d.service.Authority.PublicFile()) + " "
}

// Options are the flags of serve.
type Options struct {
	DB, Listen        string
	Local             string // loopback address for HTTP in addition to HTTPS; empty for none
	PublicURL         string // that browsers use through a reverse proxy; may be empty
	CertFile, KeyFile string // for HTTPS: both or neither
	SelfSigned        bool   // use a local certificate authority
	RateLimit         int    // requests per second and key; 0 for no limit
	Origins           []string
	NoOffice          bool
	NoPhones          bool
	Backups           backup.Options // no backups if Dir is empty
	Installed         bool           // the installed service, which never prints a key

	given     func(flag string) bool // nil if the flags cannot be changed by settings
	othersAt  string                 // the address for other devices if the settings allow them
	hides     func(path string) bool // reports whether the service manager hides a folder from the service
	encryptTo database.Recipients
	every     string         // the flag of Backups.Every
	makeNew   bool           // start even if the database was lost
	again     string         // the command line without --listen, for hints
	anyPort   bool           // use another port if the port is in use
	invented  *demonstration // nil except for demo
}

const (
	defaultListen = "127.0.0.1:8080"
	defaultLocal  = "127.0.0.1:8080"
	noLocal       = "off"
	maxRateLimit  = 1_000_000
)

// AddFlags adds the flags of serve. Check validates them.
func (o *Options) AddFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.DB, "db", cli.DefaultDB, "database `file`")
	o.addNetFlags(cmd)
	flags.StringVar(&o.Local, "local", defaultLocal, "`address` for HTTP on this computer if others use HTTPS; "+noLocal+" for none")
	flags.StringVar(&o.PublicURL, "public-url", "", "`URL` that browsers use, if a reverse proxy forwards their requests")
	flags.StringVar(&o.Backups.Dir, "backup-dir", "", "back up to this `folder`, created if missing")
	flags.StringVar(&o.every, "backup-every", "24h", "`time` between backups, such as 24h or 7d")
	flags.IntVar(&o.Backups.Keep, "backup-keep", 90, "`number` of backups to keep, a quarter each newest, daily, weekly and monthly")
	o.encryptTo.AddFlag(cmd)
	cmd.MarkFlagDirname("backup-dir")
}

// addNetFlags adds the flags that serve and demo share.
func (o *Options) addNetFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.Listen, "listen", defaultListen, "`address` and port to listen on; port 0 for any free port")
	flags.BoolVar(&o.SelfSigned, "tls-self-signed", false, "serve HTTPS with an automatic certificate (see firefighters cert)")
	flags.StringVar(&o.CertFile, "tls-cert", "", "serve HTTPS with the certificate chain in this `file` (PEM)")
	flags.StringVar(&o.KeyFile, "tls-key", "", "`file` with the private key of --tls-cert (PEM)")
	flags.IntVar(&o.RateLimit, "rate-limit", 0, "`requests` per second and key, twice that in bursts; 0 for no limit")
	flags.StringSliceVar(&o.Origins, "cors-origin", nil, "let web pages of this `origin` use the API; can be repeated")
	flags.BoolVar(&o.NoOffice, "no-office", false, "do not serve the office page")
	flags.BoolVar(&o.NoPhones, "no-phones", false, "do not serve contacts and calendars for phones")
}

// Check returns a usage error if a flag of AddFlags is invalid.
func (o *Options) Check(cmd *cobra.Command) error {
	if err := o.CheckRecipients(cmd); err != nil {
		return err
	}
	every, err := cli.ParseDuration(o.every)
	changed := cmd.Flags().Changed
	o.given = changed
	switch {
	case err != nil || every < time.Second:
		return cli.UsageErrorf(cmd, "%v", cli.WrongTime("backup-every", "24h or 7d", o.every))
	case o.Backups.Keep < 1:
		return cli.Usage("--backup-keep must be at least 1", "")
	case o.Backups.Dir == "" && (changed("backup-every") || changed("backup-keep") || len(o.encryptTo.To) > 0):
		return cli.Usage("--backup-every, --backup-keep and --backup-encrypt-to require --backup-dir", cli.CommandLine(cmd)+" --backup-dir DIR")
	}
	o.Backups.Every, o.Backups.EncryptTo = every, o.encryptTo.To
	return o.checkNet(cmd)
}

// CheckRecipients is the part of Check that must run before any other use of the flags, because a
// recipient may be a secret key.
func (o *Options) CheckRecipients(cmd *cobra.Command) error { return o.encryptTo.Check(cmd) }

// checkNet returns a usage error if a flag of addNetFlags is invalid.
func (o *Options) checkNet(cmd *cobra.Command) error {
	o.again = cli.CommandLine(cmd, "listen")
	if o.Installed {
		o.again = cli.AsAdministrator(o.again)
	}
	if o.Local == noLocal {
		o.Local = ""
	}
	switch {
	case checkAddress(o.Listen) != nil:
		return cli.Usage(fmt.Sprintf("--listen must be an address and a port, not %q", o.Listen), o.again+" --listen "+suggestedAddress(o.Listen))
	case o.Local != "" && (checkAddress(o.Local) != nil || !httpapi.IsLoopbackHost(o.Local)):
		return cli.Usage(fmt.Sprintf("--local must be a loopback address and a port, or %s, not %q", noLocal, o.Local),
			cli.CommandLine(cmd, "local")+" --local "+defaultLocal)
	case o.SelfSigned && (o.CertFile != "" || o.KeyFile != ""):
		return cli.Usage("--tls-self-signed cannot be combined with --tls-cert and --tls-key", "")
	case (o.CertFile == "") != (o.KeyFile == ""):
		missing := " --tls-key key.pem"
		if o.CertFile == "" {
			missing = " --tls-cert cert.pem"
		}
		return cli.Usage("--tls-cert and --tls-key require each other", cli.CommandLine(cmd)+missing)
	case o.RateLimit < 0 || o.RateLimit > maxRateLimit:
		return cli.Usage(fmt.Sprintf("--rate-limit must be 0 to %d, not %d", maxRateLimit, o.RateLimit), "")
	}
	if o.PublicURL = strings.ToLower(strings.TrimSuffix(o.PublicURL, "/")); o.PublicURL != "" && !httpapi.ValidOrigin(o.PublicURL) {
		return cli.Usage(fmt.Sprintf("--public-url must be the root of a host, such as https://station.example, not %q", o.PublicURL), "")
	}
	for _, origin := range o.Origins {
		if !httpapi.ValidOrigin(origin) {
			return cli.Usage(fmt.Sprintf("--cors-origin must be an origin such as https://roster.example.org, not %q", origin), "")
		}
	}
	return nil
}

func checkAddress(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	return err
}

// suggestedAddress returns a valid address similar to an invalid one, which may lack the host or the
// port.
func suggestedAddress(typed string) string {
	if port, err := strconv.ParseUint(typed, 10, 16); err == nil {
		return fmt.Sprintf("127.0.0.1:%d", port)
	}
	host, _, err := net.SplitHostPort(typed)
	if err != nil {
		host = strings.Trim(typed, "[]")
	}
	if _, err := netip.ParseAddr(host); err != nil && host != "localhost" && (!strings.Contains(host, ".") || strings.ContainsAny(host, ":/ ")) {
		return defaultListen
	}
	_, port, _ := net.SplitHostPort(defaultListen)
	return cli.Quote(net.JoinHostPort(host, port))
}
