package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// checkpointer keeps the -wal from growing for ever. It copies pages from the
// -wal to the database (a checkpoint) while readers and the writer go on. The
// -wal then restarts by itself at a moment without readers; under a load that
// never pauses the checkpointer makes one.
//
// SQLite's own checkpoints run within the commit that finds a long -wal. With
// one client alone these are slower: 0.5 instead of 0.7 of the plain rate
// (bench/run, "create, 1 client").
type checkpointer struct {
	*Conn
	db        *DB
	running   atomic.Bool
	done      sync.WaitGroup
	restarted int64       // the length of the -wal, in pages, at the last attempt to restart it
	short     atomic.Bool // there is little room on the disk
	mu        sync.Mutex  // guards end and walShrank
	end       LogEnd      // of the last commit
	walShrank bool        // the -wal ended earlier than before, and had not restarted
	seen      int64       // the length of the -wal, in pages, at the last CheckpointIdle
	quiet     int         // calls of CheckpointIdle in a row that found that length
	ask       atomic.Pointer[askFunc]
}

// askFunc is asked before a checkpoint. See AskBeforeCheckpoints.
type askFunc = func() (done func(complete bool) (mayRestart bool), allowed bool)

const (
	// checkpointAfter is the number of pages (4 KiB) in the -wal that are not
	// in the database yet when a checkpoint begins.
	checkpointAfter = 1000
	// longestWAL is the number of pages from which on the -wal is made to
	// restart.
	longestWAL = 4096
	// Where less than shortRoom bytes of the disk are free, both happen earlier, and
	// the -wal is cut off: it must not fill a disk that the database needs.
	shortRoom  = 64 << 20
	shortAfter = 100
	shortWAL   = 500
)

// limitWAL starts a checkpoint or restarts the -wal if it is time. The caller
// has the writer's connection. What fails is tried again after a later commit.
func (c *checkpointer) limitWAL(writer *Conn) {
	pages, copied, err := logOf(writer)
	if err != nil {
		return
	}
	c.noteEnd(pages)
	c.restarted = min(c.restarted, pages)
	after, longest := int64(checkpointAfter), int64(longestWAL)
	if c.short.Load() {
		after, longest = shortAfter, shortWAL
	}
	switch {
	case pages >= max(longest, c.restarted+after) && (c.short.Load() || pages-copied < after) && c.running.CompareAndSwap(false, true):
		c.restarted = pages
		c.restart(writer)
		c.running.Store(false)
	case pages-copied >= after:
		c.start()
	}
}

// noteEnd notes where the -wal ends after a commit. It must not end earlier than before
// unless it has restarted, and so has other salts.
func (c *checkpointer) noteEnd(pages int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if pages > 0 && (pages < c.end.Frames || c.end.Frames == 0) {
		salts := c.db.Salts()
		c.walShrank = c.walShrank || pages < c.end.Frames && salts == c.end.Salts && salts != [8]byte{}
		c.end.Salts = salts
	}
	if pages > 0 {
		c.end.Frames = pages
	}
}

// Salts returns the salts of the -wal, which change when it restarts. They are zero
// if it cannot be read.
func (db *DB) Salts() (salts [8]byte) {
	wal, err := os.Open(db.path + "-wal") // SQLite has no locks on it that closing would end
	if err == nil {
		wal.ReadAt(salts[:], 16) // SQLite file format, section 4.1
		wal.Close()
	}
	return salts
}

// LogEnd is an end of the -wal. Its salts change when it restarts.
type LogEnd struct {
	Salts  [8]byte
	Frames int64
}

// LastEnd returns where the -wal ended after the last commit of this process. walShrank
// reports whether a commit of this process has ever found the end before that of an
// earlier commit, without a restart between them.
func (db *DB) LastEnd() (end LogEnd, walShrank bool) {
	c := db.writer.checkpoints
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.end, c.walShrank
}

// start starts a checkpoint, unless one is running.
func (c *checkpointer) start() {
	if c.running.CompareAndSwap(false, true) {
		c.done.Go(func() {
			defer c.running.Store(false)
			c.checkpoint()
		})
	}
}

// checkpoint copies as many pages as readers allow, if ask allows a checkpoint. It reports
// whether the -wal may restart.
func (c *checkpointer) checkpoint() (mayRestart bool) {
	done := func(bool) bool { return true }
	if ask := c.ask.Load(); ask != nil {
		allowed := false
		if done, allowed = (*ask)(); !allowed {
			return false
		}
	}
	complete := false
	c.QueryRow(`PRAGMA wal_checkpoint(PASSIVE)`, nil, func(row Row) { complete = row.Int(0) == 0 && row.Int(1) == row.Int(2) })
	return done(complete)
}

// restart copies what remains so that the -wal can restart. Nobody writes
// meanwhile. To copy and sync takes tens of milliseconds, so others may read. Then
// readers stop for a moment. It does not wait for readers of other programs.
func (c *checkpointer) restart(writer *Conn) {
	c.awaitReaders()
	if !c.checkpoint() {
		return
	}
	c.db.gate.Lock()
	defer c.db.gate.Unlock()
	ignore := func(Row) {}
	writer.Query(`PRAGMA busy_timeout = 0`, nil, ignore)
	if c.short.Load() {
		writer.Query(`PRAGMA wal_checkpoint(TRUNCATE)`, nil, ignore)
	} else {
		writer.Query(`PRAGMA wal_checkpoint(RESTART)`, nil, ignore)
	}
	writer.QueryInt(patienceSQL)
}

// AskBeforeCheckpoints has this process call ask before each of its checkpoints, and
// make none that is not allowed: a checkpoint can hide what another program has done to
// the file. After a checkpoint this process calls done, with complete set if all of the
// -wal is in the file. done reports whether the -wal may restart. ask and done may read
// the DB.
func (db *DB) AskBeforeCheckpoints(ask askFunc) {
	db.writer.checkpoints.ask.Store(&ask)
}

// quietLooks is the number of calls of CheckpointIdle that make a pause.
const quietLooks = 4

// CheckpointIdle starts a checkpoint in a pause of all writing, so that the newest
// changes are not in the -wal alone, and looks how much room there is. It is for
// being called every second, by one goroutine.
func (db *DB) CheckpointIdle() error {
	if !db.Writable() {
		return nil
	}
	var pages, copied int64
	err := db.Read(func(c *Conn) (err error) { pages, copied, err = logOf(c); return err })
	switch {
	case errors.Is(err, ErrBusy): // no pause
		return nil
	case err != nil:
		return err
	}
	w, c := db.writer, db.writer.checkpoints
	space, err := osutil.SpaceOf(filepath.Dir(db.path))
	c.short.Store(err == nil && space.Free < shortRoom)
	if pages != c.seen || pages == copied {
		c.seen, c.quiet = pages, 0
		return nil
	}
	if c.quiet++; c.quiet < quietLooks {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.stopped.Load() {
		c.start()
	}
	return nil
}

// truncateForLitestream makes the -wal be cut off when it restarts, if
// Litestream copies the database. Otherwise Litestream, after a pause, takes old
// frames for those that it knows, and its copy is damaged. This costs a
// single client a third of its rate.
func truncateForLitestream(conns ...*Conn) error {
	copied, err := conns[0].QueryInt(`SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = '_litestream_seq')`)
	for _, c := range conns {
		if err == nil && copied == 1 {
			_, err = c.QueryInt(`PRAGMA journal_size_limit = 0`)
		}
	}
	return err
}

// logOf returns how many frames of the -wal are part of the database, and how many
// of them have been copied into its file. Where another process begins or ends a
// transaction just then the error is ErrBusy.
func logOf(c *Conn) (frames, copied int64, err error) {
	busy := false
	err = c.QueryRow(`PRAGMA wal_checkpoint(NOOP)`, nil, func(row Row) {
		busy, frames, copied = row.Int(0) != 0, max(0, row.Int(1)), max(0, row.Int(2))
	})
	if err == nil && busy {
		err = ErrBusy
	}
	return frames, copied, err
}

// Frames returns how many frames of the -wal are part of the database, and how many of
// them have been copied into its file. A -wal that has just restarted has none.
func (db *DB) Frames() (frames, copied int64, err error) {
	err = db.Read(func(c *Conn) error {
		frames, copied, err = logOf(c)
		return err
	})
	return frames, copied, err
}

// Checkpointing reports whether pages are being copied from the -wal to the
// database by this process.
func (db *DB) Checkpointing() bool { return db.writer.checkpoints.running.Load() }

// awaitReaders returns when nobody reads an older state than the newest. A
// checkpoint stops at the state of the oldest reader, and then syncs nothing.
func (c *checkpointer) awaitReaders() {
	c.db.gate.Lock()
	defer c.db.gate.Unlock()
}
