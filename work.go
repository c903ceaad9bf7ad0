package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/guard"
	"github.com/firefighter-records/firefighters/internal/data/integrity"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/authority"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// What runs beside the answers of a server, and how it ends.

const (
	cleanInterval = 10 * time.Second       // between two looks for old responses, and at the certificate
	refusalsTick  = 100 * time.Millisecond // between two looks for refusals to log
)

// work starts what runs beside the answers of a server, and returns what stops
// it. A small database is scrubbed before work returns.
func (d *daemon) work(api *server) (stop func()) {
	var working sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	repeatedly := func(tick time.Duration, failure string, do func() error) {
		working.Go(func() { repeat(ctx, d.log, tick, failure, do) })
	}
	repeatedly(keysPoll, "the keys could not be read again", api.auth.reload)
	repeatedly(keysPoll, "the latest time seen could not be read again", api.store.FollowClock)
	repeatedly(time.Second, lateWrites, api.auth.writeLate)
	repeatedly(time.Second, "nothing can be written: the disk is full", api.store.DB().MakeWritable)
	repeatedly(time.Second, "nothing can be written", api.store.RetryWriting)
	repeatedly(time.Second, "the -wal could not be looked at", api.store.DB().CheckpointIdle)
	repeatedly(time.Second, "the address could not be written", func() error { return d.noteAddress(api.store) })
	if d.authority != nil {
		repeatedly(cleanInterval, "the certificate could not be renewed", d.authority.Renew)
	}
	repeatedly(refusalsTick, "refused requests could not be logged", func() error { api.auth.refusals.Flush(false); return nil })
	repeatedly(cleanInterval, "old answers could not be erased", func() error { return api.store.EraseOldReplays(ctx) })
	if interval := d.manager.Interval(); interval > 0 {
		repeatedly(interval, "no sign of life for the service manager", func() error { return d.showLife(api.store.Ping()) })
	}
	integrity.Scrub(ctx, api.store.DB(), d.log, working.Go)
	working.Go(func() { integrity.Daily(ctx, api.store.DB(), d.log) })
	backing, stopBackups := context.WithCancel(ctx)
	if d.scheduler != nil {
		working.Go(func() { d.scheduler.Run(backing) })
	}
	working.Go(func() { d.guard.Run(ctx, stopBackups) })
	return func() {
		cancel()
		working.Wait()
		api.auth.refusals.Flush(true)
		if err := errors.Join(api.auth.writeUses(), api.store.SaveClock(), api.store.SetAddress("")); err != nil && d.guard.Loss() == nil {
			d.log.Warn(lateWrites, "cause", err.Error())
		}
	}
}

// showLife tells the service manager that the service lives, if the database has
// answered. A restart heals neither a full disk nor the loss of the files: what is
// open then is all that is left of them. A ping that never ends shows no life.
func (d *daemon) showLife(ping error) error {
	if ping != nil && !errors.Is(ping, sqlite.ErrLost) && !errors.Is(ping, sqlite.ErrFull) {
		return ping
	}
	return d.manager.Alive()
}

// tellManager tells the service manager that the service is ready and, when it
// must stop, that it does. What it returns ends that.
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

// noteAddress writes the URL of the page into the database, from where commands
// take it for links. On a full disk that waits until there is room.
func (d *daemon) noteAddress(s *store.Store) error {
	if d.page != "" {
		d.page = d.url(d.addr) // a machine may get another address
	}
	if d.noted != nil && *d.noted == d.page {
		return nil
	}
	page := d.page
	err := s.SetAddress(page)
	if err == nil {
		d.noted = &page
	}
	if errors.Is(err, sqlite.ErrFull) { // of which there was a warning
		return nil
	}
	return err
}

const lateWrites = "the last use of keys and the time could not be written"

// repeat calls do at once and then at each tick, until ctx ends. When do begins
// to fail it logs that, once.
func repeat(ctx context.Context, log *slog.Logger, tick time.Duration, failure string, do func() error) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for failing := false; ; {
		err := safely(do)
		if err != nil && !failing && !errors.Is(err, sqlite.ErrLost) { // the guard has logged a loss
			log.Warn(failure, "cause", err.Error())
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// safely calls do and returns its panic as an error, so that a fault beside the
// requests does not end the service.
func safely(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return do()
}

// newestBackup returns the newest backup of a database that is not open any
// more, as it can be typed, but for one. It is empty if there is none.
func (d *daemon) newestBackup(but string) string {
	for _, file := range backup.Files(schema.Content(), d.db, d.backups.Dir) {
		if file.Path != but {
			return cli.Quote(file.Path)
		}
	}
	return ""
}

// close closes the database. If its files have gone it says what there is
// instead, and what to type.
func (d *daemon) close(s *store.Store) error {
	loss := d.guard.End()
	if loss == nil {
		return s.Close()
	}
	db := cli.Quote(osutil.Resolve(d.db))
	if loss.Closable() {
		if err := s.Close(); err != nil {
			return err
		}
		d.env.Notef("Note: %v. It was still open, and everything is in %s again.", loss, db)
		if loss.Saved != "" {
			d.env.Notef("The copy that was made for safety can be deleted: %s", cli.Quote(loss.Saved))
		}
		return nil
	}
	if loss.Saved == "" {
		return cli.WithHint(fmt.Errorf("%w, and could not be saved (%s): %s", loss, backup.Reason(loss.Err), db), d.unsavedHint())
	}
	hint := fmt.Sprintf("firefighters restore %s --db %s", cli.Quote(loss.Saved), db)
	if newest := d.newestBackup(loss.Saved); loss.Older() && newest != "" {
		hint += "; a backup may have later records: " + newest
	}
	return cli.WithHint(fmt.Errorf("%w: %s. What was in it is saved as %s", loss, db, cli.Quote(loss.Saved)), hint)
}

// unsavedHint says how to find out what is left in the files, before anything writes
// to them.
func (d *daemon) unsavedHint() string {
	path := osutil.Resolve(d.db)
	db, copies := cli.Quote(path), "put back what was moved"
	var there []string
	for _, suffix := range []string{"", "-wal", guard.AsideSuffix, "-shm"} {
		if osutil.Exists(path + suffix) {
			there = append(there, cli.Quote(path+suffix))
		}
	}
	if len(there) > 0 {
		copies = "copy " + strings.Join(there, " ") + " to another folder"
	}
	return fmt.Sprintf("first %s; then firefighters check --db %s; if it is sound and has what you expect, start again; if not: firefighters restore %s --db %s",
		copies, db, cmp.Or(d.newestBackup(""), "FILE"), db)
}

// certify opens the authority of --tls-self-signed, nil without that flag, and
// sets the files that it makes.
func (o *serveOptions) certify(log *slog.Logger) (*authority.Authority, error) {
	if !o.selfSigned {
		return nil, nil
	}
	a, err := authority.Open(authority.Options{Folder: authority.Folder(o.db), Listen: o.listen, Log: log})
	if errors.Is(err, authority.ErrLost) {
		return nil, cli.WithHint(err, "another authority, which each machine must trust again: firefighters cert --new --db "+cli.Quote(o.db))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &sqlite.FileError{Op: "opening", Path: o.db, Err: sqlite.ErrNoFolder}
	}
	if err == nil {
		o.certFile, o.keyFile = a.ServerFile(), a.ServerFile()
	}
	return a, err
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

// offerAuthority lets clients download the certificate of the authority.
func (d *daemon) offerAuthority(api *server) {
	if d.authority != nil {
		api.add(route{"GET", authority.Path, public, func(_ *server, w http.ResponseWriter, r *http.Request, _ string, _ caller) error {
			d.authority.ServeHTTP(w, r)
			return nil
		}, nil})
	}
}

// backupState is what /readyz says of the backups. No file is named in it.
type backupState struct {
	OK     bool       `json:"ok"`
	Last   *time.Time `json:"last,omitempty"`  // the time of the last valid backup
	Since  *time.Time `json:"since,omitempty"` // when they began to fail
	Detail string     `json:"detail,omitempty"`
}

// writingState is what /readyz says where nothing can be written.
type writingState struct {
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}
