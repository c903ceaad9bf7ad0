// Package guard detects when the database is lost while it is served: its files are deleted, moved,
// replaced, truncated or overwritten, or set back to an earlier state. The guard then stops all
// reading and writing, saves what is still open, and writes a note that keeps the next start from
// continuing without the lost records.
//
// Each write checks the mark of the database (store.Mark), which differs in an earlier state, so no
// write is acknowledged after a loss. But SQLite caches pages and its position in the -wal, and may
// not notice at once that a file was overwritten. Therefore the guard checks the files several times
// a second while there are requests.
package guard

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Guard watches the files of one open database.
type Guard struct {
	store *store.Store
	log   *slog.Logger
	files *files
	tried time.Time // when the last attempt to save began
	loss  atomic.Pointer[Loss]

	noted       store.Mark // the mark in the notes
	notedAt     time.Time
	isLossNoted bool
}

const (
	// interval is the time between two checks at the end, and noteInterval the minimum time between
	// two notes of the mark.
	interval     = 200 * time.Millisecond
	noteInterval = time.Second
	// saveInterval is the time between two attempts to save a lost database.
	saveInterval = 10 * time.Second
)

// Loss is the error for a lost database.
type Loss struct {
	Path  string // path of the database
	What  string // what happened, such as "the -wal of the database was deleted or moved away"
	Saved string // path of the saved copy; "" if there is none
	Err   error  // why there is no saved copy

	kind     kind
	isInFile bool // found in the content of the file without the -wal
}

func (l *Loss) Error() string { return l.What + " while it was served" }

// Kind returns the kind of loss: gone, cut, replaced, overwritten, damaged or sidecar. It returns ""
// for nil.
func (l *Loss) Kind() string {
	if l == nil {
		return ""
	}
	return string(l.kind)
}

// Overwritten reports whether an earlier state or another database overwrote the database. The saved
// copy may then contain pages of both.
func (l *Loss) Overwritten() bool { return l.kind == overwritten }

// Closable reports whether closing the database completes it, because only files next to it are
// missing, and these are still open.
func (l *Loss) Closable() bool { return l.kind == sidecar }

// Is reports whether target is sqlite.ErrLost.
func (l *Loss) Is(target error) bool { return target == sqlite.ErrLost }

// New returns a Guard for an open database. path is the path it was opened with, which may be a
// symbolic link. If the database is older than when it was last served, New renews its history.
func New(s *store.Store, path string, log *slog.Logger) (*Guard, error) {
	g := &Guard{store: s, log: log}
	isNew := s.Mark().Commits == 0
	if backup.ReadNote(s.DB().Path(), backup.NoteMark, &g.noted) && !isNew && !s.Mark().Follows(g.noted) {
		log.Warn("the database is older than what was served before, or a different one: " +
			"later changes are missing, and keys revoked later may be valid again")
		if err := s.RenewHistory(); err != nil {
			return nil, err
		}
	}
	var err error
	if g.files, err = openFiles(s, path); err != nil {
		return nil, err
	}
	g.files.look() // remembers the current files
	s.DB().GuardCheckpoints(g.files.mayCheckpoint)
	return g, nil
}

// Loss returns the loss of the database, or nil.
func (g *Guard) Loss() *Loss { return g.loss.Load() }

// Run watches the files until ctx ends. After each check it calls pause, which waits until the next
// one, or at most 200 ms if inDoubt. After a loss it waits until nothing reads or writes the database,
// and calls lost once.
func (g *Guard) Run(ctx context.Context, pause func(inDoubt bool), lost func()) {
	for ctx.Err() == nil {
		if loss := g.loss.Load(); loss != nil {
			if !g.isLossNoted {
				g.noteLoss(loss)
			}
			if loss.Saved == "" && time.Since(g.tried) >= saveInterval {
				g.save(ctx)
			}
		} else if g.look(); g.loss.Load() != nil {
			lost()
		} else if time.Since(g.notedAt) >= noteInterval {
			g.noteMark()
		}
		pause(g.loss.Load() == nil && g.files.inDoubt())
	}
}

// look checks the files. After a loss, it stops reading and writing.
func (g *Guard) look() finding {
	found, lost := g.files.look()
	if !lost {
		return found
	}
	loss := &Loss{Path: g.store.DB().Path(), What: found.what, kind: found.kind, isInFile: found.isInFile()}
	g.noteLoss(loss) // before a client sees the loss, and again with the last commit
	g.loss.Store(loss)
	g.store.DB().Lose()
	g.noteLoss(loss)
	if found.kind == replaced || loss.Overwritten() && loss.isInFile {
		g.files.setAside()
	}
	g.log.Error("the database was lost: requests fail until the service is stopped and the database is restored", "what", found.what)
	return found
}

// noteMark writes a note of the mark, by which the next start recognizes an older copy.
func (g *Guard) noteMark() {
	mark := g.store.Mark()
	if mark == g.noted || g.files.inDoubt() || !g.files.isInFolder() {
		return
	}
	g.notedAt = time.Now()
	if backup.WriteNote(g.store.DB().Path(), backup.NoteMark, mark) == nil { // otherwise the next check tries again
		g.noted = mark
	}
}

// End checks the files a last time after Run has returned, and tries again to save a lost database. It
// returns the Loss, or nil if there is none. Unless the Loss is Closable, the caller must not close
// the database, because closing could write to a different file.
func (g *Guard) End() *Loss {
	for looks, blind := 0, 0; looks < longPatience && blind < patience && g.loss.Load() == nil; looks++ {
		found := g.look()
		if found.kind == nothing {
			break
		}
		if found.kind == unclear {
			blind++
		}
		time.Sleep(interval)
	}
	loss := g.loss.Load()
	if loss == nil {
		g.noteMark()
		g.files.close()
		return nil
	}
	if loss.kind == gone && g.files.areBack() {
		back := *loss
		back.kind = sidecar
		loss = &back
		g.loss.Store(loss)
	}
	if loss.Saved == "" || !osutil.Exists(loss.Saved) {
		g.save(context.Background())
		loss = g.loss.Load()
	}
	if !g.isLossNoted {
		g.noteLoss(loss)
	}
	switch {
	case loss.Closable() && g.files.isInFolder():
		g.files.close()
	case loss.kind != gone && loss.kind != replaced:
	case loss.Saved != "":
		g.files.removeSidecars()
	default:
		g.files.setAside()
	}
	return loss
}
