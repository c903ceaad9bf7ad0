package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// room says whether the disk had room for the files that SQLite needs beside a
// database that is written: the -wal and the -shm, of 32 KiB at first.
//
// On a full disk a database is read without them. That is possible while no
// -wal holds a part of it, as after every orderly end.
type room struct {
	none  atomic.Bool // the database has readers only
	mu    sync.Mutex  // held while the connections are replaced or closed
	tried time.Time   // when room was looked for
}

// roomInterval is the time between two looks for room, during which nobody
// reads.
const roomInterval = 100 * time.Millisecond

// connectReadOnly opens connections that need no room. They do not see what
// other programs write meanwhile.
func (db *DB) connectReadOnly() error {
	conns, err := openAll(slices.Repeat([]string{immutableDSN(db.path)}, readerCount))
	if err != nil {
		return err
	}
	for _, c := range conns {
		db.readers <- c
	}
	db.room.none.Store(true)
	return nil
}

// MakeWritable opens the connections that the full disk had no room for. The
// error is ErrFull while there is none. A database that is writable stays so.
func (db *DB) MakeWritable() error {
	if !db.room.none.Load() {
		return nil
	}
	db.room.mu.Lock()
	defer db.room.mu.Unlock()
	switch {
	case !db.room.none.Load() || db.writer.isStopped():
		return nil
	case time.Since(db.room.tried) < roomInterval:
		return ErrFull
	}
	db.room.tried = time.Now()
	db.gate.Lock() // no reader is in use
	defer db.gate.Unlock()
	var old []*Conn
	for range readerCount {
		old = append(old, <-db.readers)
	}
	if err := db.connect(); err != nil {
		for _, c := range old {
			db.readers <- c
		}
		return err
	}
	db.room.none.Store(false)
	return closeAll(old)
}

// hasWAL reports whether a part of the database at path may be in its -wal.
func hasWAL(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err == nil && info.Size() > 0
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
