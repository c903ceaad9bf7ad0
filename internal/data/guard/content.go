package guard

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
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

// compareState compares what SQLite sees: the -wal, and how far the content has come.
// Content that is older counts only where the -wal does not prove that it has grown out
// of what was there: people may do to the content what they want.
func (f *files) compareState() finding {
	proved, err := f.compareLog()
	switch {
	case errors.Is(err, errCut):
		return cutOff("-wal", cut)
	case errors.Is(err, errOlder):
		return olderFiles
	case err != nil:
		return noResult
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
		return noResult
	}
	if isOlder && proved { // the files may have been replaced after the -wal was compared
		proved, err = f.compareLog()
	}
	switch {
	case isOlder && (!proved || err != nil):
		return olderFiles
	case isOlder:
		f.fileProgress = ""
	}
	f.progress = now
	return finding{}
}

// compareFile compares what can be seen of the file of the database without reading
// all of it: the size, the header, and its content without the -wal. While another
// process copies into it that says nothing.
func (f *files) compareFile() finding {
	if f.isCopying() {
		return noResult
	}
	found := f.compareContent()
	if found.fileOnly && (f.isCopying() || f.hasCopied()) {
		return noResult
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
	info, err := f.file.Stat()
	return err != nil || !info.ModTime().Equal(f.modifiedAtLook)
}

// isCopying reports whether a checkpoint is under way, by the -shm: it has begun to
// copy more frames than have been copied.
func (f *files) isCopying() bool {
	const done, begun = 96, 128 // SQLite's WAL-mode file format, section 2.3
	number := make([]byte, begun+4)
	if f.shm == nil {
		return false
	}
	_, err := f.shm.ReadAt(number, 0)
	return err == nil && !bytes.Equal(number[done:done+4], number[begun:])
}

// compareContent compares the header of the file and, if the file was written since the
// last look, its content.
func (f *files) compareContent() finding {
	info, err := f.file.Stat()
	if err != nil {
		return noResult
	}
	header := make([]byte, 100) // SQLite file format, section 1.3
	if _, err := f.file.ReadAt(header, 0); err == io.EOF {
		return cutOff("", cut)
	} else if err != nil {
		return noResult
	}
	f.pages.keep(info.ModTime())
	const wal = 2
	pageSize, pages := int64(binary.BigEndian.Uint16(header[16:])), int64(binary.BigEndian.Uint32(header[28:]))
	changes := binary.BigEndian.Uint32(header[24:])
	switch {
	case header[18] != wal:
		return overwritten
	case info.Size() < f.fileSize && info.Size() < pages*pageSize:
		return cutOff("", cut)
	case changes >= f.changes && info.ModTime().Equal(f.modified) && !f.pages.racy && f.fileProgress != "":
		return finding{}
	}
	found := f.readContent()
	f.modifiedAtLook = info.ModTime()
	switch {
	case found.what != "":
		return found
	case changes < f.changes, f.pages.isForeign(f.file, pages, f.modifiedAtLook, f.pageSize):
		return olderFile
	case found.unknown:
		return found
	case !f.pages.sum(f.file, pages, f.modifiedAtLook, f.pageSize, f.copied, f.db.Path()+"-wal"):
		return olderFile
	}
	f.fileSize, f.changes, f.modified = info.Size(), changes, f.modifiedAtLook
	return finding{}
}

// readContent reads the file without its -wal, and finds another database, by its marks,
// or an older state than the file had. What the file holds may be older than the database
// is by now. While it is written it may not be readable.
func (f *files) readContent() finding {
	f.db.Read(f.remember) // fails where SQLite has met the other database
	c, err := sqlite.OpenImmutable(f.db.Path())
	if err != nil {
		return noResult
	}
	defer c.Close()
	marks, err := f.content.Marks(c)
	if err == nil && len(marks) > 0 && len(f.marks) > 0 && !slices.ContainsFunc(marks, func(mark string) bool { return slices.Contains(f.marks, mark) }) {
		return finding{what: overwritten.what, kind: replaced, fileOnly: true}
	}
	now, isOlder, err := f.content.Progress(c, f.fileProgress)
	switch {
	case err != nil:
		return noResult
	case isOlder:
		return olderFile
	}
	f.fileProgress = now
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
