package sqlite

import "time"

// SetTimeout sets how long a transaction waits for another process, and returns the old value.
func (db *DB) SetTimeout(d time.Duration) (before time.Duration) {
	before, db.writer.timeout = db.writer.timeout, d
	return before
}
