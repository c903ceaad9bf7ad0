package guard

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// What is done with the files of a lost database: first by the process that serves it,
// then by those that start later.

const (
	// AsideSuffix ends the name of a -wal whose database is not there any more.
	AsideSuffix = "-wal.lost"

	// mixedSuffix ends the name of a saved copy that may have pages of two states. No command
	// proposes to restore such a copy.
	mixedSuffix = "-mixed"

	partialSuffix = ".partial"
)

// save copies what is open to a file beside the database. If the database was overwritten through
// SQLite, nothing else is open than what is in the file.
func (g *Guard) save(ctx context.Context) {
	first := g.tried.IsZero()
	g.tried = time.Now()
	loss := *g.loss.Load()
	if loss.Overwritten() && !loss.isInFile {
		return
	}
	loss.Saved = ""
	g.makeFolder()
	copied := backup.SavedName(loss.Path, g.tried)
	if loss.Overwritten() {
		copied += mixedSuffix
	}
	loss.Err = saveTo(ctx, g.store.DB(), copied)
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
		g.log.Error("what was in the database could not be saved, for the disk is full: " +
			"make room, and wait until it is saved before you stop the service")
	case first:
		g.log.Error("what was in the database could not be saved: stop the service, and it says what to type", "cause", loss.Err.Error())
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
		err = os.Rename(partial, path)
	}
	if err == nil {
		err = osutil.SyncFolder(filepath.Dir(path))
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

// makeFolder creates the folder of the database if it is gone as well. If that fails, so does the
// attempt to save.
func (g *Guard) makeFolder() {
	folder := filepath.Dir(g.store.DB().Path())
	if osutil.Exists(folder) || os.MkdirAll(folder, 0o700) != nil {
		return
	}
	if created, err := os.Open(folder); err == nil {
		g.files.folder.Close()
		g.files.folder = created
		g.noteLoss(g.loss.Load())
	}
}

// lossNote is what the notes keep of a loss.
type lossNote struct {
	At   time.Time  `json:"at"`
	Kind kind       `json:"kind"`
	What string     `json:"what"`
	Mark store.Mark `json:"mark"` // of the last known commit
}

// noteLoss leaves a note of the loss. It keeps commands away now, and later it keeps a start
// from going on without what was lost.
func (g *Guard) noteLoss(loss *Loss) {
	if !g.files.isInFolder() {
		return
	}
	note := lossNote{time.Now().UTC().Truncate(time.Second), loss.kind, loss.What, g.store.Mark()}
	g.isLossNoted = backup.WriteNote(loss.Path, backup.NoteLost, note) == nil
}

// isOpened reports whether the file with a suffix is the one that was opened with another.
func (f *files) isOpened(suffix, opened string) bool {
	info, err := osutil.Stat(f.db.Path() + suffix)
	return err == nil && os.SameFile(info, f.opened[opened])
}

// areBack reports whether all files are in their places again.
func (f *files) areBack() bool {
	for _, suffix := range suffixes {
		if !f.isOpened(suffix, suffix) {
			return false
		}
	}
	return true
}

// setAside renames the -wal: SQLite would write it into the file that is in the
// place of the database by now.
func (f *files) setAside() {
	if f.isOpened("-wal", "-wal") {
		os.Rename(f.db.Path()+"-wal", f.db.Path()+AsideSuffix)
	}
}

// removeSidecars removes the files next to the database, unless they are others by now.
func (f *files) removeSidecars() {
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

// Refuse returns an error for a database that was lost: a FileError with ErrLost while the service
// still runs on it, and with ErrNotBack until it is restored, or its last state is back.
func Refuse(path string) error {
	if !backup.ReadNote(path, backup.NoteLost, new(lossNote)) {
		return nil
	}
	release, err := sqlite.LockDatabase(path)
	switch {
	case errors.Is(err, sqlite.ErrInUse):
		return &sqlite.FileError{Op: "opening", Path: path, Err: sqlite.ErrLost}
	case err != nil:
		return err
	}
	if err := release(); err != nil {
		return err
	}
	return RefuseLost(path)
}

// RefuseLost is Refuse for a process that has locked the database. If a file was written into,
// its last state cannot be back: the mark is on one page only, and that may be in the -wal.
func RefuseLost(path string) error {
	var lost lossNote
	if !backup.ReadNote(path, backup.NoteLost, &lost) || lost.Kind.isMove() && hasMark(path, lost.Mark) {
		return nil
	}
	return &sqlite.FileError{Op: "opening", Path: path, Err: sqlite.ErrNotBack}
}

// HasLastState reports whether file, as a saved copy, has the last state of the database at path
// that was lost.
func HasLastState(path, file string) bool {
	var lost lossNote
	return backup.ReadNote(path, backup.NoteLost, &lost) && hasMark(file, lost.Mark)
}

// hasMark reports whether the database at path is in a state with this mark or a later one.
func hasMark(path string, mark store.Mark) bool {
	if !osutil.Exists(path) {
		return false
	}
	c, err := sqlite.Peek(path)
	if err != nil {
		return false
	}
	defer c.Close()
	found, err := store.ReadMark(c)
	return err == nil && found.Follows(mark)
}

// Forget lets the next start go on with what is there after a loss.
func Forget(path string) error { return backup.RemoveNote(path, backup.NoteLost) }

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
