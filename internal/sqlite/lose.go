package sqlite

import "errors"

// ErrLost is the error for all reading and writing once the files of an open
// database have gone.
var ErrLost = errors.New("its files were deleted, moved or replaced while it was served")

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

// LastFrame returns where the last commit in the -wal has its last frame: the
// offsets of its begin and its end. Both are 0 if there is none.
func (db *DB) LastFrame() (begin, end int64, err error) {
	const header, frameHeader = 32, 24 // SQLite file format, section 4.1
	err = db.Read(func(c *Conn) error {
		frames := int64(0)
		err := c.QueryRow(`PRAGMA wal_checkpoint(NOOP)`, nil, func(row Row) { frames = row.Int(1) })
		if err != nil || frames <= 0 {
			return err
		}
		page, err := c.QueryInt(`PRAGMA page_size`)
		begin = header + (frames-1)*(frameHeader+page)
		end = begin + frameHeader + page
		return err
	})
	return begin, end, err
}

// Writable reports whether the database is open for writing, as always but on a
// full disk.
func (db *DB) Writable() bool { return !db.room.none.Load() }

// Checkpointing reports whether pages are being copied from the -wal to the
// database by this process.
func (db *DB) Checkpointing() bool { return db.writer.checkpoints.running.Load() }
