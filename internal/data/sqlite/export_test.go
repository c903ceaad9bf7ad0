package sqlite

import "time"

// BeShort makes a database believe that there is little room on its disk.
func (db *DB) BeShort() { db.writer.checkpoints.short.Store(true) }

// SetTimeout sets how long a transaction waits for another process, and returns what that
// was.
func (db *DB) SetTimeout(d time.Duration) (before time.Duration) {
	before, db.writer.timeout = db.writer.timeout, d
	return before
}
