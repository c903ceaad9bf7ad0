// Package daemon runs the server for serve, demo and the installed service. The functions of
// daemon.go are in the order of their calls, from listening to closing the database.
package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/guard"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/authority"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/web/callers"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/httpserver"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// Commands has the dependencies of the commands in this package.
type Commands struct {
	Database database.Schema
	NewAPI   func(site.Service) http.Handler
}

// All returns the commands of this package.
func (c Commands) All() []*cobra.Command { return []*cobra.Command{c.serveCommand(), c.demoCommand()} }

type daemon struct {
	Commands
	Options                // the flags, with the backups that the settings set
	flagged backup.Options // the backups that the flags set
	service site.Service
	env     cli.Env
	manager managers.Manager
	web     *httpserver.Server
	door    door
	ended   chan error // what web.Serve returned; nil before it was called

	listener   net.Listener       // the main one: for other devices if they may connect
	local      net.Listener       // without TLS, for this computer; may be nil
	others     *httpserver.Server // nil unless the settings allow other devices
	stopOthers func()             // requests in flight finish
	serving    sync.WaitGroup     // of others
	trouble    error              // why others is nil although the settings allow other devices
	guard      *guard.Guard
	noted      []string  // the URLs in the database
	heap       int64     // memory limit
	clock      time.Time // at the last call of checkClock

	reloads   chan reload
	restored  *site.RestoredBackup     // the result of the last restore
	opened    func(*store.Store) error // what to do in the restored database; nil without one
	announced string                   // the URL in the log
	warnings  int                      // the number of warnings that do not depend on the settings
	noting    sync.Mutex

	backing      context.Context   // ends when backups must
	scheduler    *backup.Scheduler // nil without backups
	scheduled    backup.Options    // of scheduler
	stopBackups  func()
	backupsEnded chan struct{} // closed when the last scheduler has ended
}

// Run serves a database until the context of env ends. Then it returns nil.
func (c Commands) Run(env cli.Env, o Options) error {
	env.Warnings = new([]string)
	d := &daemon{Commands: c, Options: o, env: env, manager: managers.NewManager(os.Getenv)}
	d.reloads, d.backupsEnded, d.door.inside = make(chan reload), make(chan struct{}), new(sync.WaitGroup)
	close(d.backupsEnded)
	d.door.close() // other devices can connect before there is a handler
	d.service = site.Service{
		Log:       cli.NewLog(env.Stderr, cli.IsTerminal(env.Stderr)),
		Started:   time.Now(),
		Tries:     site.NewTries(),
		Origins:   o.Origins,
		PublicURL: o.PublicURL,
		Office:    !o.NoOffice,
		Phones:    !o.NoPhones,
		Installed: o.Installed,
		Invented:  o.invented != nil,
	}
	if err := d.certify(); err != nil {
		return c.Database.Advise(env.Context, err, d.DB, "")
	}
	if err := d.newWeb(); err != nil {
		return err
	}
	if d.othersAt == "" { // not a test
		d.othersAt, d.hides = othersPort, managers.Host{}.Hides
	}
	d.flagged = d.Backups
	err := d.live()
	if errors.Is(err, context.Canceled) && env.Context.Err() != nil { // while it was starting
		return nil
	}
	if errors.Is(err, backup.ErrMissing) && !d.Installed {
		return err // Explain also has the command line
	}
	return c.Database.Advise(env.Context, err, d.DB, d.Backups.Dir)
}

func (d *daemon) certify() (err error) {
	if !d.SelfSigned {
		return nil
	}
	d.service.Authority, err = authority.Open(authority.Options{Folder: authority.Folder(d.DB), Listen: d.Listen, Log: d.service.Log})
	switch {
	case errors.Is(err, authority.ErrLost):
		const hint = "to create a new authority, which every computer must trust again: firefighters cert --new --db "
		return cli.WithHint(err, hint+cli.Quote(d.DB))
	case errors.Is(err, fs.ErrNotExist):
		return &sqlite.FileError{Op: "opening", Path: d.DB, Err: sqlite.ErrNoFolder}
	case err == nil:
		d.CertFile, d.KeyFile = d.service.Authority.ServerFile(), d.service.Authority.ServerFile()
	}
	return err
}

// otherFiles is the maximum number of open files besides connections and the database: 10 for the
// standard streams, the network, the lock and the Go runtime, and 12 for a backup, an integrity check
// and a certificate.
const otherFiles = 22

func (d *daemon) newWeb() (err error) {
	d.web, err = httpserver.New(httpserver.Config{
		CertFile: d.CertFile, KeyFile: d.KeyFile,
		OtherFiles: sqlite.OpenFiles + otherFiles, Log: d.service.Log,
	})
	if errors.Is(err, httpserver.ErrFewFiles) {
		return cli.WithHint(err, "ulimit -n 1024")
	}
	return err
}

// live locks, opens, serves and closes the database, and again after a restore. It listens before it
// opens the database, so that a port in use changes nothing on disk and early clients wait.
func (d *daemon) live() error {
	release, err := d.Database.Lock(d.DB)
	if err != nil {
		return err
	}
	defer release()
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
	for warnings := len(*d.env.Warnings); ; {
		*d.env.Warnings = (*d.env.Warnings)[:warnings]
		if err := d.open(); err != nil {
			return err
		}
		next, err := d.answer()
		if err := cmp.Or(err, d.close()); err != nil || next == nil {
			return err
		}
		d.restore(next)
	}
}

func (d *daemon) listen() error {
	host, port, _ := net.SplitHostPort(d.Listen)
	listener, err := httpserver.Listen(d.Listen)
	if d.anyPort && errors.Is(err, httpserver.ErrPortTaken) {
		d.env.Notef("Port %s is in use, so demo uses another one.", port)
		listener, err = httpserver.Listen(net.JoinHostPort(host, "0"))
	}
	if err != nil {
		return d.cannotListen(err)
	}
	d.listener = listener
	return nil
}

// listenLocally opens a listener for this computer if the main listener serves TLS to other computers.
// If the default port is in use, it only warns.
func (d *daemon) listenLocally() error {
	if d.Local == "" || d.CertFile == "" || isLoopback(d.listener.Addr()) {
		return nil
	}
	_, port, _ := net.SplitHostPort(d.Local)
	if port == portOf(d.listener) {
		return d.cannotListenLocally(fmt.Errorf("cannot listen on %s: %w", d.Local, httpserver.ErrPortTaken))
	}
	local, err := httpserver.Listen(d.Local)
	if err != nil {
		return d.cannotListenLocally(err)
	}
	if !isLoopback(local.Addr()) { // localhost may resolve to any address
		local.Close()
		return cli.WithHint(fmt.Errorf("%s is not a loopback address", d.Local), "--local "+defaultLocal)
	}
	d.local = local
	return nil
}

func (d *daemon) cannotListenLocally(err error) error {
	hint := "another port, --local 127.0.0.1:8081, or --local " + noLocal
	if d.Local != defaultLocal {
		return cli.WithHint(err, hint)
	}
	d.env.Warn(fmt.Sprintf("plain HTTP is not available on this computer: %v", err), hint)
	return nil
}

// cannotListen adds a hint to an error of listen.
func (d *daemon) cannotListen(err error) error {
	host, port, _ := net.SplitHostPort(d.Listen)
	if errors.Is(err, httpserver.ErrNotOurs) || errors.Is(err, httpserver.ErrNoHost) {
		return cli.WithHint(err, fmt.Sprintf("for all addresses of this computer: %s --listen 0.0.0.0:%s\n"+
			"for this computer only: %[1]s --listen 127.0.0.1:%[2]s", d.again, port))
	}
	next := "8081"
	if port == next {
		next = "8082"
	}
	hint := "another port: " + d.again + " --listen " + net.JoinHostPort(host, next)
	if errors.Is(err, httpserver.ErrPortTaken) {
		err = fmt.Errorf("port %s is used by another program", port)
		if !d.Installed && d.env.ServiceDB != nil && d.env.ServiceDB() != "" {
			hint = "to open the page of the installed service: firefighters open\n" + hint
		}
	}
	return cli.WithHint(err, hint)
}

func (d *daemon) open() (err error) {
	warnOfPlace(d.env, osutil.Resolve(d.DB))
	d.service.Store, err = d.Database.OpenLocked(d.env, d.DB, d.Backups.Dir, d.makeNew)
	if err != nil {
		return err
	}
	warnOfSchema(d.env, d.Database.Format, d.service.Store.DB(), d.DB)
	d.guard, err = guard.New(d.service.Store, d.DB, d.service.Log)
	if err != nil {
		d.service.Store.Close()
	}
	return err
}

// The heap may grow to five times its live size, because most garbage is from finished requests, but
// only up to heapLimit. Open connections raise the limit, because garbage collection cannot free them.
const (
	heapGrowth = 400 // percent
	heapLimit  = 80 << 20
	connection = 32 << 10 // bytes of a connection with a waiting request
)

// limitMemory sets the memory limit for the current number of connections.
func (d *daemon) limitMemory() error {
	if limit := heapLimit + connection*int64(d.web.Open()); limit != d.heap {
		debug.SetMemoryLimit(limit)
		d.heap = limit
	}
	return nil
}

// answer prepares the database and serves requests until the context of env ends, or until it must
// be restored. Requests in flight finish.
func (d *daemon) answer() (*restoring, error) {
	d.service.Store.BeginEpoch()
	if err := d.noteAddress(); err != nil {
		return nil, &sqlite.FileError{Op: "writing to", Path: d.DB, Err: err}
	}
	if d.noted == nil {
		d.env.Warn("the disk of the database is full: the records are read-only", "")
	}
	prepare := d.addFirst
	if d.invented != nil {
		prepare = d.invent
	}
	if err := prepare(); err != nil {
		return nil, err
	}
	if opened := d.opened; opened != nil {
		d.opened = nil
		if err := opened(d.service.Store); err != nil {
			d.service.Log.Warn("cannot keep the session of the person who restored the backup", "cause", err.Error())
		}
	}
	debug.SetGCPercent(heapGrowth)
	d.limitMemory()
	d.service.Callers = callers.New(d.service.Store, d.service.Log, httpapi.NewRateLimit(d.RateLimit, time.Now))
	d.warnings, d.clock = len(*d.env.Warnings), time.Now()
	defer d.startBackground()()
	return d.follow()
}

// follow applies the settings, now and when that is asked for, until the context of env ends or until the
// database must be restored.
func (d *daemon) follow() (*restoring, error) {
	listener, local := d.listener, d.local // of the flags, unless they already serve
	for asked := (reload{}); ; {
		end := d.apply()
		if asked.done != nil {
			close(asked.done)
		}
		late := d.warn()
		if d.ended == nil {
			d.serve(listener, local)
		}
		for asked = (reload{}); asked.done == nil; {
			select {
			case err := <-d.ended:
				end()
				d.serveOthers(false)
				d.serving.Wait()
				return nil, err
			case texts := <-late:
				d.noteWarnings(texts...)
			case asked = <-d.reloads:
			}
		}
		if asked.next != nil {
			d.door.close()
			close(asked.done)
		}
		end()
		if asked.next != nil {
			d.door.empty()
			return asked.next, nil
		}
	}
}

// serve begins to serve requests, and reports that.
func (d *daemon) serve(listener, local net.Listener) {
	url := d.url()
	if err := d.env.Announce("Listening on " + url); err != nil {
		d.service.Log.Warn("cannot write to standard output", "listening", url, "cause", err.Error())
	}
	d.notifyManager(url)
	d.ended = make(chan error, 1)
	go func() { d.ended <- d.web.Serve(d.env.Context, listener, local, &d.door) }()
}

// warn reports the risks of the settings, and new addresses. It returns a channel for the warnings if the
// disk of the backups is slow.
func (d *daemon) warn() (late <-chan []string) {
	env, found := d.env, make(chan []string, 1)
	env.Warnings = new([]string)
	warnOfExposure(env, d.listener.Addr(), d.DB, d.KeyFile)
	url := d.url()
	isNew := url != d.announced
	d.announced = url
	if isNew && d.service.Authority != nil && !isLoopback(d.listener.Addr()) {
		env.Notef("Other computers must trust this certificate once: %s", cli.Quote(d.service.Authority.PublicFile()))
		env.Notef("Phones can download it: %s", url+authority.Path)
		env.Notef("Instructions for each system: firefighters cert --db %s", cli.Quote(d.DB))
	}
	go func(o backup.Options) {
		if d.invented == nil {
			warnOfBackups(env, o, d.DB)
		}
		found <- *env.Warnings
	}(d.Backups)
	select {
	case texts := <-found:
		d.noteWarnings(texts...)
	case <-time.After(slowDisk):
	}
	if isNew && d.local != nil {
		d.env.Notef("On this computer, without a certificate: %s", d.localURL())
	}
	return found
}

// noteWarnings adds warnings of the installed service, and stores all for status.
func (d *daemon) noteWarnings(texts ...string) {
	d.noting.Lock()
	defer d.noting.Unlock()
	*d.env.Warnings = append(*d.env.Warnings, texts...)
	if !d.Installed {
		return
	}
	if err := backup.WriteNote(osutil.Resolve(d.DB), backup.NoteWarnings, *d.env.Warnings); err != nil {
		d.service.Log.Warn("cannot store the warnings", "cause", err.Error())
	}
}

// describe sets the fields of the service that depend on the open database, the listeners and the
// settings.
func (d *daemon) describe(stopping context.Context) {
	s, guard := &d.service, d.guard
	s.LoopbackOnly = isLoopback(d.listener.Addr())
	s.Port, s.LocalPort = portOf(d.listener), ""
	if d.local != nil {
		s.LocalPort = portOf(d.local)
	}
	s.Connections, s.Expires = d.web.Connections(), d.web.Expires
	if d.others != nil {
		s.Expires = d.others.Expires
	}
	s.Backups = nil
	if d.scheduler != nil {
		s.Backups = d.scheduler.State
	}
	s.Search = backup.Search{Database: d.DB, Options: d.Backups}
	s.Loss = func() string { return guard.Loss().Kind() }
	s.Stopping = stopping
}

func portOf(listener net.Listener) string {
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return port
}

// url returns the URL of the main listener.
func (d *daemon) url() string {
	scheme, host := "http://", httpserver.HostOf(d.listener.Addr())
	if d.CertFile != "" {
		scheme = "https://"
	}
	if a := d.service.Authority; a != nil {
		host = a.HostFor(host)
	}
	return scheme + net.JoinHostPort(host, portOf(d.listener))
}

// linkURL returns the URL for links.
func (d *daemon) linkURL() string { return cmp.Or(d.PublicURL, d.url()) }

// localURL returns the URL for this computer, without TLS if there are two.
func (d *daemon) localURL() string {
	if d.local == nil {
		return d.url()
	}
	return "http://" + d.local.Addr().String()
}

func isLoopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// notifyManager reports to the service manager that the service is ready and, when the context ends,
// that it is stopping.
func (d *daemon) notifyManager(url string) {
	logFailure := func(err error) {
		if err != nil {
			d.service.Log.Warn(reportFailure, "cause", err.Error())
		}
	}
	context.AfterFunc(d.env.Context, func() { logFailure(d.manager.Stopping()) })
	logFailure(d.manager.Ready("Listening on " + url))
}

// LostError is the error for a database that was lost while it was served.
type LostError struct {
	error
	Before   string // instructions to follow before the restore; may be empty
	File, DB string // the backup or copy to restore, and the database
}

func (e *LostError) Unwrap() error { return e.error }

// hint returns the hint for a database that is not of the service.
func (e *LostError) hint() string {
	hint := e.Before + database.RestoreLine(e.File, e.DB)
	if e.Before != "" {
		hint += "; " + database.OrNew(e.DB)
	}
	return hint
}

// close closes the database. The error is a LostError with a hint if the database was lost.
func (d *daemon) close() error {
	loss := d.guard.End()
	if loss == nil {
		return d.service.Store.Close()
	}
	db := cli.Quote(loss.Path)
	if loss.Closable() {
		if err := d.service.Store.Close(); err != nil {
			return err
		}
		if guard.RefuseLost(loss.Path) == nil { // unless another program has the database open
			return d.noteComplete(loss)
		}
	}
	lost := &LostError{File: loss.Saved, DB: loss.Path}
	switch {
	case loss.Overwritten():
		text := "later changes are missing, and keys revoked later may work again"
		if loss.Saved != "" {
			text += ". The readable part is saved as " + cli.Quote(loss.Saved) + ", which may mix two states"
		}
		lost.error = fmt.Errorf("%w: %s: %s", loss, db, text)
		d.withBackup(lost)
	case loss.Saved == "":
		lost.error = fmt.Errorf("%w, and could not be saved (%v): %s", loss, loss.Err, db)
		d.withBackup(lost)
	default:
		lost.error = fmt.Errorf("%w: %s. Its content is saved as %s", loss, db, cli.Quote(loss.Saved))
	}
	return cli.WithHint(lost, lost.hint())
}

// noteComplete reports that closing the database saved all changes.
func (d *daemon) noteComplete(loss *guard.Loss) error {
	if err := guard.Forget(loss.Path); err != nil {
		return err
	}
	text := fmt.Sprintf("%v. It was still open, and %s is complete again.", loss, cli.Quote(loss.Path))
	if loss.Saved != "" {
		text += " You can delete the safety copy " + cli.Quote(loss.Saved) + "."
	}
	d.env.Note(text, "")
	return nil
}

// withBackup completes an error without a complete copy of the database. It recommends to copy the
// files and then restore the newest backup or, without a backup, the mixed copy.
func (d *daemon) withBackup(lost *LostError) {
	lost.Before = "first copy " + cli.Quote(lost.DB) + " and the files next to it to another folder; then: "
	lost.File = cmp.Or(lost.File, "FILE")
	if files := backup.Files(d.Database.Format, d.DB, d.Backups.Dir); len(files) > 0 {
		lost.File = files[0].Path
	}
}
