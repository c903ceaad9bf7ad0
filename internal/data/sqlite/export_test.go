package sqlite

// BeShort makes a database believe that there is little room on its disk.
func (db *DB) BeShort() { db.writer.checkpoints.short.Store(true) }
