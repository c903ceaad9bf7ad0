package guard

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// kind is a kind of loss.
type kind int

const (
	gone     kind = iota // the database is missing
	cut                  // the database or its -wal is cut
	replaced             // another file is in its place
	older                // an older state of it is in its place
	damaged              // SQLite has found it damaged
	beside               // the -wal or the -shm is missing, cut or another, or a link leads elsewhere
)

// finding is what a look has found.
type finding struct {
	what    string // what has happened to the files; "" if nothing has
	kind    kind
	inFile  bool // the content of the file of the database alone says so
	unknown bool // a look without a result
}

// patience is how long looks in a row must find a loss. A look may come in the middle
// of what another process does. That may copy from the -wal into the file for long,
// but not without writing.
func (f finding) patience() time.Duration {
	if f.inFile {
		return 10 * interval
	}
	return interval * 3 / 4
}

const (
	overwritten = "another program has written over the file of the database"
	olderCopy   = "an older copy was written over the files of the database"
)

// Content is what a guard must know of what a database holds.
type Content struct {
	// Marks returns marks of which any two files of one database share one. It may
	// be handed a file that is being written.
	Marks func(*sqlite.Conn) ([]string, error)
	// Progress returns how far a database has come, in one line, and reports whether
	// that is an older state of it than an earlier answer. "" is none.
	Progress func(c *sqlite.Conn, earlier string) (now string, older bool, err error)
	// Renew makes a database of an older state another one, so that nothing is
	// counted a second time.
	Renew func(*sqlite.Conn) error
}

// files are the files of an open database, as they are known to be.
type files struct {
	db      *sqlite.DB
	path    string // which may be a link to it
	content Content
	header  *os.File // the database
	index   *os.File // the -shm; nil if it cannot be read. Like header it is never closed
	folder  *os.File // that of the database. While it is open no other folder gets its number

	mu       sync.Mutex             // held during a look, and so at the beginning of a checkpoint
	doubted  time.Time              // since when looks have found a loss; zero if the last found none
	opened   map[string]fs.FileInfo // by suffix; nil before the database is writable
	marks    []string               // all that the database has had
	log      logState               // the last one with frames
	former   [][8]byte              // the salts of the -wal before
	copied   int64                  // how many frames are in the file
	pageSize int64
	pages    pages
	progress string // of the database
	inFile   string // progress of its file, without the -wal; "" if nothing is known
	shared   int64  // size of the -shm
	size     int64
	changes  uint32 // SQLite's change counter, in the header
	modified time.Time
	met      time.Time // when the file was modified, at the last look into it
	metThen  time.Time // the same, when the doubt began
}

var suffixes = []string{"", "-wal", "-shm"}

var names = map[string]string{"": "the file of the database", "-wal": "the -wal of the database", "-shm": "the -shm of the database"}

// openFiles opens the database once more. It is never closed: on Unix that would
// end SQLite's locks on it.
func openFiles(db *sqlite.DB, path string, content Content) (*files, error) {
	f := &files{db: db, path: path, content: content, pages: pages{frame: map[uint32]int64{}, sums: map[uint32]uint32{}}}
	var err error
	if f.header, err = os.Open(db.Path()); err == nil {
		f.folder, err = os.Open(filepath.Dir(db.Path()))
	}
	return f, err
}

// isLost looks at the files, and reports whether enough looks have found a loss. A
// look without a result leaves a doubt as it is.
func (f *files) isLost() (found finding, lost bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	found = f.compare(f.db.Checkpointing())
	first := f.judge(found)
	return found, found.what != "" && !first && time.Since(f.doubted) >= found.patience()
}

// judge notes what a look has found, and reports whether it is the first of some.
func (f *files) judge(found finding) (first bool) {
	switch {
	case found.unknown:
	case found.what == "":
		f.doubted = time.Time{}
	case f.doubted.IsZero(), found.inFile && !f.metThen.Equal(f.met):
		f.doubted, f.metThen = time.Now(), f.met
		return true
	}
	return false
}

// mayCheckpoint looks before a checkpoint of this process, and done after it. The
// checkpoint would write the header over that of another file, and hide it. complete
// says that all of the -wal is in the file, which then has come as far as the database
// had.
func (f *files) mayCheckpoint() (done func(complete bool) bool, allowed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	look := func() bool {
		if found := f.compare(false); found.what != "" {
			f.judge(found)
		}
		return f.doubted.IsZero()
	}
	allowed = look()
	progress := f.progress
	done = func(complete bool) bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		if complete {
			f.inFile = progress
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
	if found.what == "" && f.db.Damaged() {
		return finding{what: "what SQLite reads from the files of the database is damaged", kind: damaged}
	}
	return found
}

// compareNames compares which files there are.
func (f *files) compareNames() finding {
	now := map[string]fs.FileInfo{}
	for _, suffix := range suffixes {
		info, err := osutil.Stat(f.db.Path() + suffix)
		switch {
		case isMissing(err) && f.opened != nil:
			return finding{what: names[suffix] + " was deleted or moved away", kind: kindOf(suffix, gone)}
		case err != nil:
			return finding{unknown: true}
		case f.opened != nil && !os.SameFile(info, f.opened[suffix]):
			return finding{what: "another file was put in the place of " + names[suffix], kind: kindOf(suffix, replaced)}
		}
		now[suffix] = info
	}
	if f.opened == nil {
		f.opened = now
		if runtime.GOOS != "windows" { // where nobody can write over it, and where SQLite could not delete it
			f.index, _ = os.Open(f.db.Path() + "-shm")
		}
	}
	if osutil.Resolve(f.path) != f.db.Path() {
		return finding{what: "the link to the database was changed", kind: beside}
	}
	if now["-shm"].Size() < f.shared {
		return finding{what: names["-shm"] + " was cut off", kind: beside}
	}
	f.shared = now["-shm"].Size()
	return finding{}
}

// compareReadOnly is compare on a full disk, where there are no files beside the
// database.
func (f *files) compareReadOnly() finding {
	opened, err := f.header.Stat()
	if err != nil {
		return finding{unknown: true}
	}
	switch info, err := osutil.Stat(f.db.Path()); {
	case isMissing(err):
		return finding{what: names[""] + " was deleted or moved away", kind: gone}
	case err == nil && !os.SameFile(info, opened):
		return finding{what: "another file was put in the place of " + names[""], kind: replaced}
	}
	return finding{}
}

// isMissing reports whether there is no file, or a file in the place of its folder.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func kindOf(suffix string, ofDatabase kind) kind {
	if suffix != "" {
		return beside
	}
	return ofDatabase
}

// compareState compares what SQLite sees: the -wal, and how far the content has
// come. That counts only where the -wal has restarted, since people may do
// to the content what they want.
func (f *files) compareState() finding {
	proved, err := f.compareLog()
	switch {
	case errors.Is(err, errCut):
		return finding{what: names["-wal"] + " was cut off", kind: cut}
	case errors.Is(err, errOlder):
		return finding{what: olderCopy, kind: older}
	case err != nil:
		return finding{unknown: true}
	}
	now, isOlder := "", false
	err = f.db.Read(func(c *sqlite.Conn) (err error) {
		if len(f.marks) == 0 {
			f.remember(c) // a new database has had none
		}
		now, isOlder, err = f.content.Progress(c, f.progress)
		return err
	})
	if err != nil {
		return finding{unknown: true}
	}
	if isOlder && proved { // unless it happened between the two
		proved, err = f.compareLog()
	}
	switch {
	case isOlder && (!proved || err != nil):
		return finding{what: olderCopy, kind: older}
	case isOlder:
		f.inFile = ""
	}
	f.progress = now
	return finding{}
}

// compareFile compares what can be seen of the file of the database without reading
// all of it: the size, the header, and its content without the -wal. While another
// process copies into it that says nothing.
func (f *files) compareFile() finding {
	if f.isCopying() {
		return finding{unknown: true}
	}
	found := f.compareContent()
	if found.inFile && (f.isCopying() || f.hasCopied()) {
		return finding{unknown: true}
	}
	return found
}

// hasCopied reports whether a checkpoint has ended, or the -wal has restarted, since
// the look began: the file then has pages that were not known to be in it.
func (f *files) hasCopied() bool {
	frames, copied, _, err := f.db.Frames()
	if err != nil || copied != f.copied || frames > 0 && f.db.Salts() != f.log.salts {
		return true
	}
	info, err := f.header.Stat()
	return err != nil || !info.ModTime().Equal(f.met)
}

// isCopying reports whether a checkpoint is under way, by the -shm: it has begun to
// copy more frames than have been copied.
func (f *files) isCopying() bool {
	const done, begun = 96, 128 // SQLite's WAL-mode file format, section 2.3
	number := make([]byte, begun+4)
	if f.index == nil {
		return false
	}
	_, err := f.index.ReadAt(number, 0)
	return err == nil && !bytes.Equal(number[done:done+4], number[begun:])
}

func (f *files) compareContent() finding {
	info, err := f.header.Stat()
	if err != nil {
		return finding{unknown: true}
	}
	header := make([]byte, 100) // SQLite file format, section 1.3
	if _, err := f.header.ReadAt(header, 0); err == io.EOF {
		return finding{what: names[""] + " was cut off", kind: cut}
	} else if err != nil {
		return finding{unknown: true}
	}
	f.pages.keep(info.ModTime())
	const wal = 2
	pageSize, pages := int64(binary.BigEndian.Uint16(header[16:])), int64(binary.BigEndian.Uint32(header[28:]))
	changes := binary.BigEndian.Uint32(header[24:])
	switch {
	case header[18] != wal:
		return finding{what: overwritten, kind: replaced}
	case info.Size() < f.size && info.Size() < pages*pageSize:
		return finding{what: names[""] + " was cut off", kind: cut}
	case changes >= f.changes && info.ModTime().Equal(f.modified) && !f.pages.racy && f.inFile != "":
		return finding{}
	}
	found := f.readContent()
	f.met = info.ModTime()
	if found.what == "" && (changes < f.changes || f.pages.isForeign(f.header, pages, f.met, f.pageSize)) {
		found = finding{what: olderCopy, kind: older, inFile: true}
	}
	if found == (finding{}) && !f.pages.sum(f.header, pages, f.met, f.pageSize, f.copied, f.db.Path()+"-wal") {
		found = finding{what: olderCopy, kind: older, inFile: true}
	}
	if found == (finding{}) {
		f.size, f.changes, f.modified = info.Size(), changes, f.met
	}
	return found
}

// readContent reads the file without its -wal: it holds another database, by its
// marks, or an older state than before. What it holds may be older than the
// database by now, or may not be readable while it is written.
func (f *files) readContent() finding {
	f.db.Read(f.remember) // fails where SQLite has met the other database
	c, err := sqlite.OpenImmutable(f.db.Path())
	if err != nil {
		return finding{unknown: true}
	}
	defer c.Close()
	marks, err := f.content.Marks(c)
	if err == nil && len(marks) > 0 && len(f.marks) > 0 && !slices.ContainsFunc(marks, func(mark string) bool { return slices.Contains(f.marks, mark) }) {
		return finding{what: overwritten, kind: replaced, inFile: true}
	}
	now, isOlder, err := f.content.Progress(c, f.inFile)
	switch {
	case err != nil:
		return finding{unknown: true}
	case isOlder:
		return finding{what: olderCopy, kind: older, inFile: true}
	}
	f.inFile = now
	return finding{}
}

// remember adds the marks that the database has now.
func (f *files) remember(c *sqlite.Conn) error {
	marks, err := f.content.Marks(c)
	for _, mark := range marks {
		if !slices.Contains(f.marks, mark) {
			f.marks = append(f.marks, mark)
		}
	}
	return err
}

// areBack reports whether all files are in their places again, and nobody has
// changed the database meanwhile.
func (f *files) areBack() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.opened == nil {
		return false
	}
	for _, suffix := range suffixes {
		info, err := osutil.Stat(f.db.Path() + suffix)
		if err != nil || !os.SameFile(info, f.opened[suffix]) || suffix == "" && !info.ModTime().Equal(f.modified) {
			return false
		}
	}
	return true
}

// isInFolder reports whether the folder of the database is the one that it was
// opened in. Another of that name is none of ours.
func (f *files) isInFolder() bool {
	opened, err := f.folder.Stat()
	if err != nil {
		return false
	}
	info, err := os.Stat(filepath.Dir(f.db.Path()))
	return err == nil && os.SameFile(info, opened)
}

// setAside renames the -wal: SQLite would write it into the file that is in the
// place of the database by now.
func (f *files) setAside() {
	if f.is("-wal", "-wal") {
		os.Rename(f.db.Path()+"-wal", f.db.Path()+AsideSuffix)
	}
}

// growShared extends a -shm that was cut to its length. It is blank then, so that
// SQLite makes it again from the -wal.
func (f *files) growShared() {
	if info, err := os.Stat(f.db.Path() + "-shm"); err == nil && f.is("-shm", "-shm") && info.Size() < f.shared {
		os.Truncate(f.db.Path()+"-shm", f.shared)
	}
}

// removeBeside removes the files beside the database, unless they are others by now.
func (f *files) removeBeside() {
	for suffix, opened := range map[string]string{"-wal": "-wal", AsideSuffix: "-wal", "-shm": "-shm"} {
		if f.is(suffix, opened) {
			os.Remove(f.db.Path() + suffix)
		}
	}
}

// is reports whether the file with a suffix is the one that was opened with another.
func (f *files) is(suffix, opened string) bool {
	info, err := osutil.Stat(f.db.Path() + suffix)
	return err == nil && f.opened != nil && os.SameFile(info, f.opened[opened])
}
