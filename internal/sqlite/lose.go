package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"firefighters/internal/osutil"
)

// ErrLost is the error for all reading and writing once the files of an open
// database have gone.
var ErrLost = errors.New("its files were deleted, moved or replaced while it was served")

// LostSuffix is that of a file beside a database whose files have gone while it
// is served. It keeps other programs from using what is there.
const LostSuffix = "-lost"

// RefuseLost returns an error, a FileError with ErrLost, while another process
// serves a database whose files have gone. It removes a LostSuffix file that a
// killed process has left.
func RefuseLost(path string) error {
	if !osutil.Exists(path + LostSuffix) {
		return nil
	}
	release, err := LockDatabase(path)
	switch {
	case errors.Is(err, ErrInUse):
		return wrap("opening", path, ErrLost)
	case err != nil:
		return err
	}
	return errors.Join(os.Remove(path+LostSuffix), release())
}

// Lose ends all reading and writing: the caller has found that the files of the
// database have gone or were changed. It returns when no write is under way. From
// then on Read and Write return ErrLost.
func (db *DB) Lose() {
	db.lost.Store(true)
	db.writer.stop()
}

// SaveTo copies a lost database to a new file, as far as it is still open: on
// Unix a file that was deleted can be read until it is closed. The file gets
// its name only when it is complete, checked and on disk.
func (db *DB) SaveTo(ctx context.Context, path string) error {
	c, open := <-db.readers
	if !open {
		return ErrClosed
	}
	defer func() { db.readers <- c }()
	partial := path + ".partial"
	defer os.Remove(partial)
	if err := osutil.CreatePrivate(partial); err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return c.Transaction(func() error { return c.CopyTo(ctx, partial, nil) }) },
		func() error { return FinishCopy(partial, nil) },
		func() error { return checkCopy(ctx, partial) },
		func() error { return os.Rename(partial, path) },
		func() error { return osutil.SyncFolder(filepath.Dir(path)) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func checkCopy(ctx context.Context, path string) error {
	c, err := OpenImmutable(path)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.CheckStructure(ctx)
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
