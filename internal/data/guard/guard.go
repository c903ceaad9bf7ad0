// Package guard notices that the files of an open database have gone: somebody
// has deleted, moved, replaced or cut them, or has written an older copy over them,
// while it is served. It then ends all reading and writing, and saves what is still
// open.
//
// A look (look.go) compares the files with what is remembered of them: which files they
// are, the end of the -wal (wal.go), how far the content has come, and the file of the
// database without its -wal (file.go, pages.go). There is a look five times a second, at
// the end, and around each checkpoint of this process, which could hide what happened.
// A look that finds a loss begins a doubt. The doubt becomes a Loss when further looks
// agree. What follows a loss is in lost.go.
package guard

import (
	"context"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Guard looks after the files of one open database.
type Guard struct {
	db    *sqlite.DB
	log   *slog.Logger
	files *files
	tried time.Time // when the last save began
	noted note      // what was noted of the progress
	loss  atomic.Pointer[Loss]
}

const (
	// interval is the time between two looks.
	interval = 200 * time.Millisecond
	// saveInterval is the time between two attempts to save a lost database.
	saveInterval = 10 * time.Second
)

// Content is what a guard must know of what a database holds.
type Content struct {
	// Marks returns marks of which any two files of one database share one. It may
	// be handed a file that is being written.
	Marks func(*sqlite.Conn) ([]string, error)
	// Progress returns how far a database has come, in one line. older reports whether
	// that is less than an earlier line of the same database says; "" says nothing.
	Progress func(c *sqlite.Conn, earlier string) (now string, older bool, err error)
	// Renew makes a database of an older state another one, so that nothing is
	// counted a second time.
	Renew func(*sqlite.Conn) error
}

// Loss is the error for a database whose files have gone.
type Loss struct {
	Path  string // of the database
	What  string // what has happened, without a name, as "the -wal of the database was deleted or moved away"
	Saved string // the copy of what was still open; "" if there is none
	Err   error  // why there is none

	kind kind
}

func (l *Loss) Error() string { return l.What + " while it was served" }

// Older reports whether an older state of the database has taken its place. What was
// saved is without what was written since.
func (l *Loss) Older() bool { return l.kind == older }

// Closable reports whether closing the database completes it: only files beside
// it have gone, and they are still open.
func (l *Loss) Closable() bool { return l.kind == beside }

// Is reports whether target is sqlite.ErrLost.
func (l *Loss) Is(target error) bool { return target == sqlite.ErrLost }

// New returns a Guard of an open database. path is the one that it was asked for
// by, which may be a link. A database that is older than what was last served is
// renewed.
func New(db *sqlite.DB, path string, content Content, log *slog.Logger) (*Guard, error) {
	files, err := openFiles(db, path, content)
	if err != nil {
		return nil, err
	}
	g := &Guard{db: db, log: log, files: files}
	g.readNote()
	files.isLost() // so that it knows the files
	db.AskBeforeCheckpoints(files.mayCheckpoint)
	return g, nil
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
		if loss == nil {
			g.look()
			g.note(time.Now())
			if g.loss.Load() != nil {
				lost()
			}
		} else if loss.Saved == "" && time.Since(g.tried) >= saveInterval {
			g.save(ctx)
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// look looks at the files, and ends the work with the database at a loss.
func (g *Guard) look() finding {
	found, lost := g.files.isLost()
	if !lost {
		return found
	}
	g.db.Lose()
	if found.kind == replaced {
		g.files.setAside()
	}
	g.files.growShm()
	g.files.markLost()
	g.loss.Store(&Loss{Path: g.db.Path(), What: found.what, kind: found.kind})
	g.log.Error("the files of the database have gone: no request is answered, and what is still open is being saved", "what", found.what)
	return found
}

// End looks at the files once more, after Run has ended, and makes the last
// attempt to save a lost database. It returns the Loss, or nil if all is well.
// Unless the Loss is Closable the database must not be closed any more: that
// would write into a file that is another's by now.
func (g *Guard) End() *Loss {
	// What has happened since the last look. After a crash all looks are without a result
	// until the first checkpoint, and more of them would only delay the end.
	for looks, blind := 20, 3; looks > 0 && blind > 0 && g.loss.Load() == nil; looks-- {
		found := g.look()
		if found.kind == nothing {
			break
		}
		if found.kind == unclear {
			blind--
		}
		time.Sleep(interval)
	}
	loss := g.loss.Load()
	if loss == nil {
		g.note(time.Time{})
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
	switch {
	case loss.Closable() && g.files.isInFolder():
		os.Remove(loss.Path + sqlite.LostSuffix)
	case loss.Saved != "" && (loss.kind == gone || loss.kind == replaced):
		g.files.removeBeside()
	}
	return loss
}
