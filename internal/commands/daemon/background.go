package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/integrity"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

const (
	// The times between two checks for lost files and for changes by other processes: while requests
	// wait for changes and until busyFor after a request, and otherwise.
	busyCheck = 200 * time.Millisecond
	idleCheck = 2 * time.Second
	busyFor   = 2 * time.Second

	cleanEach = 10 * time.Second

	lateWrites    = "cannot write the last use of keys and the time"
	reportFailure = "cannot report to the service manager"
)

// job is repeated background work.
type job struct {
	failure   string // the message for the log
	do        func() error
	isFailing bool
}

// startBackground starts the background work for the open database and returns a function that stops
// it. It checks a small database before it returns.
func (d *daemon) startBackground() (stop func()) {
	var working sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	store := d.service.Store
	d.every(ctx, &working, 24*time.Hour, &job{failure: "cannot erase expired invitations and the labels of ended sessions", do: store.EraseLeftovers})
	if interval := d.manager.Interval(); interval > 0 {
		d.every(ctx, &working, interval, &job{failure: reportFailure, do: func() error { return d.showLife(store.Ping()) }})
	}
	integrity.Scrub(ctx, store.DB(), d.service.Log, working.Go)
	working.Go(func() { integrity.Daily(ctx, store.DB(), d.service.Log) })
	backing, lost := context.WithCancel(ctx)
	d.backing = backing
	working.Go(func() { d.guard.Run(ctx, d.pause(ctx), lost) })
	return func() {
		cancel()
		d.scheduler = nil
		working.Wait()
		await(d.backupsEnded)
		err := errors.Join(d.service.Callers.Finish(), store.SaveClock(), store.SetAddress(""))
		if err != nil && d.guard.Loss() == nil {
			d.service.Log.Warn(lateWrites, "cause", err.Error())
		}
		d.noted = nil
	}
}

// startJobs starts the background work that depends on the settings and returns a function that stops
// it.
func (d *daemon) startJobs() (stop func()) {
	var working sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	store := d.service.Store
	jobs := []*job{
		{failure: lateWrites, do: d.service.Callers.WriteLate},
		{failure: "nothing can be written: the disk is full", do: store.DB().MakeWritable},
		{failure: "nothing can be written", do: store.RetryWriting},
		{failure: "cannot check the -wal file", do: store.DB().CheckpointIdle},
		{failure: "cannot limit the memory", do: d.limitMemory},
		{failure: "cannot write the address", do: d.noteAddress},
		{failure: "cannot delete old responses", do: store.EraseOldReplays},
		{failure: "cannot check the clock", do: func() error { return d.checkClock(time.Now(), time.Since(d.clock)) }},
		{failure: "the file may contain traces of permanently deleted people, and cannot be rewritten", do: d.newRewriter(ctx).run},
		{failure: "other devices cannot connect", do: d.retryOthers},
	}
	working.Go(func() { repeat(ctx, d.service.Log, d.soon, jobs...) })
	if d.service.Authority != nil {
		d.every(ctx, &working, cleanEach, &job{failure: "cannot renew the certificate", do: d.service.Authority.Renew})
	}
	return func() { cancel(); working.Wait() }
}

// soon is the pause between two runs of a job: shorter while there are requests.
func (d *daemon) soon() time.Duration {
	if d.service.Callers.Idle() < cleanEach {
		return time.Second
	}
	return cleanEach
}

// every does a job at an interval until ctx ends.
func (d *daemon) every(ctx context.Context, working *sync.WaitGroup, interval time.Duration, j *job) {
	working.Go(func() { repeat(ctx, d.service.Log, func() time.Duration { return interval }, j) })
}

// pause returns a function that wakes requests after changes by other processes, and then waits until
// the next check of the files.
func (d *daemon) pause(ctx context.Context) func(inDoubt bool) {
	changes := &job{failure: "cannot look for changes of other processes", do: d.service.Store.WakeWaiting}
	return func(inDoubt bool) {
		changes.run(d.service.Log)
		each := idleCheck
		if inDoubt || d.service.Store.IsAwaited() || d.service.Callers.Idle() < busyFor {
			each = busyCheck
		}
		select {
		case <-ctx.Done():
		case <-d.service.Callers.Woken():
		case <-time.After(each):
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
	urls := slices.Compact([]string{d.linkURL(), d.localURL()}) // can change with the address of the computer
	if slices.Equal(d.noted, urls) {
		return nil
	}
	err := d.service.Store.SetAddress(urls...)
	if err == nil {
		d.noted = urls
	}
	if errors.Is(err, sqlite.ErrFull) { // reported at startup or by the API
		return nil
	}
	return err
}

// repeat runs the jobs, immediately and then after each pause, until ctx ends. While one fails, the
// pause is at most a second.
func repeat(ctx context.Context, log *slog.Logger, each func() time.Duration, jobs ...*job) {
	for ctx.Err() == nil {
		isFailing := false
		for _, j := range jobs {
			isFailing = j.run(log) != nil || isFailing
		}
		pause := each()
		if isFailing {
			pause = min(pause, time.Second)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// run does the work once. It logs the first of consecutive failures.
func (j *job) run(log *slog.Logger) error {
	err := safely(j.do)
	if err != nil && !j.isFailing && !errors.Is(err, sqlite.ErrLost) { // the guard logs a loss
		log.Warn(j.failure, "cause", err.Error())
	}
	j.isFailing = err != nil
	return err
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
