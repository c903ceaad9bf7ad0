package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"modernc.org/sqlite"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// copiedAtOnce is the number of pages, some 4 MB, that are copied between two
// looks at whether to go on.
const copiedAtOnce = 1024

// Peek opens the database at path for reading, whether it is in use or not.
// It changes nothing.
func Peek(path string) (*Conn, error) {
	c, err := open(peekDSN(path))
	if err != nil {
		return nil, err
	}
	if _, err := c.Size(); errors.Is(err, ErrFull) && !hasWAL(path) { // no room for the -shm
		c.Close()
		return OpenImmutable(path)
	}
	return c, nil // what else is wrong the caller meets
}

// OpenImmutable opens a file that nobody changes for reading, also on a disk
// that cannot be written.
func OpenImmutable(path string) (*Conn, error) { return open(immutableDSN(path)) }

// OpenUncached opens a database in use for reading. The connection keeps no page in memory,
// so that each statement reads what is in the files.
func OpenUncached(path string) (*Conn, error) {
	return open(readerDSN(path) + "&_pragma=cache_size(0)")
}

// Size returns the size of the database in bytes.
func (c *Conn) Size() (int64, error) {
	return c.QueryInt(`SELECT page_count * page_size FROM pragma_page_count, pragma_page_size`)
}

// CopyTo copies the database, as the connection sees it, into the empty file
// at path, for FinishCopy to finish. Within a transaction that is one moment. It
// calls progress, unless that is nil, with the number of pages copied and of all.
func (c *Conn) CopyTo(ctx context.Context, path string, progress func(done, total int)) error {
	source := c.driver.(interface {
		NewBackup(string) (*sqlite.Backup, error)
	})
	if _, err := c.Size(); err != nil { // the first read, not BEGIN, is what begins the moment
		return err
	}
	copying, err := source.NewBackup(privateDSN(path))
	if err != nil {
		return wrap("writing", path, translate(err))
	}
	for more := true; more; {
		more, err = copying.Step(copiedAtOnce)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			copying.Finish()
			return translate(err)
		}
		if progress != nil {
			progress(copying.PageCount()-copying.Remaining(), copying.PageCount())
		}
	}
	return translate(copying.Finish())
}

// FinishCopy makes a copy a database of one file, which needs no -wal, after
// change has changed it, and writes it to disk. change may be nil.
func FinishCopy(path string, change func(*Conn) error) error {
	c, err := open(privateDSN(path))
	if err != nil {
		return err
	}
	if change != nil {
		err = change(c)
	}
	if closeErr := c.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return osutil.SyncFile(path)
}

// Vacuum rewrites the database at path, so that nothing deleted is left in it
// or in its -wal. SQLite's secure_delete is not enough for that: it leaves old
// content behind where a page was split. If ctx ends first, some may be left.
func Vacuum(ctx context.Context, path string) error {
	c, err := open(migrationDSN(path)) // whose temporary file is not in memory
	if err != nil {
		return err
	}
	err = c.QueryContext(ctx, `VACUUM`, nil, func(Row) {})
	if err == nil {
		err = truncateWAL(ctx, c)
	}
	return errors.Join(err, c.Close())
}

// RebuildIndexes makes all indexes of the database at path again from its tables. So an
// index that is damaged is whole again, without a loss.
func RebuildIndexes(path string) error {
	c, err := open(migrationDSN(path))
	if err == nil {
		_, err = c.Exec(`REINDEX`)
		err = errors.Join(err, c.Close())
	}
	return wrap("repairing", path, err)
}

// truncatePatience is how long SQLite waits for readers while it empties a -wal: nobody can
// write meanwhile. Between two tries others can.
const truncatePatience = 100 * time.Millisecond

// truncateWAL copies the -wal into the database and empties it. It waits for
// readers, and for checkpoints of other connections: SQLite gives up at once when
// it meets one.
func truncateWAL(ctx context.Context, c *Conn) error {
	if _, err := c.Exec(fmt.Sprintf(`PRAGMA busy_timeout = %d`, truncatePatience.Milliseconds())); err != nil {
		return err
	}
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		busy, err := c.QueryInt(`PRAGMA wal_checkpoint(TRUNCATE)`)
		if err == nil && busy != 0 {
			err = ErrBusy
		}
		if !errors.Is(err, ErrBusy) || time.Since(began) >= busyTimeout || ctx.Err() != nil {
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
