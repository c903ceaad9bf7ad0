package guard

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// files are the files of an open database, as they are known to be.
type files struct {
	db      *sqlite.DB
	path    string // which may be a link to it
	content Content
	file    *os.File // of the database
	shm     *os.File // the -shm; nil if it cannot be read. Like file it is never closed
	folder  *os.File // that of the database. While it is open no other folder gets its number

	mu      sync.Mutex             // held during a look, and so at the beginning of a checkpoint
	opened  map[string]fs.FileInfo // by suffix; nil before the database is writable
	shmSize int64

	unreadable time.Time // when the file was last found damaged because it could not be read

	// The doubt: looks find a loss, and not for long enough yet.
	doubted         time.Time // since when; zero if the last look with a result found nothing
	modifiedAtDoubt time.Time // when the file was modified, at the look with which the doubt began
	modifiedAtLook  time.Time // the same, at the last look into it

	// What SQLite sees of the database.
	marks       []string  // all that it has had
	progress    string    // how far it has come
	log         logState  // the last state of the -wal with frames
	formerSalts [][8]byte // those of the -wal before, the newest last
	copied      int64     // how many of the frames are in the file
	pageSize    int64

	// The file alone, as it was when it was last known to be right.
	fileProgress string // how far it has come without the -wal; "" if that is not known
	fileSize     int64
	changes      uint32 // SQLite's change counter, in the header
	modified     time.Time
	pages        pages
}

// openFiles opens the database once more. It is never closed: on Unix that would
// end SQLite's locks on it.
func openFiles(db *sqlite.DB, path string, content Content) (*files, error) {
	f := &files{db: db, path: path, content: content, pages: pages{frame: map[uint32]int64{}, sums: map[uint32]uint32{}}}
	var err error
	if f.file, err = os.Open(db.Path()); err == nil {
		f.folder, err = os.Open(filepath.Dir(db.Path()))
	}
	return f, err
}

// isLost looks at the files, and reports whether looks have found a loss for long
// enough. A look without a result leaves a doubt as it is.
func (f *files) isLost() (found finding, lost bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	found = f.compare(f.db.Checkpointing())
	begun := f.doubt(found)
	return found, found.what != "" && !begun && time.Since(f.doubted) >= found.patience()
}

// doubt notes what a look has found: a loss begins or continues a doubt, and a look that
// finds nothing ends it. It reports whether the doubt has begun with this look.
func (f *files) doubt(found finding) (begun bool) {
	switch {
	case found.unknown:
	case found.what == "":
		f.doubted = time.Time{}
	case f.doubted.IsZero(), found.fileOnly && !f.modifiedAtDoubt.Equal(f.modifiedAtLook):
		f.doubted, f.modifiedAtDoubt = time.Now(), f.modifiedAtLook
		return true
	}
	return false
}

// mayCheckpoint looks at the files before a checkpoint of this process, and allows it
// unless there is a doubt: the checkpoint would write the header of the database over
// that of another file, and so hide the other file. done looks once more, after the
// checkpoint. complete says that all of the -wal is in the file, which then has come as
// far as the database had.
func (f *files) mayCheckpoint() (done func(complete bool) bool, allowed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	look := func() bool {
		if found := f.compare(false); found.what != "" {
			f.doubt(found)
		}
		return f.doubted.IsZero()
	}
	allowed = look()
	progress := f.progress
	done = func(complete bool) bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		if complete {
			f.fileProgress = progress
		}
		return look()
	}
	return done, allowed
}

// compare returns what has happened to the files. writing says that this process is
// writing into the file of the database.
func (f *files) compare(writing bool) finding {
	if !f.db.Writable() {
		return f.compareReadOnly()
	}
	found := f.compareNames()
	if found == (finding{}) {
		found = f.compareState()
	}
	switch {
	case writing && found.what == "":
		found.unknown = true
	case found.what == "" || found.kind == older:
		if of := f.compareFile(); of.what != "" || found.what == "" && of.unknown {
			found = of
		}
	}
	if found.what == "" && f.isDamaged() {
		return finding{what: "what SQLite reads from the files of the database is damaged", kind: damaged}
	}
	return found
}

// isDamaged reports whether SQLite finds the files damaged although they can be read. To
// SQLite both look the same. A disk that cannot be read for a while takes nothing away:
// requests fail as long as that lasts.
func (f *files) isDamaged() bool {
	const pause = 10 * time.Second // between two looks at all of a file that could not be read
	if time.Since(f.unreadable) < pause || !f.db.Damaged() {
		return false
	}
	if _, err := io.Copy(io.Discard, io.NewSectionReader(f.file, 0, math.MaxInt64)); err != nil {
		f.unreadable = time.Now()
		return false
	}
	return true
}

// compareNames compares which files there are.
func (f *files) compareNames() finding {
	now := map[string]fs.FileInfo{}
	for _, suffix := range suffixes {
		info, err := osutil.Stat(f.db.Path() + suffix)
		switch {
		case isMissing(err) && f.opened != nil:
			return missing(suffix)
		case err != nil:
			return noResult
		case f.opened != nil && !os.SameFile(info, f.opened[suffix]):
			return another(suffix)
		}
		now[suffix] = info
	}
	if f.opened == nil {
		f.opened = now
		if runtime.GOOS != "windows" { // where nobody can write over it, and where SQLite could not delete it
			f.shm, _ = os.Open(f.db.Path() + "-shm")
		}
	}
	if osutil.Resolve(f.path) != f.db.Path() {
		return finding{what: "the link to the database was changed", kind: beside}
	}
	if now["-shm"].Size() < f.shmSize {
		return cutOff("-shm", beside)
	}
	f.shmSize = now["-shm"].Size()
	return finding{}
}

// compareReadOnly is compare on a full disk, where there are no files beside the
// database.
func (f *files) compareReadOnly() finding {
	opened, err := f.file.Stat()
	if err != nil {
		return noResult
	}
	switch info, err := osutil.Stat(f.db.Path()); {
	case isMissing(err):
		return missing("")
	case err == nil && !os.SameFile(info, opened):
		return another("")
	}
	return finding{}
}

// isMissing reports whether there is no file, or a file in the place of its folder.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
