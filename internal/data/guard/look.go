package guard

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// kind is a kind of finding.
type kind int

const (
	nothing  kind = iota // all is well
	unclear              // the look had no result
	gone                 // the database is missing
	cut                  // the database or its -wal is cut
	replaced             // another file is in its place
	older                // an older state of it is in its place
	damaged              // SQLite has found it damaged
	beside               // the -wal or the -shm is missing, cut or another, or a link leads elsewhere
)

// finding is what a look has found.
type finding struct {
	kind kind
	what string // what has happened to the files; "" unless this is a loss

	// modified is when the file of the database was modified, if only its content
	// without the -wal says that there is a loss.
	modified time.Time
}

func (f finding) isLoss() bool { return f.what != "" }

// patience is how long looks in a row must find a loss before it is one: a look may come
// in the middle of what another process does. That process may copy from the -wal into
// the file for longer, but each look then finds the file modified, and the doubt begins
// again.
func (f finding) patience() time.Duration {
	if f.modified.IsZero() {
		return interval * 3 / 4
	}
	return 10 * interval
}

// What a look finds beside a loss of one of the files.
var (
	noResult    = finding{kind: unclear}
	overwritten = finding{kind: replaced, what: "another program has written over the file of the database"}
	olderCopy   = finding{kind: older, what: "an older copy was written over the files of the database"}
)

var suffixes = []string{"", "-wal", "-shm"} // of the files of a database

func nameOf(suffix string) string {
	if suffix == "" {
		return "the file of the database"
	}
	return "the " + suffix + " of the database"
}

// kindOf returns the kind of a loss of the file with a suffix.
func kindOf(suffix string, ofDatabase kind) kind {
	if suffix == "" {
		return ofDatabase
	}
	return beside
}

func cutOff(suffix string, kind kind) finding {
	return finding{kind: kind, what: nameOf(suffix) + " was cut off"}
}

// files are the files of an open database, and what is remembered of them.
type files struct {
	db      *sqlite.DB
	path    string // which may be a link to it
	content Content
	file    *os.File // of the database
	shm     *os.File // the -shm; nil if it cannot be read. Like file it is never closed
	folder  *os.File // that of the database. While it is open no other folder gets its number

	mu      sync.Mutex             // held during a look, and so at the beginning of a checkpoint
	opened  map[string]fs.FileInfo // the files, by suffix; without those that the database has not made yet
	shmSize int64
	doubt   doubt

	unreadable time.Time // when the file was last found damaged because it could not be read

	// What SQLite sees of the database.
	marks    []string // all that it has had
	progress string   // how far it has come
	read     walState // the -wal before that was read
	wal      walState // the last with frames
	copied   int64    // how many of the frames are in the file

	// The file alone, as it was when it was last known to be right.
	fileProgress string  // how far it has come without the -wal; "" if that is not known
	wholeCopied  int64   // the frames that were in it when a checkpoint of this process had copied all
	wholeSalts   [8]byte // those of the -wal then
	fileSize     int64
	changes      uint32    // SQLite's change counter, in the header
	modified     time.Time // when the file was modified
	racy         bool      // modified was so short before the look that a later write may have the same time
	pages        pages
}

// openFiles opens the database once more. It is never closed: on Unix that would
// end SQLite's locks on it.
func openFiles(db *sqlite.DB, path string, content Content) (*files, error) {
	f := &files{db: db, path: path, content: content, opened: map[string]fs.FileInfo{}}
	var err error
	if f.file, err = os.Open(db.Path()); err != nil {
		return nil, err
	}
	if f.opened[""], err = f.file.Stat(); err != nil {
		return nil, err
	}
	if f.folder, err = os.Open(filepath.Dir(db.Path())); err != nil {
		return nil, err
	}
	f.pages, err = newPages(db, f.file)
	return f, err
}

// doubt is the time in which looks find a loss, and have not done so for long enough.
type doubt struct {
	since    time.Time // zero if the last look with a result found nothing
	modified time.Time // that of the finding with which it began
}

// add adds what a look has found: a loss begins or continues a doubt, and a look that
// finds nothing ends it. A look without a result leaves it as it is.
func (d *doubt) add(found finding) {
	switch {
	case found.kind == nothing:
		*d = doubt{}
	case found.isLoss() && (d.since.IsZero() || !found.modified.IsZero() && !found.modified.Equal(d.modified)):
		*d = doubt{time.Now(), found.modified}
	}
}

// isLost looks at the files, and reports whether looks have found a loss for long
// enough.
func (f *files) isLost() (found finding, lost bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	found = f.compare(f.db.Checkpointing())
	f.doubt.add(found)
	return found, found.isLoss() && time.Since(f.doubt.since) >= found.patience()
}

// mayCheckpoint looks at the files before a checkpoint of this process, and allows it
// unless there is a doubt: the checkpoint would write the header of the database over
// that of another file, and so hide the other file. done looks once more, after the
// checkpoint. complete says that all of the -wal is in the file, which then has come as
// far as the database had. Neither look ends a doubt.
func (f *files) mayCheckpoint() (done func(complete bool) bool, allowed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	look := func() bool {
		found := f.compare(false)
		for n := 1; n < readings && found.kind == unclear; n++ { // the file may be written just now
			found = f.compare(false)
		}
		if found.isLoss() {
			f.doubt.add(found)
		}
		return f.doubt.since.IsZero()
	}
	allowed = look()
	progress := f.progress
	done = func(complete bool) bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		if complete {
			f.fileProgress = progress
			_, f.wholeCopied, _ = f.db.Frames()
			f.wholeSalts = f.db.Salts()
		}
		return look()
	}
	return done, allowed
}

// settled returns how far the database has come, "" while a loss is in doubt.
func (f *files) settled() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.doubt.since.IsZero() {
		return ""
	}
	return f.progress
}

// compare returns what has happened to the files. writing says that this process is
// writing into the file of the database. On a full disk the database has no other file.
func (f *files) compare(writing bool) finding {
	if !f.db.Writable() {
		return f.compareNames(suffixes[:1])
	}
	found := f.compareNames(suffixes)
	if found.kind == nothing {
		found = f.compareState()
	}
	switch {
	case writing && !found.isLoss():
		found = noResult
	case !found.isLoss() || found.kind == older:
		if of := f.compareFile(); of.isLoss() || found.kind == nothing {
			found = of
		}
	}
	if !found.isLoss() && f.isDamaged() {
		return finding{kind: damaged, what: "what SQLite reads from the files of the database is damaged"}
	}
	return found
}

// compareNames compares which files have the names of the database.
func (f *files) compareNames(suffixes []string) finding {
	for _, suffix := range suffixes {
		info, err := osutil.Stat(f.db.Path() + suffix)
		opened := f.opened[suffix]
		switch {
		case isMissing(err) && opened != nil:
			return finding{kind: kindOf(suffix, gone), what: nameOf(suffix) + " was deleted or moved away"}
		case err != nil:
			return noResult
		case opened != nil && !os.SameFile(info, opened):
			return finding{kind: kindOf(suffix, replaced), what: "another file was put in the place of " + nameOf(suffix)}
		case suffix == "-shm" && info.Size() < f.shmSize:
			return cutOff(suffix, beside)
		}
		if opened == nil {
			f.opened[suffix] = info
		}
		if suffix == "-shm" {
			f.shmSize = info.Size()
		}
		if suffix == "-shm" && opened == nil && runtime.GOOS != "windows" { // where nobody can write over it, and where SQLite could not delete it
			f.shm, _ = os.Open(f.db.Path() + suffix)
		}
	}
	info, err := osutil.Stat(f.path)
	switch {
	case isMissing(err), err == nil && !os.SameFile(info, f.opened[""]):
		return finding{kind: beside, what: "the link to the database was changed"}
	case err != nil:
		return noResult
	}
	return finding{}
}

// isMissing reports whether there is no file, or a file in the place of its folder.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
