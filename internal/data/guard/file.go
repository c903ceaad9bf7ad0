package guard

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"slices"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// compareState compares what SQLite sees: the -wal, and how far the content has come.
// Content that is older counts only where the -wal does not prove that it has grown out
// of what was there: people may do to the content what they want.
func (f *files) compareState() finding {
	extended, found := f.compareWAL()
	if found.kind != nothing {
		return found
	}
	read, now, isOlder := f.wal, "", false
	err := f.db.Read(func(c *sqlite.Conn) (err error) {
		if len(f.marks) == 0 {
			f.remember(c) // a new database has had none
		}
		now, isOlder, err = f.content.Progress(c, f.progress)
		return err
	})
	if err != nil {
		return noResult
	}
	if isOlder && extended { // the files may have been replaced after the -wal was compared
		extended, found = f.compareWAL()
	}
	if isOlder && (!extended || found.kind != nothing || f.wal == f.read) { // nobody has written
		return olderCopy
	}
	if isOlder && f.copied > 0 { // what has made it older may be in the file
		f.fileProgress = ""
	}
	f.progress, f.read = now, read
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
	if !found.modified.IsZero() && (f.isCopying() || f.hasCopied(found)) {
		return noResult
	}
	return found
}

// hasCopied reports whether a checkpoint has ended, or the -wal has restarted, since
// the look began: the file then has pages that were not known to be in it.
func (f *files) hasCopied(found finding) bool {
	frames, copied, err := f.db.Frames()
	if err != nil || copied != f.copied || frames > 0 && f.db.Salts() != f.wal.salts {
		return true
	}
	info, err := f.file.Stat()
	return err != nil || !info.ModTime().Equal(found.modified)
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
// last look, its content and some pages.
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
	const wal = 2
	pageSize, count := int64(binary.BigEndian.Uint16(header[16:])), int64(binary.BigEndian.Uint32(header[28:]))
	changes := binary.BigEndian.Uint32(header[24:])
	modified := info.ModTime()
	unwritten := modified.Equal(f.modified) && !f.racy
	if unwritten {
		f.pages.keep()
	}
	switch {
	case header[18] != wal:
		return overwritten
	case info.Size() < f.fileSize && info.Size() < count*pageSize:
		return cutOff("", cut)
	case unwritten && changes >= f.changes && f.fileProgress != "":
		return finding{}
	}
	found := f.readContent()
	if !found.isLoss() && (changes < f.changes || !unwritten && f.pages.areForeign(count)) {
		found = olderCopy
	}
	if found.kind == nothing && !unwritten {
		found = f.pages.sum(count, f.copied)
	}
	if found.isLoss() {
		found.modified = modified
	} else if found.kind == nothing {
		f.fileSize, f.changes, f.modified, f.racy = info.Size(), changes, modified, isRacy(modified)
	}
	return found
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
		return overwritten
	}
	now, isOlder, err := f.content.Progress(c, f.fileProgress)
	switch {
	case err != nil:
		return noResult
	case isOlder && f.isOneState():
		return olderCopy
	case isOlder:
		return finding{}
	}
	f.fileProgress = now
	return finding{}
}

// isOneState reports whether the file without its -wal is a state that the database had.
// A checkpoint that stops before the end of the -wal, because of a reader, leaves out the
// pages that have a later frame. The file then has pages of several states, and may seem
// older than it was. Checksums of its pages tell that (pages).
func (f *files) isOneState() bool {
	frames, copied, err := f.db.Frames()
	return err == nil && (copied == 0 || copied == frames || copied == f.wholeCopied && f.db.Salts() == f.wholeSalts)
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
