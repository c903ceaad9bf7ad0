package guard

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// What is done with the files of a lost database: first by the process that serves it,
// then by those that start later.

const (
	// AsideSuffix ends the name of a -wal whose database is not there any more.
	AsideSuffix = "-wal.lost"

	partialSuffix = ".partial"
)

// save copies what is open to a file beside the database.
func (g *Guard) save(ctx context.Context) {
	first := g.tried.IsZero()
	g.tried = time.Now()
	loss := *g.loss.Load()
	loss.Saved = ""
	g.files.makeFolder()
	copied := backup.SavedName(loss.Path, g.tried)
	loss.Err = saveTo(ctx, g.db, copied)
	if loss.Err != nil && ctx.Err() != nil { // the service ends, and End tries again
		g.tried = time.Time{}
		return
	}
	switch {
	case loss.Err == nil:
		loss.Saved = copied
		g.log.Warn("what was in the database is saved beside its old place: stop the service, and it says what to type",
			"ending", strings.TrimPrefix(copied, loss.Path))
	case first && errors.Is(loss.Err, sqlite.ErrFull):
		g.log.Error("what was in the database could not be saved, for the disk is full: make room, and wait until it is saved before you stop the service")
	case first:
		g.log.Error("what was in the database could not be saved: stop the service, and it says what to type", "cause", backup.Reason(loss.Err))
	}
	g.loss.Store(&loss)
}

// saveTo copies a lost database to a new file, as far as it is still open. The
// file gets its name only when it is complete, checked and on disk.
func saveTo(ctx context.Context, db *sqlite.DB, path string) error {
	partial := path + partialSuffix
	defer os.Remove(partial)
	err := osutil.CreatePrivate(partial)
	if err == nil {
		err = db.Salvage(func(c *sqlite.Conn) error {
			return c.Transaction(func() error { return c.CopyTo(ctx, partial, nil) })
		})
	}
	if err == nil {
		err = sqlite.FinishCopy(partial, func(copied *sqlite.Conn) error { return copied.CheckStructure(ctx) })
	}
	if err == nil {
		err = cmp.Or(os.Rename(partial, path), osutil.SyncFolder(filepath.Dir(path)))
	}
	return err
}

// isInFolder reports whether the folder of the database is the one that it was
// opened in. In another folder of that name the guard changes nothing.
func (f *files) isInFolder() bool {
	opened, err := f.folder.Stat()
	if err != nil {
		return false
	}
	info, err := os.Stat(filepath.Dir(f.db.Path()))
	return err == nil && os.SameFile(info, opened)
}

// makeFolder makes the folder of the database if that has gone as well. If it cannot be
// made, the attempt to save fails and says so.
func (f *files) makeFolder() {
	folder := filepath.Dir(f.db.Path())
	if osutil.Exists(folder) || os.MkdirAll(folder, 0o700) != nil {
		return
	}
	if made, err := os.Open(folder); err == nil {
		f.folder.Close()
		f.folder = made
		f.markLost()
	}
}

// markLost leaves a file beside the database. It keeps commands away now, and later it
// keeps a start from making a new database. Where it cannot be made, nothing does.
func (f *files) markLost() {
	if f.isInFolder() {
		osutil.CreatePrivate(f.db.Path() + sqlite.LostSuffix)
	}
}

// isOpened reports whether the file with a suffix is the one that was opened with another.
func (f *files) isOpened(suffix, opened string) bool {
	info, err := osutil.Stat(f.db.Path() + suffix)
	return err == nil && os.SameFile(info, f.opened[opened])
}

// areBack reports whether all files are in their places again, and nobody has
// changed the database meanwhile.
func (f *files) areBack() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, suffix := range suffixes {
		if !f.isOpened(suffix, suffix) {
			return false
		}
	}
	info, err := f.file.Stat()
	return err == nil && info.ModTime().Equal(f.modified)
}

// setAside renames the -wal: SQLite would write it into the file that is in the
// place of the database by now.
func (f *files) setAside() {
	if f.isOpened("-wal", "-wal") {
		os.Rename(f.db.Path()+"-wal", f.db.Path()+AsideSuffix)
	}
}

// growShm extends a -shm that was cut to its length. It is blank then, so that
// SQLite makes it again from the -wal.
func (f *files) growShm() {
	shm := f.db.Path() + "-shm"
	if info, err := os.Stat(shm); err == nil && info.Size() < f.shmSize && f.isOpened("-shm", "-shm") {
		os.Truncate(shm, f.shmSize)
	}
}

// removeBeside removes the files beside the database, unless they are others by now.
func (f *files) removeBeside() {
	for suffix, opened := range map[string]string{"-wal": "-wal", AsideSuffix: "-wal", "-shm": "-shm"} {
		if f.isOpened(suffix, opened) {
			os.Remove(f.db.Path() + suffix)
		}
	}
}

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

// RemoveLeftovers removes the saved copies beside a database that are not complete: a
// process was killed after a loss. The caller has locked the database.
func RemoveLeftovers(db string) {
	entries, _ := os.ReadDir(filepath.Dir(db))
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(db)+".saved-") && strings.HasSuffix(e.Name(), partialSuffix) {
			os.Remove(filepath.Join(filepath.Dir(db), e.Name()))
		}
	}
}
