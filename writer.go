package main

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// writer is the one connection that writes, and whose turn it is to. Who comes
// first leads: it commits its own job and what has gathered behind it in one
// transaction, and hands over to the first of those who came meanwhile. So one
// fsync serves many, and a single client waits for no other goroutine.
type writer struct {
	conn   *conn
	holder *conn // see hold
	folder *conn // see checkpoint
	clock  *clock
	gate   *sync.RWMutex // the store's
	rolls  *rolls        // the store's

	checkpoints sync.WaitGroup // one or none
	folding     atomic.Bool    // there is one
	triedAt     int64          // the length of the -wal, in pages, when it was last to start over

	mu      sync.Mutex
	waiting []*job
	leading bool      // somebody has the connections
	idle    sync.Cond // nobody has
	stopped bool
}

// clockSaved is how far the time in the database may lag behind while it is
// written to.
const clockSaved = time.Second

// largestGroup bounds how long the first of a group waits for the last.
const largestGroup = 256

// job is a change to make within a transaction. It runs again in one of its
// own if the transaction fails, so it changes nothing but the database and
// what it gives back. A job that refuses, with errNotFound or errChanged, has
// written nothing.
type job struct {
	do   func(*transaction) error
	err  error
	turn chan bool // true: it is to lead; false: it is done
}

// transaction is what a job works with.
type transaction struct {
	*conn
	now        int64 // milliseconds: the time of everything in it
	changed    []changedRecord
	clockSaved bool
}

// changedRecord is one that a transaction changed, once.
type changedRecord struct {
	tenant tenantID
	row    int64
}

// execOne is exec for what must change one row.
func (t *transaction) execOne(text string, args ...value) error {
	changed, err := t.exec(text, args...)
	if err == nil && changed != 1 {
		err = fmt.Errorf("%d rows were changed, not 1", changed)
	}
	return err
}

// touch notes that a record has been changed.
func (t *transaction) touch(tenant tenantID, row int64) {
	t.changed = append(t.changed, changedRecord{tenant, row})
}

func newWriter(conn, holder, folder *conn, s *store) *writer {
	w := &writer{conn: conn, holder: holder, folder: folder, clock: s.clock, gate: &s.gate, rolls: &s.rolls}
	w.idle.L = &w.mu
	w.hold()
	time.AfterFunc(holdTime, w.refresh)
	return w
}

// write makes the change and returns when it is on disk, or not made at all.
func (s *store) write(do func(*transaction) error) error {
	w, j := s.writer, &job{do: do, turn: make(chan bool, 1)}
	w.mu.Lock()
	if w.stopped {
		w.mu.Unlock()
		return errClosed
	}
	w.waiting = append(w.waiting, j)
	first := !w.leading
	w.leading = true
	w.mu.Unlock()
	if first || <-j.turn {
		w.lead()
	}
	return j.err
}

// lead commits what is waiting, the leader's own job among it as the first.
func (w *writer) lead() {
	w.mu.Lock()
	group := slices.Clone(w.waiting[:min(len(w.waiting), largestGroup)])
	w.waiting = slices.Delete(w.waiting, 0, len(group))
	w.mu.Unlock()
	w.release()
	w.commit(group)
	for _, j := range group[1:] {
		j.turn <- false
	}
	w.bound()
	w.handOver()
}

// handOver lets the first of those who wait lead, if there is one.
func (w *writer) handOver() {
	w.hold()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waiting) > 0 {
		w.waiting[0].turn <- true
		return
	}
	w.leading = false
	w.idle.Broadcast()
}

// stop refuses what comes from now on and returns when all else is done.
func (w *writer) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.stopped = true; w.leading; {
		w.idle.Wait()
	}
	w.release()
	w.checkpoints.Wait()
}

// holdTime bounds how long another program's writes wait to be folded from
// the -wal into the database.
const holdTime = 500 * time.Millisecond

// hold keeps a read transaction open. While one connection of a process has
// SQLite's shared lock on the newest state, the others share it without system
// calls, which makes a small read a third faster. It is let go for each write,
// or the -wal could never start over. Where it fails, readers lock for
// themselves.
func (w *writer) hold() {
	w.holder.exec(`BEGIN`)
	w.holder.queryNumber(`SELECT only_row FROM service`)
}

func (w *writer) release() { w.holder.exec(`COMMIT`) }

// refresh holds what is the newest state by now, again and again.
func (w *writer) refresh() {
	w.mu.Lock()
	rest := !w.leading && !w.stopped
	w.leading = w.leading || rest
	stopped := w.stopped
	w.mu.Unlock()
	if rest {
		w.release()
		w.handOver()
	}
	if !stopped {
		time.AfterFunc(holdTime, w.refresh)
	}
}

// commit runs group in one transaction. When that fails each gets one of its
// own, so that only those that cannot succeed fail.
func (w *writer) commit(group []*job) {
	err := w.transact(group)
	if err == nil {
		return
	}
	if len(group) == 1 || errors.Is(err, errBusy) {
		for _, j := range group {
			j.err = err
		}
		return
	}
	for i := range group {
		w.commit(group[i : i+1])
	}
}

// transact commits all jobs, each with its own answer, or none.
func (w *writer) transact(group []*job) (err error) {
	t := &transaction{conn: w.conn, now: w.clock.now().UnixMilli()}
	if _, err := t.exec(`BEGIN IMMEDIATE`); err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	defer func() {
		if err != nil {
			w.rolls.giveUp(t)  // before another process can commit a version of the same number
			t.exec(`ROLLBACK`) // fails where SQLite has done it itself
		}
	}()
	for _, j := range group {
		if j.err = t.run(j.do); j.err != nil && !errors.Is(j.err, errNotFound) && !errors.Is(j.err, errChanged) {
			return j.err
		}
	}
	if t.now-w.clock.saved.Load() >= clockSaved.Milliseconds() {
		if err := t.saveClock(); err != nil {
			return err
		}
	}
	if err := w.rolls.expect(t); err != nil {
		return err
	}
	if _, err := t.exec(`COMMIT`); err != nil {
		return fmt.Errorf("committing a transaction: %w", err)
	}
	if t.clockSaved {
		w.clock.saved.Store(t.now)
	}
	return nil
}

const (
	// checkpointAfter is the number of pages (4 KiB) in the -wal from which on
	// they are folded into the database.
	checkpointAfter = 1000
	// longestWAL is the number of pages from which on the -wal is made to
	// start over.
	longestWAL = 4096
)

// bound keeps the -wal from growing for ever. A checkpoint folds it into the
// database, beside the readers and the writer. It then starts over by itself
// when nobody reads or writes; under a load that never ends it is made to.
// What fails here is done later.
func (w *writer) bound() {
	var pages, folded int64
	w.conn.queryRow(`PRAGMA wal_checkpoint(NOOP)`, nil, func(row values) { pages, folded = number(row[1]), number(row[2]) })
	w.triedAt = min(w.triedAt, pages)
	switch {
	case w.folding.Load():
	case pages-folded >= checkpointAfter:
		w.folding.Store(true)
		w.checkpoints.Go(w.checkpoint)
	case pages >= max(longestWAL, w.triedAt+checkpointAfter):
		w.triedAt = pages
		w.startOver()
	}
}

func (w *writer) checkpoint() {
	defer w.folding.Store(false)
	w.folder.queryRow(`PRAGMA wal_checkpoint(PASSIVE)`, nil, func(values) {})
}

// startOver folds what little a checkpoint has left over while nobody reads or
// writes, so that the -wal can start over.
func (w *writer) startOver() {
	w.gate.Lock()
	defer w.gate.Unlock()
	w.conn.query(`PRAGMA busy_timeout = 0`, nil, func(values) {}) // no wait for another program's readers
	w.conn.query(`PRAGMA wal_checkpoint(RESTART)`, nil, func(values) {})
	w.conn.query(fmt.Sprintf(`PRAGMA busy_timeout = %d`, busyTimeout.Milliseconds()), nil, func(values) {})
}

// run turns a panic of a job into its error.
func (t *transaction) run(do func(*transaction) error) error {
	return safely(func() error { return do(t) })
}

// saveClock keeps the latest time seen.
func (t *transaction) saveClock() error {
	_, err := t.exec(`UPDATE service SET latest_time = max(latest_time, ?)`, t.now)
	t.clockSaved = err == nil
	return err
}

// saveClock keeps the latest time seen, by a transaction that does nothing else.
func (s *store) saveClock() error {
	return s.write((*transaction).saveClock)
}
