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

type kind string

const (
	nothing  kind = ""         // no loss
	unclear  kind = "unclear"  // the check had no result
	gone     kind = "gone"     // the database is missing
	replaced kind = "replaced" // another file has the path of the database
	sidecar  kind = "sidecar"  // the -wal, the -shm or the link to the database is missing or changed
	cut      kind = "cut"      // the database or its -wal was truncated
	damaged  kind = "damaged"  // SQLite reports damage

	overwritten kind = "overwritten" // an earlier state or another database overwrote the database
)

type finding struct {
	kind kind
	what string // what happened to the files; "" if there is no loss

	// patience is the number of consecutive checks that must find the loss. modified is the
	// modification time of the file if only its content without the -wal shows the loss. If the time
	// changes between two checks, another process may be running a checkpoint.
	patience int
	modified time.Time
}

func (f finding) isLoss() bool { return f.what != "" }

// isInFile reports whether the content of the file without the -wal shows the loss.
func (f finding) isInFile() bool { return !f.modified.IsZero() }

// patience is the usual number of consecutive checks that must find a loss. A single check may run
// in the middle of another process's operation.
const (
	patience     = 2
	longPatience = 10 // 2 s
)

var (
	noResult  = finding{kind: unclear}
	damage    = finding{kind: damaged, what: "the database files were damaged", patience: patience}
	olderCopy = finding{kind: overwritten, what: "an older copy overwrote the database files", patience: patience}
	setBack   = finding{kind: overwritten, what: "an earlier state of the database, or another database, replaced it", patience: 1}
)

// suffixes are the suffixes of the files of a database, and names describe these files.
var (
	suffixes = []string{"", "-wal", "-shm"}
	names    = map[string]string{"": "the database file", "-wal": "the -wal of the database", "-shm": "the -shm of the database"}
)

func cutOff(suffix string) finding {
	return finding{kind: cut, what: names[suffix] + " was truncated", patience: patience}
}

// files are the files of an open database, with their state at the last check.
type files struct {
	store  *store.Store
	db     *sqlite.DB
	path   string       // the path of the database or of a link to it
	file   *os.File     // the database; never closed, because on Unix that would release SQLite's locks
	folder *os.File     // kept open so that no other folder can reuse its inode
	fresh  *sqlite.Conn // caches no pages; nil until the first check

	mu      sync.Mutex             // held during a check
	opened  map[string]fs.FileInfo // the opened files by suffix
	doubts  int                    // consecutive checks that found a loss
	doubted time.Time              // modified of the last finding

	size     int64      // size of the file
	modified time.Time  // modification time of the file; zero makes the next check compare it again
	mark     store.Mark // the mark in the file without its -wal
	end      logEnd
	pageSize int64
}

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

// close closes the connection. Call it before closing the database.
func (f *files) close() {
	if f.fresh != nil {
		f.fresh.Close()
	}
}

// look checks the files and reports whether enough consecutive checks have found a loss.
func (f *files) look() (found finding, lost bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	found = f.compare()
	f.count(found)
	return found, found.isLoss() && f.doubts >= found.patience
}

// count counts consecutive checks that found a loss. It restarts if the file was modified since the
// last check, because another program may be writing.
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

func (f *files) inDoubt() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.doubts > 0
}

// mayCheckpoint checks the files before a checkpoint of this process and allows it if there is no
// doubt. A checkpoint updates the file and so can hide a change to it or to the -wal. mayCheckpoint
// is also called after the checkpoint, to remember the updated file.
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

// compare checks all files. On a full disk the database may have no -wal.
func (f *files) compare() finding {
	found := f.compareNames()
	if found.isLoss() || !f.db.Writable() {
		return found
	}
	comparisons := []func() finding{f.compareLog, f.compareFile, f.compareMark}
	if f.db.Checkpointing() { // the file is changing
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
	if f.db.Damaged() && f.isReadable() {
		return damage
	}
	return found
}

// compareNames checks that the paths still lead to the opened files.
func (f *files) compareNames() finding {
	for _, suffix := range suffixes {
		if suffix != "" && !f.db.Writable() {
			break
		}
		ifMissing, ifOther := gone, replaced
		if suffix != "" {
			ifMissing, ifOther = sidecar, sidecar
		}
		info, err := osutil.Stat(f.db.Path() + suffix)
		opened := f.opened[suffix]
		switch {
		case isMissing(err) && opened != nil:
			return finding{kind: ifMissing, what: names[suffix] + " was deleted or moved away", patience: patience}
		case err != nil:
			return noResult
		case opened == nil:
			f.opened[suffix] = info
		case !os.SameFile(info, opened):
			return finding{kind: ifOther, what: names[suffix] + " was replaced by another file", patience: patience}
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

// isMissing reports whether a file does not exist, or a file has the path of its folder.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// compareMark reads the mark and a sample of rows from the files, without a cache.
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
		return finding{kind: overwritten, what: "the database was replaced by another database", patience: patience}
	case errors.Is(err, sqlite.ErrCorrupt) && f.isReadable():
		return damage
	}
	return noResult
}

// isReadable reports whether the disk can read the file. SQLite reports damage if the disk temporarily
// cannot be read. This is not a loss, although requests fail in the meantime.
func (f *files) isReadable() bool {
	_, err := io.Copy(io.Discard, io.NewSectionReader(f.file, 0, math.MaxInt64))
	return err == nil
}

// compareFile checks the file without its -wal if it was modified since the last check. A checkpoint
// can only replace its state with a later one.
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

// granularity exceeds the resolution of file times. A file modified this recently may be modified
// again without a new time.
const granularity = 50 * time.Millisecond

// compareHeader checks the header (SQLite file format, section 1.3) and the size of the file.
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
	return finding{kind: overwritten, what: "another program overwrote the database file", patience: patience}
}

// compareContent checks the mark in the file without its -wal. isOneState is true if the file contains
// a single state of the database. During a checkpoint, and after an incomplete one, the file has
// pages of several states. Then only a mark with the same history counts.
func (f *files) compareContent(isOneState bool) (store.Mark, finding) {
	c, err := sqlite.OpenImmutable(f.db.Path())
	if err != nil {
		return f.mark, noResult
	}
	defer c.Close()
	mark, err := store.ReadMark(c)
	switch {
	case err == nil && (f.mark == store.Mark{} || mark.Follows(f.mark)): // the first check, or a later state
		return mark, finding{}
	case err == nil && mark.History == f.mark.History:
		return mark, olderCopy
	case err == nil && mark.History == f.store.Mark().History: // renewed at startup
		return mark, finding{}
	case err == nil && isOneState:
		return mark, writtenOver(longPatience)
	}
	return f.mark, noResult
}
