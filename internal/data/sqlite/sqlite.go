// Package sqlite opens, reads, writes, copies and checks SQLite databases. One connection commits
// groups of writes while several others read. The package does not depend on any table of the
// application.
package sqlite

import (
	"cmp"
	"errors"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// Version is the version of SQLite.
const Version = sqlite3.SQLITE_VERSION

// DB is an open database in WAL mode, with several connections for reading and one for writing.
type DB struct {
	Clock *Clock

	path    string
	options Options
	readers chan *Conn   // idle connections; closed with the database
	gate    sync.RWMutex // held for reading while a reader is in use
	writer  *writer
	lost    atomic.Bool
	damaged atomic.Bool
	fault   atomic.Pointer[error] // of the last write; see WritingFault

	writable   atomic.Bool // false on a full disk, where only readers are open
	connecting sync.Mutex  // held while connections are replaced or closed
	tried      time.Time   // when MakeWritable last checked for space
}

// Options configure a database. All fields are optional.
type Options struct {
	Now          func() time.Time // the system's clock; nil means time.Now
	BeforeCommit func(*Tx) error  // runs at the end of every write transaction that may have changed something
}

var readerCount = max(4, runtime.NumCPU())

// OpenFiles is the number of files that a DB keeps open: the database and its -wal for each
// connection, and one -shm.
var OpenFiles = 2*(2+readerCount) + 1

// Open opens the database at path, which must be complete and have the right format. On a full disk
// the database may be read-only until MakeWritable finds space.
func Open(path string, options Options) (*DB, error) {
	db := newDB(path, options)
	err := db.connect()
	if errors.Is(err, ErrFull) && !hasWAL(path) {
		err = db.connectReadOnly()
	}
	if err != nil {
		return nil, Wrap("opening", path, err)
	}
	return db, nil
}

// OpenReadOnly opens a database that no one changes, such as a backup. It creates no file next to
// it.
func OpenReadOnly(path string) (*DB, error) {
	db := newDB(path, Options{})
	if err := db.connectReadOnly(); err != nil {
		return nil, Wrap("opening", path, err)
	}
	return db, nil
}

// OpenUnnamed opens a database for reading whose content fill writes to a new file at path. On Unix the
// file has lost its name by then, so that the content disappears with the process, even if someone
// kills it. Elsewhere the caller removes the file after it has closed the database. Errors of fill
// are returned unchanged.
func (f Format) OpenUnnamed(path string, fill func(io.Writer) error) (*DB, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, Wrap("making", path, err)
	}
	defer file.Close()
	var conns []*Conn
	for range readerCount {
		c, err := open(unnamedDSN(path)) // reads nothing yet
		if err != nil {
			closeAll(conns)
			return nil, Wrap("opening", path, err)
		}
		conns = append(conns, c)
	}
	os.Remove(path)
	err = fill(file)
	if err == nil {
		err = Wrap("reading", path, f.judgeUnnamed(file))
	}
	if err != nil {
		closeAll(conns)
		return nil, err
	}
	db := newDB(path, Options{})
	return db, db.setReaders(conns)
}

func newDB(path string, options Options) *DB {
	if options.Now == nil {
		options.Now = time.Now
	}
	db := &DB{Clock: &Clock{system: options.Now}, path: path, options: options, readers: make(chan *Conn, readerCount)}
	db.writer = &writer{db: db, timeout: writerTimeout, checkpoints: &checkpointer{db: db}}
	return db
}

func (db *DB) connect() error {
	sources := []string{writerDSN(db.path), writerDSN(db.path)}
	conns, err := openAll(append(sources, slices.Repeat([]string{readerDSN(db.path)}, readerCount)...))
	if err == nil {
		err = truncateForLitestream(conns[0], conns[1])
	}
	if err == nil {
		_, err = conns[0].QueryInt(patienceSQL)
	}
	if err != nil {
		closeAll(conns)
		return err
	}
	db.writer.conn, db.writer.checkpoints.Conn = conns[0], conns[1]
	err = db.setReaders(conns[2:])
	db.writable.Store(true)
	return err
}

// setReaders adds connections for reading. It closes the existing ones, which are not in use.
func (db *DB) setReaders(conns []*Conn) (err error) {
	replacing := len(db.readers) > 0
	for _, c := range conns {
		if replacing {
			old := <-db.readers // waits while Salvage uses it
			err = cmp.Or(err, old.Close())
		}
		db.readers <- c
	}
	return err
}

// connectReadOnly opens readers that need no -wal and no -shm, for which a full disk may lack
// space. This requires that the -wal contains no part of the database, as after a clean shutdown.
// The readers do not see later changes by other programs.
func (db *DB) connectReadOnly() error {
	conns, err := openAll(slices.Repeat([]string{immutableDSN(db.path)}, readerCount))
	if err == nil {
		err = db.setReaders(conns)
	}
	return err
}

// Writable reports whether the database is open for writing. It is false only on a full disk.
func (db *DB) Writable() bool { return db.writable.Load() }

// openAll opens a connection for each data source name. If one fails, it closes the others.
func openAll(sources []string) (conns []*Conn, err error) {
	for _, source := range sources {
		c, err := open(source)
		if err == nil {
			conns = append(conns, c)
			_, err = c.QueryInt(`PRAGMA page_count`) // also opens the -wal and the -shm
		}
		if err != nil {
			closeAll(conns)
			return nil, err
		}
	}
	return conns, nil
}

func closeAll(conns []*Conn) (err error) {
	for _, c := range conns {
		err = cmp.Or(err, c.Close())
	}
	return err
}

// Path returns the path passed to Open.
func (db *DB) Path() string { return db.path }

// Read calls do with a connection for reading. Each statement reads a single state of the
// database. do must not call Read or Write. If do panics, the connection remains usable: Query and
// Transaction clean up with deferred calls.
func (db *DB) Read(do func(*Conn) error) error {
	if db.lost.Load() {
		return ErrLost
	}
	db.gate.RLock()
	defer db.gate.RUnlock()
	return db.note(db.Salvage(do))
}

// Salvage is like Read, but also works for a lost database: on Unix, a deleted file remains
// readable until it is closed.
func (db *DB) Salvage(do func(*Conn) error) error {
	c, open := <-db.readers
	if !open {
		return ErrClosed
	}
	defer func() { db.readers <- c }()
	return do(c)
}

// ReadTx is like Read within one transaction, so that do reads a single state.
func (db *DB) ReadTx(do func(*Conn) error) error {
	return db.Read(func(c *Conn) error {
		return c.Transaction(func() error { return do(c) })
	})
}

// Connect opens another connection for reading, for work that takes minutes. The caller closes it.
func (db *DB) Connect() (*Conn, error) { return Peek(db.path) }

// Close waits for running reads and writes, then closes the database. A second call returns
// ErrClosed.
func (db *DB) Close() error {
	db.connecting.Lock()
	defer db.connecting.Unlock()
	db.writer.stop()
	var conns []*Conn
	for range readerCount {
		c, open := <-db.readers
		if !open {
			return ErrClosed
		}
		conns = append(conns, c)
	}
	close(db.readers)
	// The last connection to close removes the -wal. A reader cannot do this.
	if db.Writable() {
		conns = append(conns, db.writer.checkpoints.Conn, db.writer.conn)
	}
	return closeAll(conns)
}

// spaceInterval is the minimum time between two checks for space, which block readers.
const spaceInterval = 100 * time.Millisecond

// MakeWritable opens the connections for writing if the disk was full when the database was opened.
// It returns ErrFull while there is no space, and nil if the database is already writable.
func (db *DB) MakeWritable() error {
	if db.Writable() {
		return nil
	}
	db.connecting.Lock()
	defer db.connecting.Unlock()
	switch {
	case db.Writable() || db.writer.stopped.Load():
		return nil
	case time.Since(db.tried) < spaceInterval:
		return ErrFull
	}
	db.tried = time.Now()
	db.gate.Lock() // waits for the readers
	defer db.gate.Unlock()
	return db.connect()
}

// SizeOf returns the size of a database in bytes: its file and its -wal.
func SizeOf(path string) (bytes int64) {
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(path + suffix); err == nil {
			bytes += info.Size()
		}
	}
	return bytes
}

// hasWAL reports whether the -wal of the database at path may contain a part of it.
func hasWAL(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err == nil && info.Size() > 0
}

// Lose marks the database as lost, because its files were deleted, moved or changed. It waits for
// running writes. From then on Read and Write return ErrLost.
func (db *DB) Lose() {
	db.lost.Store(true)
	db.writer.stop()
}

// IsLost reports whether Lose was called or BeforeCommit returned ErrLost.
func (db *DB) IsLost() bool { return db.lost.Load() }
