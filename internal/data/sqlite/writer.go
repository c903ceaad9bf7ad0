package sqlite

import (
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

// writer has the one connection that writes.
//
// It does group commit. The first caller becomes the leader: it commits its own
// job together with all jobs that are waiting, in one transaction. Then it hands
// over to the first of the jobs that have arrived meanwhile. So one fsync
// serves many callers, and a caller alone waits for no other goroutine.
type writer struct {
	db          *DB
	conn        *Conn         // nil while there is no room
	timeout     time.Duration // writerTimeout
	checkpoints *checkpointer

	mu      sync.Mutex
	waiting []*job
	leading bool           // a caller has the connection
	stopped atomic.Bool    // no job is taken any more; set with mu locked
	running sync.WaitGroup // of all that were taken
}

// largestGroup bounds how long the first job of a group waits for the last.
const largestGroup = 256

// job is a change to make within a transaction, and what came of it.
type job struct {
	do   func(*Tx) error
	long bool // WriteLong
	err  error
	turn chan bool // true: lead; false: done
}

// Tx is a transaction that writes.
type Tx struct {
	*Conn
	Now      int64   // milliseconds: the time of everything in the transaction
	Noted    []int64 // what the jobs have noted for BeforeCommit
	onCommit []func()
}

// Note notes a number for BeforeCommit, often several times in a row. Only a job that has
// written may call it.
func (t *Tx) Note(n int64) {
	if last := len(t.Noted) - 1; last < 0 || t.Noted[last] != n {
		t.Noted = append(t.Noted, n)
	}
}

// OnCommit has do run when the transaction is on disk, before the next one
// begins. Only a job that has written may call it: if that job fails, so does
// the transaction. do must not panic.
func (t *Tx) OnCommit(do func()) { t.onCommit = append(t.onCommit, do) }

// ExecOne is Exec for a statement that changes one row. Where it changes none the
// error is ErrNoRows.
func (t *Tx) ExecOne(text string, args ...driver.Value) error {
	changed, err := t.Exec(text, args...)
	if err == nil && changed == 0 {
		err = ErrNoRows
	}
	return err
}

// Write runs do in a transaction and returns when the change is on disk, or
// not made at all. Other callers' changes may share the transaction. Where it
// fails as a whole do runs again in one of its own, so do must change nothing
// but the database and its own results.
//
// A job that returns an error of its own before it has run anything but SELECT
// fails alone. A panic becomes an error. do must not call Read or Write.
func (db *DB) Write(do func(*Tx) error) error { return db.write(do, false) }

// WriteLong is Write for a job of seconds, as an import. It shares its transaction with no
// other job, so that nobody waits for two of them. While another process has the lock it
// asks less often than Write, so that short jobs come first.
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

// lead commits the jobs that are waiting. The first of them is the leader's.
func (w *writer) lead() {
	group := w.nextGroup()
	w.commit(group)
	for _, j := range group[1:] {
		j.turn <- false
	}
	w.checkpoints.limitWAL(w.conn)
	w.handOver(group[0].long)
}

// nextGroup takes the first of the waiting jobs, and all that may share its transaction.
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

// handOver makes the first of the waiting jobs the leader, if there is one. Those who have
// waited for a long job come before the next long one.
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

// stop refuses further jobs and returns when all others are done.
func (w *writer) stop() {
	w.mu.Lock()
	w.stopped.Store(true)
	w.mu.Unlock()
	w.running.Wait()
	w.checkpoints.done.Wait()
}

// commit runs the group in one transaction. If that fails each job gets a
// transaction of its own, so that only the jobs that cannot succeed fail.
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

// transact commits all jobs, or none. A job that fails alone keeps its error
// and does not stop the others.
func (w *writer) transact(group []*job) (err error) {
	t := &Tx{Conn: w.conn, Now: w.db.Clock.Now().UnixMilli()}
	if err := w.begin(group[0].long); err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	defer func() {
		if err != nil {
			t.Exec(`ROLLBACK`) // fails where SQLite has rolled back by itself
		}
	}()
	written := false
	for _, j := range group {
		t.wrote = false
		if j.err = t.run(j.do); j.err != nil && !t.failsAlone(j.err) {
			return j.err
		}
		written = written || t.wrote
	}
	if before := w.db.options.BeforeCommit; before != nil && written {
		if err := t.run(before); err != nil {
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

// begin begins a transaction. While another process has the lock it waits.
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

// failsAlone reports whether a job has left the transaction as it was, so that
// the others can go on. A failure of SQLite may have rolled it back, even in a
// SELECT. What a panic has left behind is not known.
func (t *Tx) failsAlone(err error) bool {
	return !t.wrote && !errors.As(err, new(ResultError)) && !errors.Is(err, errPanic)
}

var errPanic = errors.New("panic")

// run turns a panic of a job into its error: the goroutine that runs it may be
// another caller's.
func (t *Tx) run(do func(*Tx) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errPanic, p)
		}
	}()
	return do(t)
}

// note returns err, and remembers that the database is damaged if err says so.
func (db *DB) note(err error) error {
	if err == nil {
		return nil
	}
	if result, ok := errors.AsType[ResultError](err); ok && result.Is(ErrCorrupt) {
		db.damaged.Store(true)
	}
	return err
}

// Damaged reports whether SQLite has found the files of the database damaged while it
// read or wrote them, and finds them damaged again on a new connection. It calls a
// disk that could not be read damage, too, which may have passed.
func (db *DB) Damaged() bool {
	if !db.damaged.Swap(false) {
		return false
	}
	found := "ok"
	c, err := db.Connect()
	if err == nil {
		err = c.QueryRow(`PRAGMA integrity_check(1)`, nil, func(row Row) { found = row.Text(0) })
		c.Close()
	}
	if err == nil && found == "ok" {
		return false
	}
	db.damaged.Store(true)
	return true
}

// noteWriting notes what came of the last transaction that writes.
func (db *DB) noteWriting(err error) {
	fault := error(nil)
	for _, known := range []error{ErrFull, ErrIO, ErrPermission} {
		if errors.Is(err, known) {
			fault = known
		}
	}
	if fault != nil || err == nil {
		db.fault.Store(&fault)
	}
}

// WritingFault returns why nothing can be written: ErrReadOnly, or that of the last
// transaction that the disk has refused. It is nil where writing works.
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
