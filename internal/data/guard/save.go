package guard

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// saveTo copies a lost database to a new file, as far as it is still open. The
// file gets its name only when it is complete, checked and on disk.
func saveTo(ctx context.Context, db *sqlite.DB, path string) error {
	partial := path + partialSuffix
	defer os.Remove(partial)
	for _, step := range []func() error{
		func() error { return osutil.CreatePrivate(partial) },
		func() error {
			return db.Salvage(func(c *sqlite.Conn) error {
				return c.Transaction(func() error { return c.CopyTo(ctx, partial, nil) })
			})
		},
		func() error { return sqlite.FinishCopy(partial, nil) },
		func() error { return check(ctx, partial) },
		func() error { return os.Rename(partial, path) },
		func() error { return osutil.SyncFolder(filepath.Dir(path)) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

const partialSuffix = ".partial"

func check(ctx context.Context, path string) error {
	c, err := sqlite.OpenImmutable(path)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.CheckStructure(ctx)
}

// AsideSuffix ends the name of a -wal whose database is not there any more.
const AsideSuffix = "-wal.lost"

// SetAside renames the -wal of a database that is missing or empty: SQLite would
// delete it, and it may be all that is left.
func SetAside(db string) error {
	if info, err := os.Stat(db + "-wal"); err != nil || info.Size() == 0 {
		return nil
	}
	return os.Rename(db+"-wal", db+AsideSuffix)
}

// Refuse returns an error, a FileError with ErrLost, while another process serves
// a database whose files have gone.
func Refuse(path string) error {
	if !osutil.Exists(path + sqlite.LostSuffix) {
		return nil
	}
	release, err := sqlite.LockDatabase(path)
	switch {
	case errors.Is(err, sqlite.ErrInUse):
		return &sqlite.FileError{Op: "opening", Path: path, Err: sqlite.ErrLost}
	case err != nil:
		return err
	}
	return release()
}

// RefuseNew returns an error, a FileError with ErrNotBack, if a database was lost at
// path and was not brought back: a new one would look as if it were the lost one.
func RefuseNew(path string) error {
	if !osutil.Exists(path + sqlite.LostSuffix) {
		return nil
	}
	return &sqlite.FileError{Op: "making", Path: path, Err: sqlite.ErrNotBack}
}

// Forget lets a new database be made where one was lost.
func Forget(path string) error {
	err := os.Remove(path + sqlite.LostSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
