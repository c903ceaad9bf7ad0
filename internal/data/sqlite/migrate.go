package sqlite

import (
	"errors"
	"fmt"
	"time"
)

// Migrate takes the database at path from one schema version to another by
// change, in one transaction. A file that another process has just taken there
// is left alone. Version 0 is an empty file.
func (f Format) Migrate(path string, from, to int, change func(*Conn) error) error {
	c, err := open(migrationDSN(path))
	if err != nil {
		return err
	}
	defer c.Close() // rolls back what is not committed
	if _, err := c.Exec(`BEGIN IMMEDIATE`); err != nil {
		return err
	}
	current, err := c.QueryInt(`PRAGMA user_version`)
	if err != nil || current > int64(from) {
		return err
	}
	if _, err := c.Exec(fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", int32(f.ApplicationID), to)); err != nil {
		return err
	}
	if err := change(c); err != nil {
		return err
	}
	_, err = c.Exec(`COMMIT`)
	return err
}

// Vacuum rewrites the database at path, so that nothing deleted is left in it
// or in its -wal. SQLite's secure_delete is not enough for that: it leaves old
// content behind where a page was split.
func Vacuum(path string) error {
	c, err := open(migrationDSN(path)) // whose temporary file is not in memory
	if err != nil {
		return err
	}
	_, err = c.Exec(`VACUUM`)
	if err == nil {
		err = truncateWAL(c)
	}
	return errors.Join(err, c.Close())
}

// truncateWAL copies the -wal into the database and empties it. It waits for
// readers, and for checkpoints of other connections: SQLite gives up at once when
// it meets one.
func truncateWAL(c *Conn) error {
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		busy, err := c.QueryInt(`PRAGMA wal_checkpoint(TRUNCATE)`)
		if err == nil && busy != 0 {
			err = ErrBusy
		}
		if !errors.Is(err, ErrBusy) || time.Since(began) >= busyTimeout {
			return err
		}
	}
}

// MergeWAL copies the -wal into the database at path and removes it. The
// error is ErrBusy if another program has the database open.
func MergeWAL(path string) error {
	c, err := open(dsn(path, "mode=rw", "_synchronous=FULL", "_pragma=fullfsync(1)"))
	if err != nil {
		return err
	}
	for _, statement := range []string{`PRAGMA busy_timeout = 0`, `PRAGMA journal_mode = DELETE`, `BEGIN EXCLUSIVE`} {
		if err == nil {
			err = c.Query(statement, nil, func(Row) {})
		}
	}
	return errors.Join(err, c.Close())
}
