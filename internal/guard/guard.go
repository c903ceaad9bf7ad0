// Package guard notices that the files of an open database have gone: somebody
// has deleted, moved, replaced or cut them while it is served. It then ends all
// reading and writing, and saves what is still open.
package guard

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/firefighter-records/firefighters/internal/backup"
	"github.com/firefighter-records/firefighters/internal/osutil"
	"github.com/firefighter-records/firefighters/internal/sqlite"
)

// Guard looks after the files of one open database.
type Guard struct {
	db    *sqlite.DB
	log   *slog.Logger
	files *files
	doubt bool      // the last look has found a loss
	tried time.Time // when the last save began
	loss  atomic.Pointer[Loss]
}

const (
	// interval is the time between two looks. Only what two looks find is a loss:
	// one may have come in the middle of what another process does.
	interval = 200 * time.Millisecond
	// saveInterval is the time between two attempts to save a lost database.
	saveInterval = 10 * time.Second
)

// Loss is the error for a database whose files have gone.
type Loss struct {
	Path  string // of the database
	What  string // what has happened, without a name, as "the -wal of the database was deleted or moved away"
	Saved string // the copy of what was still open; "" if there is none
	Err   error  // why there is none

	kind kind
}

func (l *Loss) Error() string { return l.What + " while it was served" }

// Closable reports whether closing the database completes it: only files beside
// it have gone, and they are still open.
func (l *Loss) Closable() bool { return l.kind == beside }

// Is reports whether target is sqlite.ErrLost.
func (l *Loss) Is(target error) bool { return target == sqlite.ErrLost }

// New returns a Guard of an open database. path is the one that it was asked for
// by, which may be a link. identify returns marks of which any two files of one
// database share one. It may be handed a file that is being written.
func New(db *sqlite.DB, path string, identify func(*sqlite.Conn) ([]string, error), log *slog.Logger) (*Guard, error) {
	files, err := openFiles(db, path, identify)
	if err != nil {
		return nil, err
	}
	files.compare() // so that it knows the files
	return &Guard{db: db, log: log, files: files}, nil
}

// Loss returns what has happened to the files, nil while all is well.
func (g *Guard) Loss() *Loss { return g.loss.Load() }

// Run looks at the files until ctx ends. It calls lost, once, when they have
// gone and nothing reads or writes the database any more.
func (g *Guard) Run(ctx context.Context, lost func()) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		loss := g.loss.Load()
		if loss == nil && g.isLost() {
			lost()
		} else if loss != nil && loss.Saved == "" && time.Since(g.tried) >= saveInterval {
			g.save(ctx)
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// isLost looks at the files. It ends the work with the database at the second
// look that finds a loss.
func (g *Guard) isLost() bool {
	what, kind := g.files.compare()
	if what == "" || !g.doubt {
		g.doubt = what != ""
		return false
	}
	g.db.Lose()
	if kind == replaced {
		g.files.setAside()
	}
	osutil.CreatePrivate(g.db.Path() + Suffix) // where that is not possible, no other program is warned
	g.loss.Store(&Loss{Path: g.db.Path(), What: what, kind: kind})
	g.log.Error("the files of the database have gone: no request is answered, and what is still open is being saved", "what", what)
	return true
}

// save copies what is open to a file beside the database.
func (g *Guard) save(ctx context.Context) {
	first := g.tried.IsZero()
	g.tried = time.Now()
	loss := *g.loss.Load()
	loss.Saved, loss.Err = "", nil
	os.MkdirAll(filepath.Dir(loss.Path), 0o700) // it may have gone as well; saving says so
	copied := backup.SavedName(loss.Path, g.tried)
	loss.Err = saveTo(ctx, g.db, copied)
	if loss.Err != nil && ctx.Err() != nil { // the service ends, and End tries again
		g.tried = time.Time{}
		return
	}
	switch {
	case loss.Err == nil:
		loss.Saved = copied
		g.log.Warn("what was in the database is saved beside its old place: stop the service, and it says what to type",
			"ending", strings.TrimPrefix(copied, loss.Path))
	case first && errors.Is(loss.Err, sqlite.ErrFull):
		g.log.Error("what was in the database could not be saved, for the disk is full: make room, and wait until it is saved before you stop the service")
	case first:
		g.log.Error("what was in the database could not be saved: stop the service, and it says what to type", "cause", backup.Reason(loss.Err))
	}
	g.loss.Store(&loss)
}

// End looks at the files once more, after Run has ended, and makes the last
// attempt to save a lost database. It returns the Loss, or nil if all is well.
// Unless the Loss is Closable the database must not be closed any more: that
// would write into a file that is another's by now.
func (g *Guard) End() *Loss {
	for g.loss.Load() == nil && !g.isLost() && g.doubt { // what has happened since the last look
		time.Sleep(interval)
	}
	loss := g.loss.Load()
	if loss == nil {
		return nil
	}
	if loss.kind == gone && g.files.areBack() {
		back := *loss
		back.kind = beside
		loss = &back
		g.loss.Store(loss)
	}
	if loss.Saved == "" || !osutil.Exists(loss.Saved) {
		g.save(context.Background())
		loss = g.loss.Load()
	}
	os.Remove(loss.Path + Suffix)
	if !loss.Closable() && loss.Saved != "" {
		g.files.removeBeside()
	}
	return loss
}
