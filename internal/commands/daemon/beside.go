package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/integrity"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

const (
	// keysEach is how soon a server learns of keys that another process has made,
	// changed or revoked, and of changes for which somebody waits.
	keysEach  = 250 * time.Millisecond
	cleanEach = 10 * time.Second // replays and the certificate

	lateWrites = "the last use of keys and the time could not be written"
)

// workBeside starts what runs beside the requests, and returns what stops it. A small
// database is scrubbed before it returns.
func (d *daemon) workBeside() (stop func()) {
	var working sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	repeatedly := func(each time.Duration, failure string, do func() error) {
		working.Go(func() { repeat(ctx, d.log, each, failure, do) })
	}
	repeatedly(keysEach, "the keys could not be read again", d.api.ReloadKeys)
	repeatedly(keysEach, "the changes of other processes could not be looked for", d.store.WakeWaiting)
	repeatedly(time.Second, lateWrites, d.api.WriteLate)
	repeatedly(time.Second, "nothing can be written: the disk is full", d.store.DB().MakeWritable)
	repeatedly(time.Second, "nothing can be written", d.store.RetryWriting)
	repeatedly(time.Second, "the -wal could not be looked at", d.store.DB().CheckpointIdle)
	repeatedly(time.Second, "the memory could not be limited", d.limitMemory)
	repeatedly(time.Second, "the address could not be written", d.noteAddress)
	if d.authority != nil {
		repeatedly(cleanEach, "the certificate could not be renewed", d.authority.Renew)
	}
	repeatedly(cleanEach, "old answers could not be erased", d.store.EraseOldReplays)
	if interval := d.manager.Interval(); interval > 0 {
		repeatedly(interval, "no sign of life for the service manager", func() error { return d.showLife(d.store.Ping()) })
	}
	integrity.Scrub(ctx, d.store.DB(), d.log, working.Go)
	working.Go(func() { integrity.Daily(ctx, d.store.DB(), d.log) })
	backing, stopBackups := context.WithCancel(ctx)
	if d.scheduler != nil {
		working.Go(func() { d.scheduler.Run(backing) })
	}
	working.Go(func() { d.guard.Run(ctx, stopBackups) })
	return func() {
		cancel()
		working.Wait()
		if err := errors.Join(d.api.Finish(), d.store.SaveClock(), d.store.SetAddress("")); err != nil && d.guard.Loss() == nil {
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

// noteAddress writes the URL of the service into the database. Commands take it from there
// for links. On a full disk that waits until there is room.
func (d *daemon) noteAddress() error {
	urls := []string{d.url()} // a machine may get another address
	if d.noted == urls[0] {
		return nil
	}
	if d.local != nil {
		urls = append(urls, d.localURL())
	}
	err := d.store.SetAddress(urls...)
	if err == nil {
		d.noted = urls[0]
	}
	if errors.Is(err, sqlite.ErrFull) { // warnOfFullDisk has said so
		return nil
	}
	return err
}

// repeat calls do at once and then each time, until ctx ends. When do begins to fail it
// logs that, once.
func repeat(ctx context.Context, log *slog.Logger, each time.Duration, failure string, do func() error) {
	ticker := time.NewTicker(each)
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
