// Package daemon has the whole life of a server. daemon.go tells it in order: it
// listens, opens the database, prepares and serves it, and stops. What runs beside the
// requests is in beside.go. serve, demo and the installed service lead such a life.
package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/guard"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/authority"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/web/httpserver"
)

// Commands are the commands of this package, and what they are handed.
type Commands struct {
	Database database.Schema
	NewAPI   func(Config) API
}

// Config is what the API must know of the daemon.
type Config struct {
	Store     *store.Store
	Log       *slog.Logger
	RateLimit int      // requests per second and key; 0 is no limit
	Origins   []string // of the pages that may use the API
	Office    bool     // with the page for people
	Phones    bool     // with the address book and the calendar for phones
	Port      string
	Local     bool   // it listens on this machine alone
	LocalPort string // of HTTP for this machine alone, beside HTTPS for all; empty: there is none
	TLS       bool
	Expires   func() time.Time     // when the certificate does; zero without TLS
	Authority *authority.Authority // that made its certificate; nil for another certificate, or none
	Backups   func() backup.State  // nil without backups
	Search    backup.Search        // for backups that hold something
	Installed bool                 // it is the service of the PC
	Invented  bool                 // its people are invented: it has no flag for backups
	Loss      func() string        // how the database was lost, as guard.Loss.Kind; "" if it was not

	Connections int             // open at the same time, at most
	Stopping    context.Context // ends when requests shall wait for nothing any more
}

// API answers requests. The other methods are called beside them, again and again.
type API interface {
	http.Handler
	ReloadKeys() error // what other processes have changed
	WriteLate() error  // the last use of keys and the time, unless that was done a short while ago
	Finish() error     // after the last request: logs and writes what is left
}

// Table returns the table of the commands.
func (c Commands) Table() []cli.Command {
	return []cli.Command{
		{Name: "serve", Also: "start run server", Summary: "serves the API", Run: c.serve, Logs: true},
		{Name: "demo", Also: "try", Summary: "serves invented people, to try it out", Run: c.demo, Logs: true},
	}
}

// daemon is a server of a database, until the program must stop.
type daemon struct {
	Commands
	Options
	env       cli.Env
	log       *slog.Logger
	manager   managers.Manager     // the one that has started this process
	authority *authority.Authority // nil without --tls-self-signed
	web       *httpserver.Server
	scheduler *backup.Scheduler // nil without backups

	listener net.Listener
	local    net.Listener // without TLS, for this machine alone; nil: there is none
	store    *store.Store
	guard    *guard.Guard // of the open database
	noted    string       // the URL in the database; empty before there is one
	heap     int64        // the limit of the heap
	api      API
}

// Run serves a database until the program must stop.
func (c Commands) Run(env cli.Env, o Options) error {
	d := &daemon{Commands: c, Options: o, env: env, log: cli.NewLog(env.Stderr, cli.IsTerminal(env.Stderr)), manager: managers.NewManager(os.Getenv)}
	if err := d.certify(); err != nil {
		return c.Database.Advise(env.Context, err, d.DB, "")
	}
	if err := d.newWeb(); err != nil {
		return err
	}
	if d.Backups.Dir != "" {
		d.scheduler = backup.NewScheduler(c.Database, d.DB, d.Backups, d.log)
	}
	return c.Database.Advise(env.Context, d.live(), d.DB, d.Backups.Dir)
}

// certify makes the certificate of --tls-self-signed, or renews it.
func (d *daemon) certify() (err error) {
	if !d.SelfSigned {
		return nil
	}
	d.authority, err = authority.Open(authority.Options{Folder: authority.Folder(d.DB), Listen: d.Listen, Log: d.log})
	switch {
	case errors.Is(err, authority.ErrLost):
		return cli.WithHint(err, "another authority, which each machine must trust again: firefighters cert --new --db "+cli.Quote(d.DB))
	case errors.Is(err, fs.ErrNotExist):
		return &sqlite.FileError{Op: "opening", Path: d.DB, Err: sqlite.ErrNoFolder}
	case err == nil:
		d.CertFile, d.KeyFile = d.authority.ServerFile(), d.authority.ServerFile()
		d.Backups.Authority = d.authority.PrivateFile()
	}
	return err
}

// otherFiles is how many files may be open beside connections and the database:
// 10 for the streams, the network, the lock and Go itself, and a dozen for a
// backup, the scrub and a certificate.
const otherFiles = 22

// newWeb makes the HTTP server.
func (d *daemon) newWeb() (err error) {
	d.web, err = httpserver.New(httpserver.Config{CertFile: d.CertFile, KeyFile: d.KeyFile, OtherFiles: sqlite.OpenFiles + otherFiles, Log: d.log})
	switch {
	case errors.Is(err, httpserver.ErrFewFiles):
		return cli.WithHint(err, "raise the limit of open files: ulimit -n 1024")
	case err != nil:
		return cli.WithHint(err, "name PEM files that belong together, and start as a user who may read them")
	}
	return nil
}

// live listens before it opens the database: clients that connect meanwhile wait until
// that is ready.
func (d *daemon) live() error {
	if err := d.listen(); err != nil {
		return err
	}
	defer d.listener.Close()
	if err := d.listenLocally(); err != nil {
		return err
	}
	if d.local != nil {
		defer d.local.Close()
	}
	release, err := d.claim()
	if err != nil {
		return err
	}
	defer release()
	if err := d.open(); err != nil {
		return err
	}
	return cmp.Or(d.answer(), d.close())
}

// listen opens the listener, unless there is something at the path that is no database.
func (d *daemon) listen() error {
	if err := database.RefuseRedirect(d.DB); err != nil {
		return err
	}
	path := osutil.Resolve(d.DB)
	if err := backup.Inspect(d.Database, path); err != nil && !errors.Is(err, sqlite.ErrNotExist) {
		return err
	}
	host, port, _ := net.SplitHostPort(d.Listen)
	listener, err := httpserver.Listen(d.Listen)
	if d.anyPort && errors.Is(err, httpserver.ErrPortTaken) {
		d.env.Notef("Port %s is taken, so this listens on another.", port)
		listener, err = httpserver.Listen(net.JoinHostPort(host, "0"))
	}
	if err != nil {
		return d.cannotListen(path, err)
	}
	d.listener = listener
	return nil
}

// listenLocally opens a listener for this machine alone if the other one speaks TLS to
// others. It goes without where its usual port is taken.
func (d *daemon) listenLocally() error {
	if d.Local == "" || d.CertFile == "" || isLoopback(d.listener.Addr()) {
		return nil
	}
	_, port, _ := net.SplitHostPort(d.Local)
	if _, other, _ := net.SplitHostPort(d.listener.Addr().String()); port == other {
		return d.cannotListenLocally(fmt.Errorf("cannot listen on %s: %w", d.Local, httpserver.ErrPortTaken))
	}
	local, err := httpserver.Listen(d.Local)
	if err != nil {
		return d.cannotListenLocally(err)
	}
	if !isLoopback(local.Addr()) { // localhost can be anything
		local.Close()
		return cli.WithHint(fmt.Errorf("%s is not an address of this machine alone", d.Local), "--local "+defaultLocal)
	}
	d.local = local
	return nil
}

func (d *daemon) cannotListenLocally(err error) error {
	hint := fmt.Sprintf("another port: --local 127.0.0.1:8081, or none: --local %s", noLocal)
	if d.Local != defaultLocal {
		return cli.WithHint(err, hint)
	}
	d.env.Warn(fmt.Sprintf("this machine has no address of its own without TLS: %v", err), hint)
	return nil
}

// cannotListen says what to type, above all if the database is being served already.
func (d *daemon) cannotListen(path string, err error) error {
	host, port, _ := net.SplitHostPort(d.Listen)
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
	}
	next := "8081"
	if port == next {
		next = "8082"
	}
	return cli.WithHint(err, fmt.Sprintf("another port: %s --listen %s", d.again, net.JoinHostPort(host, next)))
}

// claim makes sure that this process alone serves the database, until release, and that
// the database is ready to be opened. It upgrades an old one here, because an upgrade
// takes the same lock: open then finds nothing to upgrade.
func (d *daemon) claim() (release func() error, err error) {
	path := osutil.Resolve(d.DB)
	if err := d.Database.Upgrade(d.env, path); err != nil {
		return nil, err
	}
	release, err = backup.Lock(path)
	if err != nil {
		return nil, err
	}
	guard.RemoveLeftovers(path)
	warnOfPlace(d.env, path)
	if err := d.checkLoss(path); err != nil {
		release()
		return nil, err
	}
	if errors.Is(d.Database.Files.Inspect(path), sqlite.ErrNotExist) {
		warnOfNewDatabase(d.env, d.Database, d.DB, d.Backups.Dir)
	}
	return release, nil
}

// checkLoss refuses to go on without what was lost, unless --new was typed.
func (d *daemon) checkLoss(path string) error {
	if err := guard.RefuseLost(path); err != nil && !d.makeNew {
		return err
	}
	if err := guard.Forget(path); err != nil {
		return &sqlite.FileError{Op: "opening", Path: path, Err: err}
	}
	return nil
}

// open opens the database, and makes a missing one.
func (d *daemon) open() (err error) {
	d.store, err = d.Database.Open(d.env, d.DB, true)
	if err != nil {
		return err
	}
	warnOfSchema(d.env, d.Database.Files, d.store.DB(), d.DB)
	d.guard, err = guard.New(d.store, d.DB, d.log)
	if err != nil {
		return cmp.Or(d.store.Close(), err)
	}
	return nil
}

// The heap may grow to five times what is in use, because most of it belongs
// to requests that are done, but not beyond heapLimit. Open connections come on top of
// that: to collect garbage all the time would not make them smaller.
const (
	heapGrowth = 400 // percent
	heapLimit  = 80 << 20
	connection = 32 << 10 // bytes, with a request that waits
)

// limitMemory sets the limit of the heap for the connections that are open.
func (d *daemon) limitMemory() error {
	if limit := heapLimit + connection*int64(d.web.Open()); limit != d.heap {
		debug.SetMemoryLimit(limit)
		d.heap = limit
	}
	return nil
}

// answer prepares the database and answers requests from it. When the program must stop
// it lets those in flight finish.
func (d *daemon) answer() error {
	if err := d.store.BeginEpoch(); err != nil && !warnOfFullDisk(d.env, err) {
		return &sqlite.FileError{Op: "writing to", Path: d.DB, Err: err}
	}
	prepare := d.addFirst
	if d.invented != nil {
		prepare = d.invent
	}
	if err := prepare(); err != nil {
		return err
	}
	if err := d.noteAddress(); err != nil {
		return &sqlite.FileError{Op: "writing to", Path: d.DB, Err: err}
	}
	warnOfExposure(d.env, d.listener.Addr(), d.DB, d.KeyFile)
	if d.authority != nil {
		sayTrust(d.env, d.listener.Addr(), d.authority.PublicFile(), d.url()+authority.Path, d.DB)
	}
	if d.invented == nil {
		warnOfBackups(d.env, d.Backups, d.DB)
	}
	if d.local != nil {
		d.env.Notef("On this machine alone, without a certificate: %s", d.localURL())
	}
	debug.SetGCPercent(heapGrowth)
	d.limitMemory()
	d.api = d.NewAPI(d.config())
	defer d.workBeside()()
	url := d.url()
	if err := d.env.Announce("Listening on " + url); err != nil {
		d.log.Warn("standard output could not be written", "listening", url, "cause", err.Error())
	}
	defer d.tellManager(url)()
	return d.web.Serve(d.env.Context, d.listener, d.local, d.api)
}

// config returns what the API must know.
func (d *daemon) config() Config {
	_, port, _ := net.SplitHostPort(d.listener.Addr().String())
	c := Config{Store: d.store, Log: d.log, RateLimit: d.RateLimit, Origins: d.Origins, Office: !d.NoOffice, Phones: !d.NoPhones,
		Port: port, Local: isLoopback(d.listener.Addr()), TLS: d.CertFile != "", Expires: d.web.Expires, Authority: d.authority, Installed: d.Installed, Invented: d.invented != nil,
		Connections: d.web.Connections(), Stopping: d.env.Context,
		Search: backup.Search{Content: d.Database, Database: d.DB, Options: d.Backups}, Loss: d.lossKind}
	if d.local != nil {
		_, c.LocalPort, _ = net.SplitHostPort(d.local.Addr().String())
	}
	if d.scheduler != nil {
		c.Backups = d.scheduler.State
	}
	return c
}

// lossKind returns how the database was lost, "" if it was not.
func (d *daemon) lossKind() string {
	if loss := d.guard.Loss(); loss != nil {
		return loss.Kind()
	}
	return ""
}

// url returns the URL by which clients reach the server.
func (d *daemon) url() string {
	addr := d.listener.Addr()
	_, port, _ := net.SplitHostPort(addr.String())
	scheme, host := "http://", httpserver.HostOf(addr)
	if d.CertFile != "" {
		scheme = "https://"
	}
	if d.authority != nil {
		host = d.authority.HostFor(host)
	}
	return scheme + net.JoinHostPort(host, port)
}

// localURL returns the URL by which this machine alone reaches the server without TLS.
func (d *daemon) localURL() string { return "http://" + d.local.Addr().String() }

func isLoopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// tellManager tells the service manager that the service is ready and, when the service
// must stop, that it stops. end ends the waiting for that moment.
func (d *daemon) tellManager(url string) (end func()) {
	tell := func(err error) {
		if err != nil {
			d.log.Warn("the service manager cannot be told", "cause", err.Error())
		}
	}
	stopped := context.AfterFunc(d.env.Context, func() { tell(d.manager.Stopping()) })
	tell(d.manager.Ready("Listening on " + url))
	return func() { stopped() }
}

// close closes the database. If that was lost, the error says what happened, and its hint what
// to type.
func (d *daemon) close() error {
	loss := d.guard.End()
	if loss == nil {
		return d.store.Close()
	}
	db := cli.Quote(loss.Path)
	if loss.Closable() {
		if err := d.store.Close(); err != nil {
			return err
		}
		if guard.RefuseLost(loss.Path) == nil { // unless another program has the database open
			return d.noteComplete(loss)
		}
	}
	switch {
	case loss.Overwritten():
		text := "later changes are missing, and keys that were revoked later may work again"
		if loss.Saved != "" {
			text += ". What could still be read is saved as " + cli.Quote(loss.Saved) + ", which may mix two states"
		}
		return cli.WithHint(fmt.Errorf("%w: %s: %s", loss, db, text), d.unsavedHint(loss.Saved))
	case loss.Saved == "":
		return cli.WithHint(fmt.Errorf("%w, and could not be saved (%s): %s", loss, backup.Reason(loss.Err), db), d.unsavedHint(""))
	}
	return cli.WithHint(fmt.Errorf("%w: %s. What was in it is saved as %s", loss, db, cli.Quote(loss.Saved)),
		fmt.Sprintf("firefighters restore %s --db %s", cli.Quote(loss.Saved), db))
}

// noteComplete says that closing the database has completed it.
func (d *daemon) noteComplete(loss *guard.Loss) error {
	if err := guard.Forget(loss.Path); err != nil {
		return err
	}
	d.env.Note(fmt.Sprintf("%v. It was still open, and everything is in %s again.", loss, cli.Quote(loss.Path)), "")
	if loss.Saved != "" {
		d.env.Notef("The copy that was made for safety can be deleted: %s", cli.Quote(loss.Saved))
	}
	return nil
}

// unsavedHint is what to type if no complete copy was saved: first copy the files, before anything
// writes to them, then restore the newest backup, or the mixed copy if there is none.
func (d *daemon) unsavedHint(mixed string) string {
	path := osutil.Resolve(d.DB)
	file := cli.Quote(cmp.Or(mixed, "FILE"))
	if files := backup.Files(d.Database, d.DB, d.Backups.Dir); len(files) > 0 {
		file = cli.Quote(files[0].Path)
	}
	return fmt.Sprintf("first copy %s and the files next to it to another folder; then: firefighters restore %s --db %s; %s",
		cli.Quote(path), file, cli.Quote(path), database.OrNew(path))
}
