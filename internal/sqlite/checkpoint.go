package sqlite

import (
	"fmt"
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
	gate      *sync.RWMutex // the database's
	running   atomic.Bool
	done      sync.WaitGroup
	restarted int64 // the length of the -wal, in pages, at the last attempt to restart it
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
	var pages, copied int64
	writer.QueryRow(`PRAGMA wal_checkpoint(NOOP)`, nil, func(row Row) { pages, copied = row.Int(1), row.Int(2) })
	c.restarted = min(c.restarted, pages)
	switch {
	case c.running.Load():
	case pages-copied >= checkpointAfter:
		c.running.Store(true)
		c.done.Go(c.checkpoint)
	case pages >= max(longestWAL, c.restarted+checkpointAfter):
		c.restarted = pages
		c.restart(writer)
	}
}

func (c *checkpointer) checkpoint() {
	defer c.running.Store(false)
	c.QueryRow(`PRAGMA wal_checkpoint(PASSIVE)`, nil, func(Row) {})
}

// restart copies what remains so that the -wal can restart. Nobody writes
// meanwhile. To copy and sync takes tens of milliseconds, so others may read. Then
// readers stop for a moment. It does not wait for readers of other programs.
func (c *checkpointer) restart(writer *Conn) {
	c.awaitReaders()
	c.checkpoint()
	c.gate.Lock()
	defer c.gate.Unlock()
	ignore := func(Row) {}
	writer.Query(`PRAGMA busy_timeout = 0`, nil, ignore)
	writer.Query(`PRAGMA wal_checkpoint(RESTART)`, nil, ignore)
	writer.Query(fmt.Sprintf(`PRAGMA busy_timeout = %d`, busyTimeout.Milliseconds()), nil, ignore)
}

// awaitReaders returns when nobody reads an older state than the newest. A
// checkpoint stops at the state of the oldest reader, and then syncs nothing.
func (c *checkpointer) awaitReaders() {
	c.gate.Lock()
	defer c.gate.Unlock()
}

// wait returns when no checkpoint is running.
func (c *checkpointer) wait() { c.done.Wait() }

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
