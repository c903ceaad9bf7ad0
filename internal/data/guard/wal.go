package guard

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"os"
)

// walState is a state of the -wal. Each frame has a checksum of all frames before
// it, and the salts of the -wal, which change when it restarts. So with the same
// salts the frames that are there stay as they are, and there are never fewer.
type walState struct {
	salts  [8]byte
	frames int64
	last   [24]byte // the header of the last frame
	size   uint32   // of the database after the last commit, in pages
}

// follows reports whether the -wal is the known one, some restarts later: SQLite adds
// one to the first salt and chooses the second. A process that begins the -wal again
// chooses both. By chance one in 60 million of these looks like an earlier one.
func (s *walState) follows(known walState) bool {
	const restarts = 64 // that are looked back
	number := func(salts [8]byte) uint32 { return binary.BigEndian.Uint32(salts[:]) }
	return s.salts == known.salts || known.salts == [8]byte{} || number(known.salts)-number(s.salts) >= restarts
}

// walReading is what a reading of the -wal has found.
type walReading struct {
	walState
	copied   int64            // how many of the frames are in the file of the database
	pages    map[uint32]int64 // the last frame of each page, since the state that was known or the database became smaller
	shrunk   bool             // the database has become smaller since that state
	extended bool             // that state is its beginning
}

const (
	walHeader   = 32 // SQLite file format, section 4.1
	frameHeader = 24
	// readings is how often the -wal is read before what is in it counts: the
	// writer may have restarted it meanwhile.
	readings = 4
)

// frameOffset returns where a frame of the -wal begins.
func frameOffset(frame, pageSize int64) int64 { return walHeader + (frame-1)*(frameHeader+pageSize) }

// compareWAL compares the -wal with what it was. It reports whether the -wal shows
// that everything since has been added to what was there: then nothing can be older.
func (f *files) compareWAL() (extended bool, found finding) {
	var now walReading
	for range readings {
		if now, found = f.readWAL(); !found.isLoss() {
			break
		}
	}
	if found.kind != nothing {
		return false, found
	}
	if now.frames == 0 || now.salts != f.wal.salts {
		f.pages.restart()
	}
	f.copied = now.copied
	if now.frames == 0 {
		return false, finding{}
	}
	if now.shrunk {
		f.pages.forget()
	}
	maps.Copy(f.pages.frame, now.pages)
	f.wal = now.walState
	if !f.pages.areIn(f.shm) {
		return false, olderCopy
	}
	return now.extended, finding{}
}

// readWAL reads the -wal from the last frame on that is known. A -wal without frames is
// not read.
func (f *files) readWAL() (now walReading, found finding) {
	wal, err := os.Open(f.db.Path() + "-wal") // SQLite has no locks on it that closing would end
	if err != nil {
		return now, noResult
	}
	defer wal.Close()
	end, walShrank := f.db.LastEnd()
	before, header := make([]byte, walHeader), make([]byte, walHeader)
	wal.ReadAt(before, 0)
	if now.frames, now.copied, err = f.db.Frames(); err != nil {
		return now, noResult
	} else if now.frames == 0 {
		return now, finding{}
	}
	if found := readOrCut(wal, header, 0); found.kind != nothing {
		return now, found
	}
	now.salts = [8]byte(header[16:])
	info, err := wal.Stat()
	switch {
	case err != nil:
		return now, noResult
	case info.Size() < frameOffset(now.frames+1, f.pages.size):
		return now, cutOff("-wal", cut)
	case !bytes.Equal(before, header): // or it has restarted: the next reading tells
		return now, olderCopy
	case walShrank, end.Salts == now.salts && now.frames < end.Frames, !now.follows(f.wal):
		return now, olderCopy
	}
	return now, now.readFrames(wal, f.wal, f.pages.size)
}

// readFrames reads the headers of the frames. The -wal is older if one is not of it, or
// the last one that was known is not as it was.
func (r *walReading) readFrames(wal *os.File, known walState, pageSize int64) finding {
	first := int64(1)
	if known.salts == r.salts && known.frames > 0 {
		first, r.extended = known.frames, true
	}
	if r.frames < first {
		return olderCopy
	}
	r.size, r.pages = known.size, map[uint32]int64{}
	frame := make([]byte, frameHeader)
	for n := first; n <= r.frames; n++ {
		if found := readOrCut(wal, frame, frameOffset(n, pageSize)); found.kind != nothing {
			return found
		}
		if [8]byte(frame[8:]) != r.salts || r.extended && n == first && [24]byte(frame) != known.last {
			return olderCopy
		}
		r.pages[binary.BigEndian.Uint32(frame)] = n
		if size := binary.BigEndian.Uint32(frame[4:]); size > 0 { // a commit
			if size < r.size {
				clear(r.pages)
				r.shrunk = true
			}
			r.size = size
		}
	}
	r.last = [24]byte(frame)
	return finding{}
}

// readOrCut reads a header of the -wal. There is none where the -wal was cut off, and a
// blank one if SQLite has gone on writing where it was.
func readOrCut(wal *os.File, header []byte, offset int64) finding {
	_, err := wal.ReadAt(header, offset)
	switch {
	case errors.Is(err, io.EOF), err == nil && bytes.Equal(header[:4], make([]byte, 4)):
		return cutOff("-wal", cut)
	case err != nil:
		return noResult
	}
	return finding{}
}
