package guard

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/firefighter-records/firefighters/internal/osutil"
	"github.com/firefighter-records/firefighters/internal/sqlite"
)

// kind is a kind of loss.
type kind int

const (
	gone     kind = iota // the database is missing
	cut                  // the database or its -wal is cut
	replaced             // another file is in its place
	beside               // the -wal or the -shm is missing or another, or a link leads elsewhere
)

// files are the files of an open database, as they are known to be.
type files struct {
	db       *sqlite.DB
	path     string // which may be a link to it
	identify func(*sqlite.Conn) ([]string, error)
	header   *os.File               // the database
	opened   map[string]fs.FileInfo // by suffix; nil before the database is writable
	marks    []string               // all that the database has had
	frame    int64                  // offset of the last frame in the -wal
	size     int64
	changes  uint32 // SQLite's change counter, in the header
	modified time.Time
}

var suffixes = []string{"", "-wal", "-shm"}

var names = map[string]string{"": "the file of the database", "-wal": "the -wal of the database", "-shm": "the -shm of the database"}

// openFiles opens the database once more. It is never closed: on Unix that would
// end SQLite's locks on it.
func openFiles(db *sqlite.DB, path string, identify func(*sqlite.Conn) ([]string, error)) (*files, error) {
	header, err := os.Open(db.Path())
	return &files{db: db, path: path, identify: identify, header: header}, err
}

// compare returns what has happened to the files, or "" if nothing has, or
// nothing that can be told.
func (f *files) compare() (what string, kind kind) {
	if !f.db.Writable() {
		return f.compareReadOnly()
	}
	frame, walSize, err := f.db.LastFrame() // before the -wal, which may grow meanwhile
	if err != nil {
		frame, walSize = 0, 0 // what can be seen without SQLite says why
	}
	now := map[string]fs.FileInfo{}
	for _, suffix := range suffixes {
		info, err := osutil.Stat(f.db.Path() + suffix)
		switch {
		case errors.Is(err, fs.ErrNotExist) && f.opened != nil:
			return names[suffix] + " was deleted or moved away", kindOf(suffix, gone)
		case err != nil:
			return "", 0
		case f.opened != nil && !os.SameFile(info, f.opened[suffix]):
			return "another file was put in the place of " + names[suffix], kindOf(suffix, replaced)
		}
		now[suffix] = info
	}
	if f.opened == nil {
		f.opened = now
	}
	if osutil.Resolve(f.path) != f.db.Path() {
		return "the link to the database was changed", beside
	}
	if now["-wal"].Size() < walSize || walSize > 0 && (f.walIsBlank(0) || f.frame <= frame && f.walIsBlank(f.frame)) {
		return names["-wal"] + " was cut off", cut
	}
	f.frame = frame
	return f.compareContent(now[""])
}

// compareReadOnly is compare on a full disk, where there are no files beside the
// database.
func (f *files) compareReadOnly() (what string, kind kind) {
	opened, err := f.header.Stat()
	if err != nil {
		return "", 0
	}
	switch info, err := osutil.Stat(f.db.Path()); {
	case errors.Is(err, fs.ErrNotExist):
		return names[""] + " was deleted or moved away", gone
	case err == nil && !os.SameFile(info, opened):
		return "another file was put in the place of " + names[""], replaced
	}
	return "", 0
}

// walIsBlank reports whether the -wal has no header at an offset, for all of it or
// for a frame: it was cut off, and SQLite has gone on writing where it was.
func (f *files) walIsBlank(offset int64) bool {
	wal, err := os.Open(f.db.Path() + "-wal") // SQLite has no locks on it that closing would end
	if err != nil {
		return false
	}
	defer wal.Close()
	number := make([]byte, 4) // of the format, or of a page
	_, err = wal.ReadAt(number, offset)
	return err == nil && bytes.Equal(number, make([]byte, 4))
}

func kindOf(suffix string, ofDatabase kind) kind {
	if suffix != "" {
		return beside
	}
	return ofDatabase
}

// compareContent compares what can be seen of the database without reading all
// of it: the size, the header, and the marks of its content.
func (f *files) compareContent(info fs.FileInfo) (what string, kind kind) {
	if f.db.Checkpointing() {
		return "", 0 // the file is being written
	}
	if len(f.marks) == 0 {
		f.db.Read(f.remember) // a new database has had none
	}
	const overwritten = "another program has written over the file of the database"
	header := make([]byte, 100) // SQLite file format, section 1.3
	if _, err := f.header.ReadAt(header, 0); err == io.EOF {
		return names[""] + " was cut off", cut
	} else if err != nil {
		return "", 0
	}
	const wal = 2
	pageSize, pages := int64(binary.BigEndian.Uint16(header[16:])), int64(binary.BigEndian.Uint32(header[28:]))
	changes := binary.BigEndian.Uint32(header[24:])
	switch {
	case header[18] != wal, changes < f.changes:
		return overwritten, replaced
	case info.Size() < f.size && info.Size() < pages*pageSize:
		return names[""] + " was cut off", cut
	case !info.ModTime().Equal(f.modified) && f.isForeign():
		return overwritten, replaced
	}
	f.size, f.changes, f.modified = info.Size(), changes, info.ModTime()
	return "", 0
}

// isForeign reports whether the file holds another database, by its marks. The
// file is read without its -wal: what it holds may be older than what the
// database holds by now, or may not be readable.
func (f *files) isForeign() bool {
	f.db.Read(f.remember) // fails where SQLite has met the other database
	c, err := sqlite.OpenImmutable(f.db.Path())
	if err != nil {
		return false
	}
	defer c.Close()
	marks, err := f.identify(c)
	return err == nil && len(marks) > 0 && len(f.marks) > 0 && !slices.ContainsFunc(marks, func(mark string) bool { return slices.Contains(f.marks, mark) })
}

// remember adds the marks that the database has now.
func (f *files) remember(c *sqlite.Conn) error {
	marks, err := f.identify(c)
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

// setAside renames the -wal: SQLite would write it into the file that is in the
// place of the database by now.
func (f *files) setAside() {
	if f.is("-wal", "-wal") {
		os.Rename(f.db.Path()+"-wal", f.db.Path()+AsideSuffix)
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
