package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/pflag"

	"github.com/firefighter-records/firefighters/internal/commands/caution"
	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/commands/logqueue"
	"github.com/firefighter-records/firefighters/internal/commands/service"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/guard"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/authority"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/httpserver"
	"github.com/firefighter-records/firefighters/internal/web/office"
	"github.com/firefighter-records/firefighters/internal/web/site"
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

// firstDepartment is the name of the department in a new database.
const firstDepartment = "default"

// serveOptions are the flags of a server.
type serveOptions struct {
	db, listen        string
	again             string // what to type to start this again, with another --listen
	anyPort           bool   // nobody has asked for the port
	certFile, keyFile string // to serve HTTPS: both or neither
	selfSigned        bool   // make them
	rateLimit         int    // requests per second and key; 0 is no limit
	origins           []string
	noOffice          bool
	makeNew           bool           // also where a database was lost
	backups           backup.Options // no folder: no backups
}

const maxRateLimit = 1_000_000

// addFlags adds the flags that serve and demo share.
func (o *serveOptions) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.listen, "listen", "127.0.0.1:8080", "the address and port to listen on; port 0 picks a free one")
	flags.StringVar(&o.certFile, "tls-cert", "", "serve HTTPS with the certificate (PEM) in this `file`, and its chain")
	flags.StringVar(&o.keyFile, "tls-key", "", "the `file` with the private key (PEM) of --tls-cert")
	flags.BoolVar(&o.selfSigned, "tls-self-signed", false, "serve HTTPS with a certificate that this makes and renews; other machines must trust it once: firefighters cert")
	flags.IntVar(&o.rateLimit, "rate-limit", 0, "how many requests each key may send per second, twice as many at once; 0 is no limit")
	flags.BoolVar(&o.noOffice, "no-office", false, "serve the API alone, without the page for people at /office/")
	flags.StringSliceVar(&o.origins, "cors-origin", nil, "let pages from this `origin` use the API in a browser, as https://roster.example.org; may be repeated")
}

// check returns a usage error for flags that cannot be.
func (o *serveOptions) check() error {
	_, port, err := net.SplitHostPort(o.listen)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	switch {
	case err != nil:
		return cli.Usage(fmt.Sprintf("--listen takes an address and a port, not %q", o.listen), o.again+" --listen 127.0.0.1:8080")
	case o.selfSigned && (o.certFile != "" || o.keyFile != ""):
		return cli.Usage("--tls-self-signed makes its own certificate, and cannot go with --tls-cert and --tls-key", "one or the other; to end it: --tls-self-signed=false")
	case (o.certFile == "") != (o.keyFile == ""):
		missing := " --tls-key key.pem"
		if o.certFile == "" {
			missing = " --tls-cert cert.pem"
		}
		return cli.Usage("--tls-cert and --tls-key go together", o.again+" --listen "+cli.Quote(o.listen)+missing)
	case o.rateLimit < 0 || o.rateLimit > maxRateLimit:
		return cli.Usage(fmt.Sprintf("--rate-limit takes 0 to %d, not %d", maxRateLimit, o.rateLimit), "firefighters serve --help")
	}
	for _, origin := range o.origins {
		if !httpapi.ValidOrigin(origin) {
			return cli.Usage(fmt.Sprintf("--cors-origin takes an origin like https://roster.example.org, not %q", origin), "firefighters serve --help")
		}
	}
	return nil
}

func serve(env cli.Env, args []string) error {
	s := newServing(env, "serve", serveHelp, announceFirstKey)
	if err := env.Parse(s.Flags, args, 0); err != nil {
		return err
	}
	if err := s.Check(); err != nil {
		return err
	}
	return s.Run()
}

// newServing returns the flags of a command that serves, and what it does once
// they are parsed. prepare is for a database that is open.
func newServing(env cli.Env, command, help string, prepare prepareFunc) service.Serving {
	var o serveOptions
	flags := env.Flags(command, help)
	cli.OwnDBFlagVar(flags, &o.db)
	o.addFlags(flags)
	flags.StringVar(&o.backups.Dir, "backup-dir", "", "the `folder` to make backups in, by itself; made if it is not there")
	if command == "serve" { // as a setting it would hold for ever
		flags.BoolVar(&o.makeNew, "new", false, "make a new, empty database even where one was lost while it was served")
	}
	every := flags.String("backup-every", "24h", "how often, as 24h or 7d; with --backup-dir")
	flags.IntVar(&o.backups.Keep, "backup-keep", 90, "how many to keep, with --backup-dir: a quarter each the newest, daily, weekly and monthly ones")
	check := func() error {
		span, err := cli.ParseDuration(*every)
		switch {
		case err != nil || span < time.Second:
			return cli.Wrong(flags, cli.WrongTime("backup-every", "24h or 7d", *every, err).Error())
		case o.backups.Keep < 1:
			return cli.Wrong(flags, "--backup-keep takes 1 or more")
		case o.backups.Dir == "" && (flags.Changed("backup-every") || flags.Changed("backup-keep")):
			return cli.Usage("--backup-every and --backup-keep need a folder for the backups", cli.TypedLine(flags, 0)+" --backup-dir DIR")
		}
		o.again, o.backups.Every = cli.TypedLine(flags, 0, "listen"), span
		if command != "serve" {
			o.again = cli.AsAdministrator(o.again)
		}
		return o.check()
	}
	return service.Serving{Flags: flags, Check: check, Run: func() error { return runDaemon(env, o, prepare) }}
}

// newServiceServing is newServing for the installed service, whose flags service
// install takes. Nobody reads what it prints, so it never prints a key.
func newServiceServing(env cli.Env, help string) service.Serving {
	return newServing(env, "service install", help, func(_ cli.Env, s *store.Store, _ reach) error {
		empty, err := s.Empty()
		if err != nil || !empty {
			return err
		}
		return s.AddDepartments([]store.Department{{Name: firstDepartment}})
	})
}

// reach is how clients reach a server.
type reach struct {
	url, page string // page is the URL again, or empty without the office page
	trust     string // options by which curl trusts the certificate
}

// prepareFunc makes an open database ready to be served.
type prepareFunc func(env cli.Env, s *store.Store, at reach) error

// daemon serves a database until the program must stop.
type daemon struct {
	env cli.Env
	serveOptions
	prepare   prepareFunc
	page      string               // URL of the office page; empty without it
	noted     *string              // the URL in the database; nil before there is one
	addr      net.Addr             // of the listener
	authority *authority.Authority // nil without --tls-self-signed
	web       *httpserver.Server
	scheduler *backup.Scheduler // nil without backups
	guard     *guard.Guard      // of the open database
	log       *slog.Logger
	manager   managers.Manager // that has started this process
}

// otherFiles is how many files may be open beside connections and the database:
// 10 for the streams, the network, the lock and Go itself, and a dozen for a
// backup, the scrub and a certificate.
const otherFiles = 22

// runDaemon opens the database, prepares it and serves it.
func runDaemon(env cli.Env, o serveOptions, prepare prepareFunc) error {
	stderr := logqueue.New(env.Stderr, cli.IsTerminal(env.Stderr))
	defer stderr.Close(time.Second)
	env.Stderr = stderr // so that notes and the log keep their order
	log := stderr.Logger()
	signer, err := o.certify(log)
	if err != nil {
		return schema.Advise(env.Context, err, o.db, "")
	}
	web, err := httpserver.New(httpserver.Config{CertFile: o.certFile, KeyFile: o.keyFile,
		OtherFiles: sqlite.OpenFiles + otherFiles, Log: log})
	if errors.Is(err, httpserver.ErrFewFiles) {
		return cli.WithHint(err, "raise the limit of open files: ulimit -n 1024")
	}
	if err != nil {
		return cli.WithHint(err, "name PEM files that belong together, and start as a user who may read them")
	}
	d := daemon{env: env, serveOptions: o, prepare: prepare, authority: signer, web: web, log: log, manager: managers.NewManager(os.Getenv)}
	if o.backups.Dir != "" {
		d.scheduler = backup.NewScheduler(schema.Content(), o.db, o.backups, log)
	}
	return schema.Advise(env.Context, d.run(), o.db, o.backups.Dir)
}

// run listens before it opens the database. Clients that connect meanwhile wait
// until the database is ready.
func (d *daemon) run() error {
	if err := database.RefuseLink(d.db); err != nil {
		return err
	}
	path := osutil.Resolve(d.db)
	if err := schema.Format.Inspect(path); err != nil && !errors.Is(err, sqlite.ErrNotExist) {
		return err
	}
	listener, err := d.openListener(path)
	if err != nil {
		return err
	}
	defer listener.Close()
	release, err := d.claim(path)
	if err != nil {
		return err
	}
	defer release()
	s, err := schema.Open(d.env, d.db, true)
	if err != nil {
		return err
	}
	caution.OfSchema(d.env, schema.Format, s.DB(), d.db)
	d.guard, err = guard.New(s.DB(), d.db, database.Guarded, d.log)
	if err != nil {
		return cmp.Or(s.Close(), err)
	}
	return cmp.Or(d.answer(s, listener), d.close(s))
}

// answer prepares the store and answers requests from it. When the program must
// stop it lets those in flight finish.
func (d *daemon) answer(s *store.Store, listener net.Listener) error {
	if err := s.SaveClock(); err != nil && !caution.OfFullDisk(d.env, err) {
		return &sqlite.FileError{Op: "writing to", Path: d.db, Err: err}
	}
	d.addr = listener.Addr()
	url := d.url(d.addr)
	if !d.noOffice {
		d.page = url
	}
	if err := d.prepare(d.env, s, reach{url, d.page, d.trust()}); err != nil {
		return err
	}
	if err := d.noteAddress(s); err != nil {
		return &sqlite.FileError{Op: "writing to", Path: d.db, Err: err}
	}
	caution.OfExposure(d.env, listener.Addr(), d.db, d.keyFile)
	if d.authority != nil {
		caution.OfTrust(d.env, listener.Addr(), d.authority.PublicFile(), url+authority.Path, d.db)
	}
	if d.backups != (backup.Options{}) { // demo makes none
		caution.OfBackups(d.env, d.backups.Dir, d.db)
	}
	debug.SetGCPercent(heapGrowth)
	debug.SetMemoryLimit(heapLimit)
	api := newServer(s, d.log)
	d.configure(api, listener.Addr())
	defer d.work(api)()
	if err := d.env.Announce("Listening on " + url); err != nil {
		d.log.Warn("standard output could not be written", "listening", url, "cause", err.Error())
	}
	defer d.tellManager(url)()
	return d.web.Serve(d.env.Context, listener, api)
}

// The heap may grow to five times what is in use, because most of it belongs
// to requests that are done, but not beyond heapLimit.
const (
	heapGrowth = 400 // percent
	heapLimit  = 96 << 20
)

// claim makes sure that this process alone serves the database, and that the
// database is ready to be opened, until release. It upgrades an old database
// here, because an upgrade takes the same lock. The upgrade in Schema.Open, for
// all other commands, then finds nothing to do.
func (d *daemon) claim(path string) (release func() error, err error) {
	if err := schema.Upgrade(d.env, path); err != nil {
		return nil, err
	}
	release, err = backup.Lock(path)
	if err != nil {
		return nil, err
	}
	guard.RemoveLeftovers(path)
	if err := sqlite.RefuseLinked(path); err != nil {
		release()
		return nil, err
	}
	caution.OfPlace(d.env, path)
	if err := d.checkLoss(path); err != nil {
		release()
		return nil, err
	}
	if errors.Is(schema.Format.Inspect(path), sqlite.ErrNotExist) {
		caution.OfNewDatabase(d.env, schema.Content(), d.db, d.backups.Dir)
	}
	return release, nil
}

// checkLoss refuses to make a database where one was lost, unless --new was typed. A
// sound one that is in its place is served.
func (d *daemon) checkLoss(path string) error {
	lost := guard.RefuseNew(path)
	if lost == nil {
		return nil
	}
	err := schema.Format.Inspect(path)
	if err == nil {
		_, err = schema.Format.Verify(path)
	}
	switch {
	case errors.Is(err, sqlite.ErrNotExist) && !d.makeNew:
		return lost
	case err != nil && !errors.Is(err, sqlite.ErrNotExist):
		return err
	}
	if err := guard.Forget(path); err != nil {
		return &sqlite.FileError{Op: "opening", Path: path, Err: err}
	}
	return nil
}

// openListener listens. If the port is taken, and nobody has asked for that one,
// it listens on another and says so.
func (d *daemon) openListener(path string) (net.Listener, error) {
	host, port, _ := net.SplitHostPort(d.listen)
	listener, err := httpserver.Listen(d.listen)
	if d.anyPort && errors.Is(err, httpserver.ErrPortTaken) {
		d.env.Notef("Port %s is taken, so this listens on another.", port)
		listener, err = httpserver.Listen(net.JoinHostPort(host, "0"))
	}
	if err != nil {
		return nil, d.cannotListen(path, err)
	}
	return listener, nil
}

// cannotListen says what to type, above all if the database is being served already.
func (d *daemon) cannotListen(path string, err error) error {
	host, port, _ := net.SplitHostPort(d.listen)
	switch {
	case errors.Is(err, httpserver.ErrNotOurs), errors.Is(err, httpserver.ErrNoHost):
		return cli.WithHint(err, fmt.Sprintf("0.0.0.0:%s for all addresses of this machine, or for it alone: %s --listen %s",
			port, d.again, net.JoinHostPort("127.0.0.1", port)))
	case errors.Is(err, httpserver.ErrPortTaken):
		if osutil.Exists(path + "-lock") {
			release, err := backup.Lock(path)
			if err != nil {
				return err
			}
			release()
		}
		err = fmt.Errorf("port %s is used by another program", port)
	case osutil.TooManyFiles(err):
		return err
	}
	next := "8081"
	if port == next {
		next = "8082"
	}
	return cli.WithHint(err, fmt.Sprintf("another port: %s --listen %s", d.again, net.JoinHostPort(host, next)))
}

// url returns the URL of a server at addr, by which its clients reach it.
func (d *daemon) url(addr net.Addr) string {
	_, port, _ := net.SplitHostPort(addr.String())
	scheme, host := "http://", httpserver.HostOf(addr)
	if d.certFile != "" {
		scheme = "https://"
	}
	if d.authority != nil {
		host = d.authority.HostFor(host)
	}
	return scheme + net.JoinHostPort(host, port)
}

func isLoopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// configure sets what the flags ask for in a server at addr.
func (d *daemon) configure(api *server, addr net.Addr) {
	api.auth.limit = httpapi.NewRateLimit(d.rateLimit, time.Now)
	api.cors = httpapi.CORS{Origins: d.origins}
	api.loopbackOnly = isLoopback(addr)
	api.tls = d.certFile != "" && d.authority == nil // other services on localhost may have no TLS
	d.offerAuthority(api)
	if !d.noOffice {
		_, port, _ := net.SplitHostPort(addr.String())
		api.office = office.New(site.Config{
			Store: api.store, Keys: api.auth, Log: d.log, Refusals: api.auth.refusals,
			Port: port, TLS: d.certFile != "", Explain: api.explain,
		})
	}
	if d.scheduler != nil {
		api.backupState = func() any { return backupState(d.scheduler.State()) }
	}
}
