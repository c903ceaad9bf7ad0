// Package sqlite is the engine of the store: connections, readers beside one
// writer with group commit, checkpoints, and what can be said of a database file
// before it is opened. It knows no table.
//
// A write goes through writer.go, and from the -wal into the file by checkpoint.go.
// conn.go has one connection, and the settings of each kind. file.go, schema.go and
// lock.go are about a database that is not open, copy.go about copies and files that
// are rewritten.
package sqlite

import (
	"cmp"
	"errors"
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

// DB is an open database in WAL mode: a few connections that read and one
// that writes.
type DB struct {
	Clock *Clock

	path    string
	options Options
	readers chan *Conn   // those that are idle; closed with the database
	gate    sync.RWMutex // held for reading while a reader is in use
	writer  *writer
	lost    atomic.Bool
	damaged atomic.Bool
	fault   atomic.Pointer[error] // of the last transaction; see WritingFault

	writable   atomic.Bool // false while there are readers only, on a full disk
	connecting sync.Mutex  // held while the connections are replaced or closed
	tried      time.Time   // when MakeWritable looked for room
}

// Options are what a database asks its owner for. All may be nil.
type Options struct {
	Now          func() time.Time // the system's clock; nil means time.Now
	BeforeCommit func(*Tx) error  // runs last in every transaction of the writer that has written
}

// readerCount is the number of connections that read.
var readerCount = max(4, runtime.NumCPU())

// OpenFiles is how many files a DB has open: two for each connection, the
// database and its -wal, and one -shm.
var OpenFiles = 2*(2+readerCount) + 1

// Open opens the database at path, which must be whole and of the right
// format. On a full disk it may be readable only, until MakeWritable finds room.
func Open(path string, options Options) (*DB, error) {
	db := newDB(path, options)
	err := db.connect()
	if errors.Is(err, ErrFull) && !hasWAL(path) {
		err = db.connectReadOnly()
	}
	if err != nil {
		return nil, wrap("opening", path, err)
	}
	return db, nil
}

// OpenReadOnly opens a database that no one changes, such as a backup. It leaves no file
// next to it.
func OpenReadOnly(path string) (*DB, error) {
	db := newDB(path, Options{})
	if err := db.connectReadOnly(); err != nil {
		return nil, wrap("opening", path, err)
	}
	return db, nil
}

func newDB(path string, options Options) *DB {
	if options.Now == nil {
		options.Now = time.Now
	}
	db := &DB{Clock: &Clock{system: options.Now}, path: path, options: options, readers: make(chan *Conn, readerCount)}
	db.writer = &writer{db: db, timeout: writerTimeout, checkpoints: &checkpointer{db: db}}
	return db
}

// connect opens all connections.
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

// setReaders has these connections read in place of those that have until now, none of
// which is in use.
func (db *DB) setReaders(conns []*Conn) (err error) {
	replacing := len(db.readers) > 0
	for _, c := range conns {
		if replacing {
			old := <-db.readers // waits for one that Salvage has lent
			err = cmp.Or(err, old.Close())
		}
		db.readers <- c
	}
	return err
}

// connectReadOnly opens readers that need no room on a full disk for the files that
// SQLite needs beside a database that is written: the -wal and the -shm, of 32 KiB at
// first. That is possible while no -wal holds a part of the database, as after every
// orderly end. They do not see what other programs write meanwhile.
func (db *DB) connectReadOnly() error {
	conns, err := openAll(slices.Repeat([]string{immutableDSN(db.path)}, readerCount))
	if err != nil {
		return err
	}
	return db.setReaders(conns)
}

// Writable reports whether the database is open for writing, as always but on a
// full disk.
func (db *DB) Writable() bool { return db.writable.Load() }

// openAll opens a connection for each data source name, or none.
func openAll(sources []string) (conns []*Conn, err error) {
	for _, source := range sources {
		c, err := open(source)
		if err == nil {
			conns = append(conns, c)
			_, err = c.QueryInt(`PRAGMA page_count`) // opens the files beside the database, too
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

// Path returns the path that the database was opened by.
func (db *DB) Path() string { return db.path }

// Read lends out a connection to read with. All that one statement reads is of
// one moment. do must not call Read or Write.
//
// A panic of do leaves the connection fit for the next caller: Query and
// Transaction end by deferred calls what they have begun.
func (db *DB) Read(do func(*Conn) error) error {
	if db.lost.Load() {
		return ErrLost
	}
	db.gate.RLock()
	defer db.gate.RUnlock()
	return db.note(db.Salvage(do))
}

// Salvage is Read for a database that may be lost: on Unix a file that was deleted can
// be read until it is closed.
func (db *DB) Salvage(do func(*Conn) error) error {
	c, open := <-db.readers
	if !open {
		return ErrClosed
	}
	defer func() { db.readers <- c }()
	return do(c)
}

// ReadTx is Read within one transaction: all that do reads is of one moment.
func (db *DB) ReadTx(do func(*Conn) error) error {
	return db.Read(func(c *Conn) error {
		return c.Transaction(func() error { return do(c) })
	})
}

// Connect opens a further connection that reads, for work that takes minutes.
// The caller closes it.
func (db *DB) Connect() (*Conn, error) { return Peek(db.path) }

// Close waits for what is under way and closes the database. A second call
// returns ErrClosed.
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
	// The last connection to close removes the -wal, which a reader cannot do.
	if db.Writable() {
		conns = append(conns, db.writer.checkpoints.Conn, db.writer.conn)
	}
	return closeAll(conns)
}

// roomInterval is the time between two looks for room, during which nobody
// reads.
const roomInterval = 100 * time.Millisecond

// MakeWritable opens the connections that the full disk had no room for. The
// error is ErrFull while there is none. A database that is writable stays so.
func (db *DB) MakeWritable() error {
	if db.Writable() {
		return nil
	}
	db.connecting.Lock()
	defer db.connecting.Unlock()
	switch {
	case db.Writable() || db.writer.stopped.Load():
		return nil
	case time.Since(db.tried) < roomInterval:
		return ErrFull
	}
	db.tried = time.Now()
	db.gate.Lock() // no reader is in use
	defer db.gate.Unlock()
	return db.connect()
}

// SizeOf returns how many bytes a database takes: its file and its -wal.
func SizeOf(path string) (bytes int64) {
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(path + suffix); err == nil {
			bytes += info.Size()
		}
	}
	return bytes
}

// hasWAL reports whether a part of the database at path may be in its -wal.
func hasWAL(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err == nil && info.Size() > 0
}

// Lose ends all reading and writing: the caller has found that the files of the
// database have gone or were changed. It returns when no write is under way. From
// then on Read and Write return ErrLost.
func (db *DB) Lose() {
	db.lost.Store(true)
	db.writer.stop()
}

// IsLost reports whether the database is lost: Lose was called, or BeforeCommit returned
// ErrLost.
func (db *DB) IsLost() bool { return db.lost.Load() }
