package guard

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

const (
	// AsideSuffix ends the name of a -wal whose database no longer exists.
	AsideSuffix = "-wal.lost"

	// mixedSuffix ends the name of a saved copy that may contain pages of two states. No command
	// suggests restoring such a copy.
	mixedSuffix = "-mixed"

	partialSuffix = ".partial"
)

// save copies the open database to a file next to its path. It does nothing if the database was
// overwritten through SQLite, because then only the content of the file is open.
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
	if loss.Err != nil && ctx.Err() != nil { // the service is stopping, and End tries again
		g.tried = time.Time{}
		return
	}
	switch {
	case loss.Err == nil:
		loss.Saved = copied
		g.log.Warn("the lost database was saved next to its old path: stop the service to see how to restore it",
			"ending", strings.TrimPrefix(copied, loss.Path))
	case first && errors.Is(loss.Err, sqlite.ErrFull):
		g.log.Error("the lost database could not be saved because the disk is full: " +
			"free space, and wait until it is saved before you stop the service")
	case first:
		g.log.Error("the lost database could not be saved: stop the service to see what to do", "cause", loss.Err.Error())
	}
	g.loss.Store(&loss)
}

// saveTo copies what is still open of a lost database to a new file. The file gets its name only
// after it is complete, checked and on disk.
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

// isInFolder reports whether the folder of the database is still the opened one. The guard changes
// nothing in another folder with the same path.
func (f *files) isInFolder() bool {
	opened, openedErr := f.folder.Stat()
	info, err := os.Stat(filepath.Dir(f.db.Path()))
	return openedErr == nil && err == nil && os.SameFile(info, opened)
}

// makeFolder creates the folder of the database if it is missing. If this fails, saving fails as
// well.
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

type lossNote struct {
	At   time.Time  `json:"at"`
	Kind kind       `json:"kind"`
	What string     `json:"what"`
	Mark store.Mark `json:"mark"` // the mark of the last known commit
}

// noteLoss writes a note of the loss. It keeps commands from using the database now, and the next
// start from continuing without the lost records.
func (g *Guard) noteLoss(loss *Loss) {
	if !g.files.isInFolder() {
		return
	}
	note := lossNote{time.Now().UTC().Truncate(time.Second), loss.kind, loss.What, g.store.Mark()}
	g.isLossNoted = backup.WriteNote(loss.Path, backup.NoteLost, note) == nil
}

// isOpened reports whether the file with the suffix is the file opened with the suffix opened.
func (f *files) isOpened(suffix, opened string) bool {
	info, err := osutil.Stat(f.db.Path() + suffix)
	return err == nil && os.SameFile(info, f.opened[opened])
}

func (f *files) areBack() bool {
	for _, suffix := range suffixes {
		if !f.isOpened(suffix, suffix) {
			return false
		}
	}
	return true
}

// setAside renames the -wal. Otherwise SQLite would write it into the file that now has the path of
// the database.
func (f *files) setAside() {
	if f.isOpened("-wal", "-wal") {
		os.Rename(f.db.Path()+"-wal", f.db.Path()+AsideSuffix)
	}
}

// removeSidecars removes the opened -wal and -shm. It does not remove other files at their paths.
func (f *files) removeSidecars() {
	for suffix, opened := range map[string]string{"-wal": "-wal", AsideSuffix: "-wal", "-shm": "-shm"} {
		if f.isOpened(suffix, opened) {
			os.Remove(f.db.Path() + suffix)
		}
	}
}

// SetAside renames the -wal of a missing or empty database. SQLite would delete it, although it may
// contain the only remaining records.
func SetAside(db string) error {
	if info, err := os.Stat(db + "-wal"); err != nil || info.Size() == 0 {
		return nil
	}
	return os.Rename(db+"-wal", db+AsideSuffix)
}

// Refuse returns a FileError for a lost database: ErrLost while the service still runs, and then
// ErrNotBack until the database is restored or its last state is back.
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

// RefuseLost is like Refuse for a process that holds the lock on the database. If a file was written
// to, the state counts as lost even with the last mark, which is on a single page.
func RefuseLost(path string) error {
	var lost lossNote
	if !backup.ReadNote(path, backup.NoteLost, &lost) ||
		slices.Contains([]kind{gone, replaced, sidecar}, lost.Kind) && hasMark(path, lost.Mark) { // moved or deleted, not written to
		return nil
	}
	return &sqlite.FileError{Op: "opening", Path: path, Err: sqlite.ErrNotBack}
}

// HasLastState reports whether file, such as a saved copy, has the last state of the lost database at
// path.
func HasLastState(path, file string) bool {
	var lost lossNote
	return backup.ReadNote(path, backup.NoteLost, &lost) && hasMark(file, lost.Mark)
}

// hasMark reports whether the database at path has this mark or a later one.
func hasMark(path string, mark store.Mark) bool {
	c, err := sqlite.Peek(path)
	if err != nil {
		return false
	}
	defer c.Close()
	found, err := store.ReadMark(c)
	return err == nil && found.Follows(mark)
}

// Forget removes the note of a loss, so that the next start uses the existing files.
func Forget(path string) error { return backup.RemoveNote(path, backup.NoteLost) }

// RemoveLeftovers removes incomplete saved copies, which a killed process leaves after a loss. The
// caller holds the lock on the database.
func RemoveLeftovers(db string) {
	entries, _ := os.ReadDir(filepath.Dir(db))
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(db)+".saved-") && strings.HasSuffix(e.Name(), partialSuffix) {
			os.Remove(filepath.Join(filepath.Dir(db), e.Name()))
		}
	}
}
