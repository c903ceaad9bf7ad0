package sqlite

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"time"

	"modernc.org/sqlite"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// copyStep is the number of pages, about 4 MB, that CopyTo copies before it checks its context.
const copyStep = 1024

// compactLimit is the longest time that CompactTo may take: a database of 200,000 people takes
// seconds, on a slow stick a minute.
const compactLimit = 10 * time.Minute

// Peek opens the database at path for reading, even if it is in use. It changes nothing, except that
// it makes read-only sidecars of a writable database writable.
func Peek(path string) (*Conn, error) {
	unlockSidecars(path)
	c, err := open(peekDSN(path))
	if err != nil {
		return nil, err
	}
	if _, err := c.Size(); errors.Is(err, ErrFull) && !hasWAL(path) { // no room for the -shm
		c.Close()
		return OpenImmutable(path)
	}
	return c, nil // the first query reports any other error
}

// OpenImmutable opens a database that no one changes for reading, even on a read-only disk.
func OpenImmutable(path string) (*Conn, error) { return open(immutableDSN(path)) }

// OpenUncached opens a database in use for reading. The connection caches no pages, so each
// statement reads from the files.
func OpenUncached(path string) (*Conn, error) {
	return open(readerDSN(path) + "&_pragma=cache_size(0)")
}

// Size returns the size of the database in bytes.
func (c *Conn) Size() (int64, error) {
	return c.QueryInt(`SELECT page_count * page_size FROM pragma_page_count, pragma_page_size`)
}

// CopyTo copies the database into the empty file at path, which FinishCopy then completes. Within a
// transaction it copies a single state. It calls progress, which may be nil, with the number of
// pages copied and the total.
func (c *Conn) CopyTo(ctx context.Context, path string, progress func(done, total int)) error {
	source := c.driver.(interface {
		NewBackup(string) (*sqlite.Backup, error)
	})
	if _, err := c.Size(); err != nil { // the first read, not BEGIN, opens the snapshot
		return err
	}
	copying, err := source.NewBackup(privateDSN(path))
	if err != nil {
		return Wrap("writing", path, translate(err))
	}
	for more := true; more; {
		more, err = copying.Step(copyStep)
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

// CompactTo copies the database into the empty file at path without its free space, so that the
// copy contains no deleted content. FinishCopy then completes it. CompactTo fails within a
// transaction. It returns context.DeadlineExceeded if it would take longer than compactLimit, because
// the -wal cannot restart until it has ended.
func (c *Conn) CompactTo(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, compactLimit)
	defer cancel()
	err := c.Query(`PRAGMA query_only = 0`, nil, func(Row) {}) // which would apply to the copy
	if err == nil {
		err = c.QueryContext(ctx, `VACUUM INTO ?`, Args{privateDSN(path)}, func(Row) {})
	}
	if err != nil {
		err = cmp.Or(ctx.Err(), err)
	}
	return err
}

// FinishCopy turns a copy into a single file that needs no -wal, and syncs it to disk. Before that
// it calls change, which may be nil.
func FinishCopy(path string, change func(*Conn) error) error {
	c, err := open(privateDSN(path))
	if err != nil {
		return err
	}
	if change != nil {
		err = change(c)
	}
	err = cmp.Or(err, c.Close())
	if err != nil {
		return err
	}
	return osutil.SyncFile(path)
}

// Vacuum rewrites the database at path, so that no deleted content remains in it or in its -wal.
// SQLite's secure_delete is not enough: it leaves old content behind when it splits a page. If ctx
// ends first, some content may remain. It returns ErrFull, and writes nothing, without space for the
// -wal, which becomes as long as the database.
func Vacuum(ctx context.Context, path string) error {
	c, err := open(migrationDSN(path)) // keeps the temporary file out of memory
	if err != nil {
		return err
	}
	err = truncateWAL(ctx, c) // if a reader prevents it, VACUUM would only make the -wal longer
	if err == nil {
		err = c.checkVacuum(path)
	}
	if err == nil {
		err = c.QueryContext(ctx, `VACUUM`, nil, func(Row) {})
		err = cmp.Or(err, truncateWAL(ctx, c)) // also after an error, which may be ErrFull
	}
	return errors.Join(err, c.Close())
}

// checkVacuum returns ErrFull if the disk lacks space for the used pages of the database at path.
func (c *Conn) checkVacuum(path string) error {
	used, err := c.QueryInt(`SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size`)
	if err != nil {
		return err
	}
	if space, err := osutil.SpaceOf(filepath.Dir(path)); err == nil && space.Free < used+used/10 {
		return ErrFull
	}
	return nil
}

// RebuildIndexes rebuilds all indexes of the database at path from its tables. This repairs
// damaged indexes without loss.
func RebuildIndexes(path string) error {
	unlockSidecars(path)
	c, err := open(migrationDSN(path))
	if err == nil {
		_, err = c.Exec(`REINDEX`)
		err = errors.Join(err, c.Close())
	}
	return Wrap("repairing", path, err)
}

// truncateWAL copies the -wal into the database and truncates it. It waits for readers and for
// checkpoints of other connections, at which SQLite gives up immediately.
func truncateWAL(ctx context.Context, c *Conn) error {
	// SQLite blocks writers while it waits for readers, but not between attempts.
	if _, err := c.Exec(`PRAGMA busy_timeout = 100`); err != nil {
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

// MergeWAL copies the -wal into the database at path and removes it. It returns ErrBusy if another
// program has the database open.
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
