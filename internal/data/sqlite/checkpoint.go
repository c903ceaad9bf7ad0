package sqlite

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// checkpointer limits the size of the -wal. It copies pages from the -wal to the database (a
// checkpoint) while readers and the writer continue. SQLite then restarts the -wal when there are
// no readers. Under constant load the checkpointer blocks readers briefly so that it can restart.
//
// SQLite's own checkpoints run inside the commit that finds a long -wal. With them, a single
// client reaches 0.5 instead of 0.7 of the plain rate (bench/run, "create, 1 client").
type checkpointer struct {
	*Conn
	db        *DB
	running   atomic.Bool
	done      sync.WaitGroup
	restarted int64 // length of the -wal, in pages, at the last attempt to restart it
	seen      int64 // length of the -wal, in pages, at the last CheckpointIdle
	frames    int64 // length of the -wal, in pages, at the end of limitWAL
	low       bool  // the disk had less space than lowSpace at the last call of limitWAL
	allow     atomic.Pointer[func() bool]
}

const (
	// longestWAL is the length of the -wal in 4 KiB pages at which a checkpoint starts. A page that
	// many commits change is then copied once. With a checkpoint after each 1,000 pages, as SQLite
	// runs them, a create of 64 clients takes 7 % more CPU time.
	longestWAL = 4096
	// fewPages is the number of pages that may be copied while writes wait, and the number of new
	// pages between two attempts to restart the -wal.
	fewPages = 1000
	// shortWAL replaces both while the disk has less space than lowSpace. A checkpoint may need space
	// for each page that it copies: when a long -wal has filled the disk, no checkpoint can end, and
	// the -wal cannot restart.
	shortWAL = 64
	lowSpace = 2 * longestWAL << 12 // bytes
)

// limitWAL starts a checkpoint or restarts the -wal if necessary. While the disk has little space, the
// next write waits for the checkpoint. The caller owns the writer's connection. Errors are ignored: a
// later commit tries again.
func (c *checkpointer) limitWAL(writer *Conn) {
	pages, copied, err := walFrames(writer)
	if err != nil {
		return
	}
	c.frames, c.restarted = pages, min(c.restarted, pages)
	longest, few := int64(longestWAL), int64(fewPages)
	if c.low = pages >= shortWAL && c.space() < lowSpace; c.low {
		longest, few = shortWAL, shortWAL
	}
	switch {
	case pages < longest:
	case pages-copied >= few && !c.low:
		c.start()
	case pages >= c.restarted+few && c.running.CompareAndSwap(false, true):
		c.restarted = pages
		c.restart(writer)
		c.running.Store(false)
		c.frames, _, _ = walFrames(writer)
	}
}

// checkRoom returns ErrFull if a checkpoint after the open transaction might lack the space for the
// pages that the database has gained. The -wal also needs some: at most as much, and the cache of the
// writer. It reuses what is left in its file.
func (c *checkpointer) checkRoom(writer *Conn) error {
	pages, err := writer.QueryInt(`PRAGMA page_count`)
	info, statErr := os.Stat(c.db.path)
	if err != nil || statErr != nil {
		return err // a missing file is for the guard
	}
	growth := pages<<12 - info.Size()
	cached := max(shortWAL<<12, min(growth, writerCache))
	if wal, err := os.Stat(c.db.path + "-wal"); err == nil {
		written := c.frames<<12 + max(0, growth-cached)
		cached -= min(cached, max(0, wal.Size()-written))
	}
	if growth > 0 && c.space() < growth+cached {
		return ErrFull
	}
	return nil
}

// space returns the free bytes on the disk, or a large number if they are unknown.
func (c *checkpointer) space() int64 {
	space, err := osutil.SpaceOf(filepath.Dir(c.db.path))
	if err != nil {
		return math.MaxInt64
	}
	return space.Free
}

func (c *checkpointer) start() {
	if c.running.CompareAndSwap(false, true) {
		c.done.Go(func() {
			defer c.running.Store(false)
			c.checkpoint()
		})
	}
}

// GuardCheckpoints calls allow before and after each checkpoint of this process. While allow
// returns false there are no checkpoints: they would overwrite another program's changes to the
// file.
func (db *DB) GuardCheckpoints(allow func() bool) { db.writer.checkpoints.allow.Store(&allow) }

// checkpoint copies as many pages as readers allow. It reports whether the -wal may restart.
func (c *checkpointer) checkpoint() bool {
	allow := c.allow.Load()
	if allow != nil && !(*allow)() {
		return false
	}
	c.QueryInt(`PRAGMA wal_checkpoint(PASSIVE)`)
	return allow == nil || (*allow)()
}

// restart copies the remaining pages so that the -wal can restart. The caller keeps others from
// writing. Copying takes tens of milliseconds, during which reading continues. Then the restart
// blocks the readers of this process for a moment. It does not wait for other programs' readers.
func (c *checkpointer) restart(writer *Conn) {
	c.awaitReaders()
	if !c.checkpoint() {
		return
	}
	c.db.gate.Lock()
	defer c.db.gate.Unlock()
	writer.QueryInt(`PRAGMA busy_timeout = 0`)
	writer.QueryInt(`PRAGMA wal_checkpoint(RESTART)`)
	writer.QueryInt(patienceSQL)
}

// awaitReaders waits until no reader uses an older state than the newest. A checkpoint stops at
// the state of the oldest reader, and then does not sync.
func (c *checkpointer) awaitReaders() {
	c.db.gate.Lock()
	defer c.db.gate.Unlock()
}

// CheckpointIdle starts a checkpoint if there was no write since the last call, so that the newest
// changes are not only in the -wal. A single goroutine calls it every few seconds.
func (db *DB) CheckpointIdle() error {
	if !db.Writable() {
		return nil
	}
	pages, copied, err := db.Frames()
	switch {
	case errors.Is(err, ErrBusy): // another process is writing
		return nil
	case err != nil:
		return err
	}
	w, c := db.writer, db.writer.checkpoints
	if pages != c.seen || pages == copied {
		c.seen = pages
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.stopped.Load() {
		c.start()
	}
	return nil
}

// truncateForLitestream makes SQLite truncate the -wal when it restarts, if Litestream replicates
// the database. Otherwise Litestream, after a pause, mistakes old frames for new ones and damages
// its replica. Truncating costs a single client a third of its rate.
func truncateForLitestream(conns ...*Conn) error {
	replicated, err := conns[0].QueryInt(`SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = '_litestream_seq')`)
	for _, c := range conns {
		if err == nil && replicated == 1 {
			_, err = c.QueryInt(`PRAGMA journal_size_limit = 0`)
		}
	}
	return err
}

// walFrames returns the values of Frames for a connection. It returns ErrBusy if another process
// begins or ends a transaction at that moment.
func walFrames(c *Conn) (frames, copied int64, err error) {
	busy := false
	err = c.QueryRow(`PRAGMA wal_checkpoint(NOOP)`, nil, func(row Row) {
		busy, frames, copied = row.Int(0) != 0, max(0, row.Int(1)), max(0, row.Int(2))
	})
	if err == nil && busy {
		err = ErrBusy
	}
	return frames, copied, err
}

// Frames returns the number of valid frames in the -wal, and how many of them are already copied
// to the database file. Both are 0 right after the -wal has restarted.
func (db *DB) Frames() (frames, copied int64, err error) {
	err = db.Read(func(c *Conn) error {
		frames, copied, err = walFrames(c)
		return err
	})
	return frames, copied, err
}

// Checkpointing reports whether a checkpoint of this process is running.
func (db *DB) Checkpointing() bool { return db.writer.checkpoints.running.Load() }
