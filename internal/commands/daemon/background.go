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
	keysEach  = 250 * time.Millisecond // for keys and changes of other processes
	cleanEach = 10 * time.Second       // for old responses and the certificate

	lateWrites = "cannot write the last use of keys and the time"
)

// startBackground starts the background work and returns a function that stops it. It checks a small
// database before it returns.
func (d *daemon) startBackground() (stop func()) {
	var working sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	repeatedly := func(each time.Duration, failure string, do func() error) {
		working.Go(func() { repeat(ctx, d.service.Log, each, failure, do) })
	}
	repeatedly(keysEach, "cannot reload the keys", d.service.Callers.Reload)
	repeatedly(keysEach, "cannot look for changes of other processes", d.service.Store.WakeWaiting)
	repeatedly(time.Second, lateWrites, d.service.Callers.WriteLate)
	repeatedly(time.Second, "nothing can be written: the disk is full", d.service.Store.DB().MakeWritable)
	repeatedly(time.Second, "nothing can be written", d.service.Store.RetryWriting)
	repeatedly(time.Second, "cannot check the -wal file", d.service.Store.DB().CheckpointIdle)
	repeatedly(time.Second, "cannot limit the memory", d.limitMemory)
	repeatedly(time.Second, "cannot write the address", d.noteAddress)
	if d.service.Authority != nil {
		repeatedly(cleanEach, "cannot renew the certificate", d.service.Authority.Renew)
	}
	repeatedly(cleanEach, "cannot delete old responses", d.service.Store.EraseOldReplays)
	if interval := d.manager.Interval(); interval > 0 {
		repeatedly(interval, "cannot report to the service manager", func() error { return d.showLife(d.service.Store.Ping()) })
	}
	integrity.Scrub(ctx, d.service.Store.DB(), d.service.Log, working.Go)
	working.Go(func() { integrity.Daily(ctx, d.service.Store.DB(), d.service.Log) })
	backing, stopBackups := context.WithCancel(ctx)
	if d.scheduler != nil {
		working.Go(func() { d.scheduler.Run(backing) })
	}
	working.Go(func() { d.guard.Run(ctx, stopBackups) })
	return func() {
		cancel()
		working.Wait()
		err := errors.Join(d.service.Callers.Finish(), d.service.Store.SaveClock(), d.service.Store.SetAddress(""))
		if err != nil && d.guard.Loss() == nil {
			d.service.Log.Warn(lateWrites, "cause", err.Error())
		}
	}
}

// showLife resets the watchdog of the service manager, unless the database fails. Despite a full disk
// or lost files it also resets the watchdog: a restart would not help, and would close open files
// that are the only copy of the data.
func (d *daemon) showLife(ping error) error {
	if ping != nil && !errors.Is(ping, sqlite.ErrLost) && !errors.Is(ping, sqlite.ErrFull) {
		return ping
	}
	return d.manager.Alive()
}

// noteAddress writes the URL of the service to the database, for links that commands print. It ignores
// a full disk; the next call tries again.
func (d *daemon) noteAddress() error {
	urls := []string{d.url()} // can change with the address of the computer
	if d.noted == urls[0] {
		return nil
	}
	if d.local != nil {
		urls = append(urls, d.localURL())
	}
	err := d.service.Store.SetAddress(urls...)
	if err == nil {
		d.noted = urls[0]
	}
	if errors.Is(err, sqlite.ErrFull) { // reported at startup or by the API
		return nil
	}
	return err
}

// repeat calls do immediately and then at each interval, until ctx ends. It logs the first of
// consecutive failures.
func repeat(ctx context.Context, log *slog.Logger, each time.Duration, failure string, do func() error) {
	ticker := time.NewTicker(each)
	defer ticker.Stop()
	for failing := false; ; {
		err := safely(do)
		if err != nil && !failing && !errors.Is(err, sqlite.ErrLost) { // the guard logs a loss
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

// safely calls do and returns a panic as an error, so that it does not end the service.
func safely(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return do()
}
