package guard

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// kind is a kind of finding.
type kind string

const (
	nothing  kind = ""         // all is well
	unclear  kind = "unclear"  // the look had no result
	gone     kind = "gone"     // the database is missing
	replaced kind = "replaced" // another file is in its place
	sidecar  kind = "sidecar"  // the -wal or the -shm is missing or another, or a link leads elsewhere
	cut      kind = "cut"      // the database or its -wal was cut off
	damaged  kind = "damaged"  // SQLite finds it damaged

	overwritten kind = "overwritten" // an earlier state or another database was written over it
)

// isMove reports whether files were moved or deleted, and none was written into. If they are
// moved back, the database is complete.
func (k kind) isMove() bool { return k == gone || k == replaced || k == sidecar }

// finding is what a look has found.
type finding struct {
	kind kind
	what string // what happened to the files; "" unless this is a loss

	// patience is how many looks in a row must find the loss. modified is when the file was
	// modified, if only its content without the -wal shows the loss: another process may be
	// copying from the -wal into it, and then modifies it between two looks.
	patience int
	modified time.Time
}

func (f finding) isLoss() bool { return f.what != "" }

// isInFile reports whether the content of the file without the -wal shows the loss.
func (f finding) isInFile() bool { return !f.modified.IsZero() }

// patience is how many looks in a row must find most losses. A look may come in the middle of
// what another process does.
const (
	patience     = 2
	longPatience = 10 // 2 s
)

var (
	noResult  = finding{kind: unclear}
	olderCopy = finding{kind: overwritten, what: "an older copy was written over the files of the database", patience: patience}
	setBack   = finding{kind: overwritten, what: "an earlier state of the database, or another database, was put in its place", patience: 1}
)

var suffixes = []string{"", "-wal", "-shm"} // of the files of a database

func nameOf(suffix string) string {
	if suffix == "" {
		return "the file of the database"
	}
	return "the " + suffix + " of the database"
}

func cutOff(suffix string) finding {
	return finding{kind: cut, what: nameOf(suffix) + " was cut off", patience: patience}
}

// files are the files of an open database, and what is remembered of them.
type files struct {
	store  *store.Store
	db     *sqlite.DB
	path   string       // of the database, perhaps a link to it
	file   *os.File     // the database. It is never closed, since on Unix that ends SQLite's locks on it
	folder *os.File     // While it is open no other folder gets its number
	fresh  *sqlite.Conn // keeps no page in memory; nil until the first look

	mu      sync.Mutex             // held during a look
	opened  map[string]fs.FileInfo // the files by suffix, as far as they exist
	doubts  int                    // looks in a row that found a loss
	doubted time.Time              // modified of the last one

	size     int64      // of the file
	modified time.Time  // when it was last modified; zero: look again
	mark     store.Mark // in the file without its -wal
	end      logEnd
	pageSize int64
}

// openFiles opens the database once more.
func openFiles(s *store.Store, path string) (*files, error) {
	f := &files{store: s, db: s.DB(), path: path, opened: map[string]fs.FileInfo{}}
	var err error
	if f.file, err = os.Open(f.db.Path()); err != nil {
		return nil, err
	}
	if f.opened[""], err = f.file.Stat(); err != nil {
		return nil, err
	}
	if f.folder, err = os.Open(filepath.Dir(f.db.Path())); err != nil {
		return nil, err
	}
	err = f.db.Read(func(c *sqlite.Conn) (err error) { f.pageSize, err = c.QueryInt(`PRAGMA page_size`); return err })
	return f, err
}

// close closes the connection. The caller closes the database after it.
func (f *files) close() {
	if f.fresh != nil {
		f.fresh.Close()
	}
}

// look looks at the files, and reports whether enough looks in a row have found a loss.
func (f *files) look() (found finding, lost bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	found = f.compare()
	f.count(found)
	return found, found.isLoss() && f.doubts >= found.patience
}

// count counts the looks in a row that found a loss. It starts again when the file was modified
// since the last look: another program may be writing.
func (f *files) count(found finding) {
	switch {
	case found.isInFile() && !found.modified.Equal(f.doubted):
		f.doubts, f.doubted = 1, found.modified
	case found.isLoss():
		f.doubts++
	case found.kind == nothing:
		f.doubts, f.doubted = 0, time.Time{}
	}
}

// inDoubt reports whether the last look found a loss.
func (f *files) inDoubt() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.doubts > 0
}

// mayCheckpoint looks at the files before a checkpoint of this process, and allows it unless there
// is a doubt: a checkpoint brings the file forward, and so can hide what happened to it or to the
// -wal. It is called after the checkpoint as well, to remember the file as it is then.
func (f *files) mayCheckpoint() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, compare := range []func() finding{f.compareLog, f.compareFile} {
		if found := compare(); found.isLoss() {
			f.count(found)
			break
		}
	}
	return f.doubts == 0
}

// compare returns what happened to the files. On a full disk the database may have no -wal.
func (f *files) compare() finding {
	found := f.compareNames()
	if found.isLoss() || !f.db.Writable() {
		return found
	}
	comparisons := []func() finding{f.compareLog, f.compareFile, f.compareMark}
	if f.db.Checkpointing() { // the file is not what it was, and not yet what it will be
		comparisons = []func() finding{f.compareLog, f.compareMark}
	}
	for _, compare := range comparisons {
		if next := compare(); next.isLoss() || found.kind == nothing {
			found = next
		}
		if found.isLoss() {
			return found
		}
	}
	if f.isDamaged() {
		return finding{kind: damaged, what: "the files of the database were damaged", patience: patience}
	}
	return found
}

// compareNames compares which files have the names of the database.
func (f *files) compareNames() finding {
	for _, suffix := range suffixes {
		if suffix != "" && !f.db.Writable() {
			break
		}
		info, err := osutil.Stat(f.db.Path() + suffix)
		opened := f.opened[suffix]
		switch {
		case isMissing(err) && opened != nil:
			return finding{kind: kindOf(suffix, gone), what: nameOf(suffix) + " was deleted or moved away", patience: patience}
		case err != nil:
			return noResult
		case opened == nil:
			f.opened[suffix] = info
		case !os.SameFile(info, opened):
			return finding{kind: kindOf(suffix, replaced), what: "another file was put in the place of " + nameOf(suffix), patience: patience}
		}
	}
	info, err := osutil.Stat(f.path)
	switch {
	case isMissing(err), err == nil && !os.SameFile(info, f.opened[""]):
		return finding{kind: sidecar, what: "the link to the database was changed", patience: patience}
	case err != nil:
		return noResult
	}
	return finding{}
}

// kindOf returns the kind of a loss of the file with a suffix.
func kindOf(suffix string, ofDatabase kind) kind {
	if suffix == "" {
		return ofDatabase
	}
	return sidecar
}

// isMissing reports whether there is no file, or a file in the place of its folder.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// compareMark reads the mark and a sample of rows from the files themselves.
func (f *files) compareMark() finding {
	if f.fresh == nil {
		fresh, err := sqlite.OpenUncached(f.db.Path())
		if err != nil {
			return noResult
		}
		f.fresh = fresh
	}
	err := f.store.CheckMark(f.fresh)
	if err == nil {
		err = store.ReadSample(f.fresh)
	}
	failure, isFailure := errors.AsType[sqlite.ResultError](err)
	switch {
	case err == nil:
		return finding{}
	case errors.Is(err, sqlite.ErrLost):
		return setBack
	case isFailure && failure.IsSQL(): // a table is missing
		return finding{kind: overwritten, what: "another database was put in the place of the database", patience: patience}
	case errors.Is(err, sqlite.ErrCorrupt) && f.isReadable():
		return finding{kind: damaged, what: "the files of the database were damaged", patience: patience}
	}
	return noResult
}

// isReadable reports whether the disk gives back the file. To SQLite a disk that cannot be read
// for a while looks like damage, but it takes nothing away: requests fail as long as that lasts.
func (f *files) isReadable() bool {
	_, err := io.Copy(io.Discard, io.NewSectionReader(f.file, 0, math.MaxInt64))
	return err == nil
}

// isDamaged reports whether SQLite has found the files damaged in a request, and still does.
func (f *files) isDamaged() bool { return f.db.Damaged() && f.isReadable() }

// compareFile compares the file without its -wal, if it was modified since the last look. A
// checkpoint can only bring it forward.
func (f *files) compareFile() finding {
	before, err := f.file.Stat()
	if err != nil {
		return noResult
	}
	if before.ModTime().Equal(f.modified) && before.Size() == f.size {
		return finding{}
	}
	frames, copied, err := f.db.Frames()
	isOneState := err == nil && (copied == 0 || copied == frames)
	found, mark := f.compareHeader(before.Size()), f.mark
	if found.kind == nothing {
		mark, found = f.compareContent(isOneState)
	}
	if after, err := f.file.Stat(); err != nil || !after.ModTime().Equal(before.ModTime()) {
		return noResult // another program is writing
	}
	if found.kind == nothing {
		f.size, f.modified, f.mark = before.Size(), before.ModTime(), mark
		if time.Since(f.modified) < granularity {
			f.modified = time.Time{}
		}
	} else if found.isLoss() {
		found.modified = before.ModTime()
	}
	return found
}

// granularity is more than the steps in which file systems count time: a file that was
// modified within it may be modified again without another time.
const granularity = 50 * time.Millisecond

// compareHeader compares the header of the file (SQLite file format, section 1.3) and its size.
func (f *files) compareHeader(size int64) finding {
	header := make([]byte, 100)
	if _, err := f.file.ReadAt(header, 0); err == io.EOF {
		return cutOff("")
	} else if err != nil {
		return noResult
	}
	const wal = 2
	pageSize, pages := int64(binary.BigEndian.Uint16(header[16:])), int64(binary.BigEndian.Uint32(header[28:]))
	switch {
	case header[18] != wal:
		return writtenOver(patience)
	case size < f.size && size < pages*pageSize:
		return cutOff("")
	}
	return finding{}
}

func writtenOver(patience int) finding {
	return finding{kind: overwritten, what: "another program has written over the file of the database", patience: patience}
}

// compareContent compares the mark in the file without its -wal. isOneState is true if the file
// is a state that the database had. During a checkpoint, and after one that stopped early because
// of a reader, the file has pages of several states. Then only a mark of the same history counts.
func (f *files) compareContent(isOneState bool) (store.Mark, finding) {
	c, err := sqlite.OpenImmutable(f.db.Path())
	if err != nil {
		return f.mark, noResult
	}
	defer c.Close()
	mark, err := store.ReadMark(c)
	switch {
	case err == nil && f.mark == store.Mark{}: // the first look
		return mark, finding{}
	case err == nil && mark.Follows(f.mark):
		return mark, finding{}
	case err == nil && mark.History == f.mark.History:
		return mark, olderCopy
	case err == nil && mark.History == f.store.Mark().History: // which was renewed at the start
		return mark, finding{}
	case err == nil && isOneState:
		return mark, writtenOver(longPatience)
	}
	return f.mark, noResult
}
