package daemon

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

const (
	// rewriteDelay leaves a purge time to rewrite the file itself.
	rewriteDelay = 10 * time.Second
	// rewriteAgain is the time between two attempts, each of which may write the whole file.
	rewriteAgain = time.Minute
	rewriteFull  = time.Hour // the same after an attempt for which the disk was too full
)

// rewriter rewrites the file of the database if a permanent deletion has left traces in it: at once
// after the start, and later if the process that deleted has not done so.
type rewriter struct {
	ctx   context.Context
	store *store.Store
	log   *slog.Logger
	next  time.Time // of the next attempt; zero if there are no traces
	err   error     // of the last attempt
}

func (d *daemon) newRewriter(ctx context.Context) *rewriter {
	return &rewriter{ctx: ctx, store: d.service.Store, log: d.service.Log, next: time.Now().Add(time.Second)}
}

func (r *rewriter) run() error {
	_, traces, err := r.store.Erasures()
	now := time.Now()
	switch {
	case err != nil || !traces:
		r.next, r.err = time.Time{}, nil
		return err
	case r.next.IsZero():
		r.next = now.Add(rewriteDelay)
	case !now.Before(r.next):
		r.next, r.err = now.Add(rewriteAgain), r.store.Rewrite(r.ctx)
		if errors.Is(r.err, sqlite.ErrFull) {
			r.next = now.Add(rewriteFull)
		}
		if r.err == nil {
			r.log.Info("the file was rewritten, without traces of permanently deleted people")
		}
	}
	return r.err
}

// noteErased returns a function that updates the list of deleted records in a backup folder after a
// permanent deletion by a command that could not. After an error, the next backup updates the list.
func (d *daemon) noteErased(folder string) func() error {
	store, last := d.service.Store, int64(0)
	return func() error {
		erasures, _, err := store.Erasures()
		if err != nil || erasures == last || !osutil.Exists(folder) {
			return err
		}
		last = erasures
		return backup.NoteErased(d.DB, folder)
	}
}
