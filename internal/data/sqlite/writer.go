package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// writer owns the only connection that writes. It groups commits: the first caller becomes the
// leader and commits its own job and all waiting jobs in one transaction. Then it makes the first
// of the jobs that arrived in the meantime the next leader. So one fsync serves many callers, and
// a single caller never waits for another goroutine.
type writer struct {
	db          *DB
	conn        *Conn         // nil while the disk is full
	timeout     time.Duration // writerTimeout
	checkpoints *checkpointer

	mu      sync.Mutex
	waiting []*job
	leading bool           // a caller is using the connection
	stopped atomic.Bool    // no further jobs are accepted; set with mu locked
	running sync.WaitGroup // all accepted jobs
}

// largestGroup limits how long the first job of a group waits for the last.
const largestGroup = 256

// job is a change to make within a transaction, and its result.
type job struct {
	do   func(*Tx) error
	long bool // from WriteLong
	err  error
	turn chan bool // receives true to lead, or false when the job is done
}

// Tx is a write transaction.
type Tx struct {
	*Conn
	Now      int64   // the time of the transaction in milliseconds
	Noted    []int64 // the numbers that jobs passed to Note
	onCommit []func()
}

// Note records a number for BeforeCommit, but not twice in a row. A job must write before it calls
// Note.
func (t *Tx) Note(n int64) {
	if last := len(t.Noted) - 1; last < 0 || t.Noted[last] != n {
		t.Noted = append(t.Noted, n)
	}
}

// OnCommit schedules do to run after the transaction is on disk and before the next one begins. A
// job must write before it calls OnCommit, so that the transaction fails if the job fails. do must
// not panic.
func (t *Tx) OnCommit(do func()) { t.onCommit = append(t.onCommit, do) }

// ExecOne is like Exec for a statement that changes one row. It returns ErrNoRows if it changes
// none.
func (t *Tx) ExecOne(text string, args ...driver.Value) error {
	changed, err := t.Exec(text, args...)
	if err == nil && changed == 0 {
		err = ErrNoRows
	}
	return err
}

// Write runs do in a transaction and returns when the change is on disk or has failed. Changes of
// other callers may share the transaction. If the shared transaction fails, do runs again in a
// separate one, so do must change nothing except the database and its own results.
//
// If do fails without an error of SQLite and has run only SELECT statements, the transaction
// continues without it. A panic becomes an error. do must not call Read or Write.
func (db *DB) Write(do func(*Tx) error) error { return db.write(do, false) }

// WriteLong is like Write for a job that takes seconds, such as an import. It shares its
// transaction with no other job, so that no job waits for two long ones. While another process
// holds the lock, it tries less often than Write, so that short jobs come first.
func (db *DB) WriteLong(do func(*Tx) error) error { return db.write(do, true) }

func (db *DB) write(do func(*Tx) error, long bool) error {
	if db.lost.Load() {
		return ErrLost
	}
	if err := db.MakeWritable(); err != nil {
		return err
	}
	w, j := db.writer, &job{do: do, long: long, turn: make(chan bool, 1)}
	w.mu.Lock()
	if w.stopped.Load() {
		w.mu.Unlock()
		return ErrClosed
	}
	w.running.Add(1)
	defer w.running.Done()
	w.waiting = append(w.waiting, j)
	first := !w.leading
	w.leading = true
	w.mu.Unlock()
	if first || <-j.turn {
		w.lead()
	}
	return j.err
}

// lead commits a group of waiting jobs, beginning with the caller's.
func (w *writer) lead() {
	group := w.nextGroup()
	w.commit(group)
	for _, j := range group[1:] {
		j.turn <- false
	}
	w.checkpoints.limitWAL(w.conn)
	w.handOver(group[0].long)
}

// nextGroup removes the first waiting job, and all that can share its transaction, from the queue.
func (w *writer) nextGroup() (group []*job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var others []*job
	for i, j := range w.waiting {
		if i == 0 || !group[0].long && !j.long && len(group) < largestGroup {
			group = append(group, j)
		} else {
			others = append(others, j)
		}
	}
	w.waiting = others
	return group
}

// handOver makes the first waiting job the leader. After a long job, a short job comes before the
// next long one.
func (w *writer) handOver(afterLong bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := slices.IndexFunc(w.waiting, func(j *job) bool { return !j.long }); afterLong && i > 0 {
		short := w.waiting[i]
		w.waiting = slices.Insert(slices.Delete(w.waiting, i, i+1), 0, short)
	}
	if len(w.waiting) > 0 {
		w.waiting[0].turn <- true
		return
	}
	w.leading = false
}

// stop rejects further jobs and returns when all others are done.
func (w *writer) stop() {
	w.mu.Lock()
	w.stopped.Store(true)
	w.mu.Unlock()
	w.running.Wait()
	w.checkpoints.done.Wait()
}

// commit runs the group in one transaction. If the transaction fails, each job runs in its own, so
// that only the jobs at fault fail.
func (w *writer) commit(group []*job) {
	err := w.db.note(w.db.explainFull(w.transact(group)))
	w.db.noteWriting(err)
	if err == nil {
		return
	}
	if errors.Is(err, ErrLost) {
		w.db.lost.Store(true)
	}
	if len(group) == 1 || errors.Is(err, ErrBusy) || errors.Is(err, ErrLost) {
		for _, j := range group {
			j.err = err
		}
		return
	}
	for i := range group {
		w.commit(group[i : i+1])
	}
}

// transact commits all jobs or none. A job that fails alone keeps its error, and the others
// continue.
func (w *writer) transact(group []*job) (err error) {
	t := &Tx{Conn: w.conn, Now: w.db.Clock.Now().UnixMilli()}
	if err := w.begin(group[0].long); err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	defer func() {
		if err != nil {
			t.Exec(`ROLLBACK`) // fails if SQLite has already rolled back
		}
	}()
	written := false
	for _, j := range group {
		t.wrote = false
		j.err = t.run(j.do)
		// An error of SQLite may have rolled the transaction back, even in a SELECT. The state after
		// a panic is unknown.
		if j.err != nil && (t.wrote || errors.As(j.err, new(ResultError)) || errors.Is(j.err, errPanic)) {
			return j.err
		}
		written = written || t.wrote
	}
	if before := w.db.options.BeforeCommit; before != nil && written {
		if err := t.run(before); err != nil {
			return err
		}
	}
	if group[0].long || w.checkpoints.low {
		if err := w.checkpoints.checkRoom(w.conn); err != nil {
			return err
		}
	}
	if _, err := t.Exec(`COMMIT`); err != nil {
		return fmt.Errorf("committing a transaction: %w", err)
	}
	for _, do := range t.onCommit {
		do()
	}
	return nil
}

var patienceSQL = fmt.Sprintf(`PRAGMA busy_timeout = %d`, writerPatience.Milliseconds())

// begin begins a transaction. It waits while another process holds the lock.
func (w *writer) begin(long bool) error {
	for began := time.Now(); ; {
		_, err := w.conn.Exec(`BEGIN IMMEDIATE`)
		if !errors.Is(err, ErrBusy) || time.Since(began) >= w.timeout {
			return err
		}
		if long {
			time.Sleep(longPause)
		}
	}
}

var errPanic = errors.New("panic")

// run calls do and returns a panic as an error, because another caller's goroutine may run do.
func (t *Tx) run(do func(*Tx) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errPanic, p)
		}
	}()
	return do(t)
}

// note returns err, and records whether SQLite reported damage.
func (db *DB) note(err error) error {
	if result, ok := errors.AsType[ResultError](err); ok && result.Is(ErrCorrupt) {
		db.damaged.Store(true)
	}
	return err
}

// Damaged reports whether SQLite found the database damaged while reading or writing, and finds it
// damaged again on a new connection. A disk that is temporarily unreadable also looks damaged.
func (db *DB) Damaged() bool {
	if !db.damaged.Swap(false) {
		return false
	}
	c, err := db.Connect()
	if err == nil {
		err = c.CheckStructure(context.Background())
		c.Close()
	}
	if err == nil {
		return false
	}
	db.damaged.Store(true)
	return true
}

func (db *DB) noteWriting(err error) {
	var fault error
	for _, known := range []error{ErrFull, ErrIO, ErrPermission} {
		if errors.Is(err, known) {
			fault = known
		}
	}
	if fault != nil || err == nil {
		db.fault.Store(&fault)
	}
}

// WritingFault returns why the database cannot be written: ErrReadOnly, or the error of the last
// write if the disk caused it. It returns nil if writing works.
func (db *DB) WritingFault() error {
	switch fault := db.fault.Load(); {
	case osutil.ReadOnly(filepath.Dir(db.path)):
		return ErrReadOnly
	case !db.Writable():
		return ErrFull
	case fault != nil:
		return *fault
	}
	return nil
}
