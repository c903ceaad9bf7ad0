package sqlite

import "errors"

// ErrLost is the error for all reading and writing once the files of an open
// database have gone.
var ErrLost = errors.New("its files were deleted, moved or replaced while it was served")

// ErrNotBack is the error for making a database where one was lost.
var ErrNotBack = errors.New("its files had gone while it was served, and it was not brought back")

// LostSuffix ends the name of a file beside a database, which says that the files of the
// database have gone while it was served. That file stays until the database is restored, or somebody wants a new one.
const LostSuffix = "-lost"

// Lose ends all reading and writing: the caller has found that the files of the
// database have gone or were changed. It returns when no write is under way. From
// then on Read and Write return ErrLost.
func (db *DB) Lose() {
	db.lost.Store(true)
	db.writer.stop()
}

// Salvage lends out a connection of a lost database: on Unix a file that was
// deleted can be read until it is closed.
func (db *DB) Salvage(do func(*Conn) error) error {
	c, open := <-db.readers
	if !open {
		return ErrClosed
	}
	defer func() { db.readers <- c }()
	return do(c)
}

// Frames returns how many frames of the -wal are part of the database, how many of
// them have been copied into its file, and the size of a page. A -wal that has just
// restarted has none.
func (db *DB) Frames() (frames, copied, pageSize int64, err error) {
	err = db.Read(func(c *Conn) error {
		if frames, copied, err = logOf(c); err != nil {
			return err
		}
		pageSize, err = c.QueryInt(`PRAGMA page_size`)
		return err
	})
	return frames, copied, pageSize, err
}

// Salts returns the salts of the -wal, which change when it restarts. They are zero
// if it cannot be read.
func (db *DB) Salts() [8]byte { return readSalts(db.path) }

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

// Damaged reports whether SQLite has ever found the files of the database damaged,
// while it read or wrote them.
func (db *DB) Damaged() bool { return db.damaged.Load() }

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

// Writable reports whether the database is open for writing, as always but on a
// full disk.
func (db *DB) Writable() bool { return !db.room.none.Load() }

// Checkpointing reports whether pages are being copied from the -wal to the
// database by this process.
func (db *DB) Checkpointing() bool { return db.writer.checkpoints.running.Load() }
