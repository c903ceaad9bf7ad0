package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/firefighter-records/firefighters/internal/backup"
	"github.com/firefighter-records/firefighters/internal/cli"
	"github.com/firefighter-records/firefighters/internal/guard"
	"github.com/firefighter-records/firefighters/internal/integrity"
	"github.com/firefighter-records/firefighters/internal/osutil"
	"github.com/firefighter-records/firefighters/internal/sqlite"
	"github.com/firefighter-records/firefighters/internal/store"
)

// What runs beside the answers of a server, and how it ends. Below is what serve
// warns of first, and serves all the same.

const (
	cleanInterval = 10 * time.Second       // between two looks for old responses
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
	repeatedly(time.Second, "the address could not be written", func() error { return d.noteAddress(api.store) })
	repeatedly(refusalsTick, "refused requests could not be logged", func() error { api.auth.refusals.Flush(false); return nil })
	repeatedly(cleanInterval, "old answers could not be erased", func() error { return api.store.EraseOldResponses(ctx) })
	integrity.Scrub(ctx, api.store.DB(), d.log, working.Go)
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

// noteAddress writes the URL of the page into the database, from where commands
// take it for links. On a full disk that waits until there is room.
func (d *daemon) noteAddress(s *store.Store) error {
	if d.noted {
		return nil
	}
	err := s.SetAddress(d.page)
	d.noted = err == nil
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
// more, as it can be typed, or FILE.
func (d *daemon) newestBackup() string {
	if there := backup.Files(backupContent, d.db, d.backups.Dir); len(there) > 0 {
		return cli.Quote(there[0].Path)
	}
	return "FILE"
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
		return cli.WithHint(fmt.Errorf("%w, and could not be saved (%s): %s", loss, backup.Reason(loss.Err), db),
			fmt.Sprintf("put back what was moved, or a backup: firefighters restore %s --db %s", d.newestBackup(), db))
	}
	return cli.WithHint(fmt.Errorf("%w: %s. What was in it is saved as %s", loss, db, cli.Quote(loss.Saved)),
		fmt.Sprintf("firefighters restore %s --db %s", cli.Quote(loss.Saved), db))
}

// warnOfExposure warns of records and keys that others on the network or on
// this machine can read.
func (o serveOptions) warnOfExposure(env cli.Env, addr net.Addr) {
	if !isLoopback(addr) && o.certFile == "" {
		fmt.Fprintf(env.Stderr, "\nWARNING: listening on %s without TLS. Everybody on the network between can read\n"+
			"the keys and the records, and use the keys.\n"+
			"Try: --tls-cert FILE --tls-key FILE, or --listen 127.0.0.1:8080 for this machine alone\n\n", addr)
	}
	path := osutil.Resolve(o.db)
	warnOfModes(env, 0o077, path, path+"-wal", path+"-shm", path+"-lock")
	if o.keyFile != "" {
		warnOfModes(env, 0o007, o.keyFile) // a group may well share a certificate
	}
}

// warnOfModes warns of files with permissions in mask. It does not change them:
// somebody may have meant it.
func warnOfModes(env cli.Env, mask os.FileMode, paths ...string) {
	var open []string
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&mask != 0 && runtime.GOOS != "windows" {
			open = append(open, cli.Quote(path))
		}
	}
	if len(open) > 0 {
		files := strings.Join(open, " ")
		env.Notef("Warning: other users of this machine may read or write %s\nTry: chmod 600 %s", files, files)
	}
}

// warnOfPlace warns of a folder in which a database is not safe while it is
// served.
func warnOfPlace(env cli.Env, path string) {
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return
	}
	const advice = "keep it on a disk of this computer, and its backups there"
	if kind := osutil.Network(folder); kind != "" {
		env.Notef("Warning: the database is on a network disk (%s), where locks and a power cut can damage it;\n%s.", kind, advice)
	}
	if service := osutil.SyncProgram(folder); service != "" {
		env.Notef("Warning: the database is in a folder of %s, which copies and replaces files in use and can damage it;\n%s.", service, advice)
	}
}

// warnOfClock warns of a clock that is behind the latest time seen.
func warnOfClock(env cli.Env, clock *sqlite.Clock, path string) {
	if clock.Behind() > integrity.ClockTolerance {
		env.Notef("Warning: the clock of this machine says %s, and the database has seen %s, which holds for what expires\n"+
			"Try: set the clock; if it is right, and was wrong before: firefighters check --repair --db %s",
			clock.Earlier().Format(time.RFC3339), clock.Now().Format(time.RFC3339), cli.Quote(path))
	}
}

// warnOfNewerCopy warns of a saved copy with changes that the database does not
// have.
func warnOfNewerCopy(env cli.Env, path string) {
	if saved := guard.NewerCopy(backupContent, osutil.Resolve(path)); saved != "" {
		env.Notef("Warning: %s has later changes than the database: its files had gone while it was served\n"+
			"Try, with the service stopped: firefighters restore %s --db %s", cli.Quote(saved), cli.Quote(saved), cli.Quote(path))
	}
}

// warnOfFullDisk warns of a full disk, and reports whether err is about one. The
// database can be read.
func warnOfFullDisk(env cli.Env, err error) bool {
	full := errors.Is(err, sqlite.ErrFull)
	if full {
		env.Notef("Warning: the disk of the database is full: reading works, and nothing can be written\n" +
			"Try: make room on that disk; writing then works again by itself")
	}
	return full
}

// warnOfNewDatabase warns that a database is about to be made, although there
// are backups of one.
func (o serveOptions) warnOfNewDatabase(env cli.Env) {
	if !errors.Is(format.Inspect(osutil.Resolve(o.db)), sqlite.ErrNotExist) {
		return
	}
	if there := backup.Files(backupContent, o.db, o.backups.Dir); len(there) > 0 {
		db := cli.Quote(o.db)
		env.Notef("Warning: there is no database at %s, but there are backups of it. A new one is made, without what they hold.\n"+
			"To have it back, stop this and type: firefighters restore %s --db %s", db, cli.Quote(there[0].Path), db)
	}
}

// warnOfBackups warns that there are no backups, or that they are not safe
// where they are. demo, which has no options for them, makes none.
func (o serveOptions) warnOfBackups(env cli.Env) {
	switch {
	case o.backups == backup.Options{}:
	case o.backups.Dir == "":
		env.Notef("Note: no backups are made. To have one every day, on another disk, add: --backup-dir DIR")
	case warnOfBackupFolder(env, o.backups.Dir):
	case osutil.SameDisk(o.backups.Dir, filepath.Dir(osutil.Resolve(o.db))):
		env.Notef("Warning: the backups are on the same disk as the database, and would be lost with it.\n" +
			"Try: --backup-dir DIR, on another disk")
	}
}

// warnOfBackupFolder warns of a folder in which no backups can be made, and
// reports whether it did. It makes the folder, as the first backup would.
func warnOfBackupFolder(env cli.Env, dir string) bool {
	err := backup.CheckFolder(dir)
	if err == nil {
		return false
	}
	const another = ", or take another folder: --backup-dir DIR"
	fault, hint := "cannot be written: "+backup.Reason(err), "start as the user who owns it"+another
	failure, ok := errors.AsType[*backup.Error](err)
	switch {
	case errors.Is(err, backup.ErrNotFolder):
		fault, hint = "is a file", "name a folder: --backup-dir DIR"
	case ok && failure.Op == backup.OpMake:
		fault, hint = "cannot be made: "+backup.Reason(failure.Err), "connect its disk, or make the folder by hand"+another
	}
	env.Notef("Warning: no backups are made: the folder %s %s\nTry: %s", cli.Quote(dir), fault, hint)
	return true
}
