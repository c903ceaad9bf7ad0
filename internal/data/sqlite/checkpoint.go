package sqlite

import (
	"errors"
	"sync"
	"sync/atomic"
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
	restarted int64 // the length of the -wal, in pages, at the last attempt to restart it
	seen      int64 // the length of the -wal, in pages, at the last CheckpointIdle
	quiet     int   // calls of CheckpointIdle in a row that found that length
	look      atomic.Pointer[func() bool]
}

const (
	// checkpointAfter is the number of pages (4 KiB) in the -wal that are not
	// in the database yet when a checkpoint begins.
	checkpointAfter = 1000
	// longestWAL is the number of pages from which on the -wal is made to
	// restart.
	longestWAL = 4096
)

// limitWAL starts a checkpoint or restarts the -wal if it is time. The caller
// has the writer's connection. What fails is tried again after a later commit.
func (c *checkpointer) limitWAL(writer *Conn) {
	pages, copied, err := logOf(writer)
	if err != nil {
		return
	}
	c.restarted = min(c.restarted, pages)
	switch {
	case pages >= max(longestWAL, c.restarted+checkpointAfter) && pages-copied < checkpointAfter && c.running.CompareAndSwap(false, true):
		c.restarted = pages
		c.restart(writer)
		c.running.Store(false)
	case pages-copied >= checkpointAfter:
		c.start()
	}
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

// LookAtCheckpoints has this process call look before and after each of its checkpoints. While
// it returns false, no checkpoint is made: it would write over what another program did to the
// file.
func (db *DB) LookAtCheckpoints(look func() bool) { db.writer.checkpoints.look.Store(&look) }

// checkpoint copies as many pages as readers allow. It reports whether the -wal may restart.
func (c *checkpointer) checkpoint() bool {
	look := c.look.Load()
	if look != nil && !(*look)() {
		return false
	}
	c.Query(`PRAGMA wal_checkpoint(PASSIVE)`, nil, func(Row) {})
	return look == nil || (*look)()
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
	writer.Query(`PRAGMA wal_checkpoint(RESTART)`, nil, ignore)
	writer.QueryInt(patienceSQL)
}

// quietLooks is the number of calls of CheckpointIdle that make a pause.
const quietLooks = 4

// CheckpointIdle starts a checkpoint in a pause of all writing, so that the newest
// changes are not only in the -wal. One goroutine calls it every second.
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
