package guard

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
)

// logState is a state of the -wal. Each frame has a checksum of all frames before
// it, and the salts of the -wal, which change when it restarts. So with the same
// salts the frames that are there stay as they are, and there are never fewer.
type logState struct {
	salts  [8]byte
	frames int64
	last   [24]byte // the header of the last frame
	size   uint32   // of the database after the last commit, in pages
}

// logReading is what a reading of the -wal has found.
type logReading struct {
	logState
	copied   int64 // how many of the frames are in the file of the database
	pageSize int64
	first    int64    // a frame, and
	pages    []uint32 // the pages of that one and all later ones
	shrunk   int      // how many of pages stand before the last commit that made the database smaller
	proved   bool     // it begins with the last frame that was known
}

const (
	logHeader   = 32 // SQLite file format, section 4.1
	frameHeader = 24
	// maxFormerSalts is the number of restarts of the -wal that are remembered. By
	// chance one in 60 million restarts looks like one of them.
	maxFormerSalts = 64
	// readings is how often the -wal is read before what is in it counts: the
	// writer may have restarted it meanwhile.
	readings = 4
)

// offset returns where a frame begins.
func (l *logReading) offset(frame int64) int64 {
	return logHeader + (frame-1)*(frameHeader+l.pageSize)
}

// errCut and errOlder say what has happened to a -wal.
var (
	errCut   = errors.New("it was cut off")
	errOlder = errors.New("it is an older one")
)

// compareLog compares the -wal with what it was. It reports whether the -wal shows
// that everything since has been added to what was there: then nothing can be older.
// The error is errCut, errOlder, or why that cannot be told.
func (f *files) compareLog() (proved bool, err error) {
	now := logReading{}
	for range readings {
		if now, err = f.readLog(); !errors.Is(err, errCut) && !errors.Is(err, errOlder) {
			break
		}
	}
	if err != nil {
		return false, err
	}
	if now.frames == 0 || now.salts != f.log.salts {
		f.pages.restart()
	}
	f.copied, f.pageSize = now.copied, now.pageSize
	if now.frames == 0 {
		return false, nil
	}
	if now.salts != f.log.salts {
		f.formerSalts = append(f.formerSalts, f.log.salts)
		f.formerSalts = f.formerSalts[max(0, len(f.formerSalts)-maxFormerSalts):]
	}
	if now.shrunk > 0 {
		f.pages.forget()
	}
	for i, page := range now.pages[now.shrunk:] {
		f.pages.frame[page] = now.first + int64(now.shrunk+i)
	}
	f.log = now.logState
	if !f.pages.areIn(f.shm) {
		return false, errOlder
	}
	return now.proved, nil
}

// isFormer reports whether salts are those of an earlier -wal, or of one that follows
// an earlier one. SQLite adds one to the first salt and chooses the second.
func (f *files) isFormer(salts [8]byte) bool {
	return slices.ContainsFunc(append(f.formerSalts, f.log.salts), func(former [8]byte) bool {
		return former != [8]byte{} && [4]byte(former[:]) == [4]byte(salts[:])
	})
}

// readLog reads the -wal from the last frame on that is known. The error is errCut,
// errOlder, or why it cannot be read. A -wal without frames is not read.
func (f *files) readLog() (now logReading, err error) {
	wal, err := os.Open(f.db.Path() + "-wal") // SQLite has no locks on it that closing would end
	if err != nil {
		return now, err
	}
	defer wal.Close()
	end, fell := f.db.LastEnd()
	before := make([]byte, logHeader)
	wal.ReadAt(before, 0)
	if now.frames, now.copied, now.pageSize, err = f.db.Frames(); err != nil || now.frames == 0 {
		return now, err
	}
	header := make([]byte, logHeader)
	if _, err := wal.ReadAt(header, 0); err != nil || isBlank(header[:4]) {
		return now, cutOr(err)
	}
	now.salts = [8]byte(header[16:])
	info, err := wal.Stat()
	switch {
	case err != nil:
		return now, err
	case info.Size() < now.offset(now.frames+1):
		return now, errCut
	case !bytes.Equal(before, header):
		return now, errOlder // or it has restarted: the next reading tells
	}
	if fell || end.Salts == now.salts && now.frames < end.Frames {
		return now, errOlder
	}
	if now.salts != f.log.salts && f.isFormer(now.salts) {
		return now, errOlder
	}
	err = now.readFrames(wal, f.log)
	return now, err
}

// readFrames reads the headers of the frames. The error is errOlder if one is not that
// of this -wal, or the last one that was known is not as it was.
func (l *logReading) readFrames(wal *os.File, known logState) error {
	l.first, l.size = 1, known.size
	if known.salts == l.salts && known.frames > 0 {
		if l.frames < known.frames {
			return errOlder
		}
		l.first, l.proved = known.frames, true
	}
	frame := make([]byte, frameHeader)
	for n := l.first; n <= l.frames; n++ {
		if _, err := wal.ReadAt(frame, l.offset(n)); err != nil || isBlank(frame[:4]) {
			return cutOr(err)
		}
		if [8]byte(frame[8:]) != l.salts || l.proved && n == l.first && [24]byte(frame) != known.last {
			return errOlder
		}
		l.pages = append(l.pages, binary.BigEndian.Uint32(frame))
		if size := binary.BigEndian.Uint32(frame[4:]); size > 0 { // a commit
			if size < l.size {
				l.shrunk = len(l.pages)
			}
			l.size = size
		}
	}
	l.last = [24]byte(frame)
	return nil
}

// isBlank reports whether there is no number of the format or of a page: the file
// was cut off, and SQLite has gone on writing where it was.
func isBlank(number []byte) bool { return bytes.Equal(number, make([]byte, len(number))) }

func cutOr(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return errCut
	}
	return err
}
