package guard

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
)

// logEnd is the last frame of the -wal at a check. Each frame has a checksum of all frames before it,
// and the salts of the -wal, which change when it restarts. While the salts are the same, the frame
// does not change.
type logEnd struct {
	salts  [8]byte
	frame  int64 // the number of the frame, from 1; 0 if there is none
	header [frameHeader]byte
}

const (
	walHeader   = 32 // SQLite file format, section 4.1
	frameHeader = 24
	attempts    = 4 // the -wal may restart while it is read
)

// compareLog compares the -wal with its last known frame, which is missing after the -wal was
// truncated or overwritten, even if the service has written more frames.
func (f *files) compareLog() (found finding) {
	for range attempts {
		var now logEnd
		if now, found = f.readLog(); found.kind == nothing {
			f.end = now
			return found
		}
	}
	return found
}

func (f *files) readLog() (now logEnd, found finding) {
	wal, err := os.Open(f.db.Path() + "-wal") // closing this file releases no lock of SQLite
	if err != nil {
		return now, noResult
	}
	defer wal.Close()
	frames, _, err := f.db.Frames()
	if err != nil {
		return now, noResult
	}
	if frames == 0 { // the -wal has restarted, or is new
		return logEnd{salts: f.end.salts}, finding{}
	}
	if found = readWAL(wal, now.salts[:], 16); found.kind != nothing {
		return now, found
	}
	if isEarlier(now.salts, f.end.salts) {
		return now, olderCopy
	}
	if now.salts == f.end.salts && f.end.frame > 0 {
		known := f.end
		if found = readWAL(wal, known.header[:], f.offset(known.frame)); found.kind != nothing {
			return now, found
		}
		if known.header != f.end.header || frames < known.frame {
			return now, olderCopy
		}
	}
	now.frame = frames
	if found = readWAL(wal, now.header[:], f.offset(frames)); found.kind != nothing {
		return now, found
	}
	if [8]byte(now.header[8:]) != now.salts {
		return now, olderCopy
	}
	return now, finding{}
}

// isEarlier reports whether salts belong to one of the last restarts before the known salts. At a
// restart, SQLite increments the first salt and chooses the second one at random. A process that
// creates a new -wal chooses both.
func isEarlier(salts, known [8]byte) bool {
	const restarts = 64
	back := binary.BigEndian.Uint32(known[:]) - binary.BigEndian.Uint32(salts[:])
	return known != [8]byte{} && back > 0 && back < restarts
}

// readWAL fills b from the -wal. Missing or blank bytes mean that the -wal was truncated.
func readWAL(wal *os.File, b []byte, offset int64) finding {
	_, err := wal.ReadAt(b, offset)
	switch {
	case errors.Is(err, io.EOF), err == nil && bytes.Count(b, []byte{0}) == len(b):
		return cutOff("-wal")
	case err != nil:
		return noResult
	}
	return finding{}
}

func (f *files) offset(frame int64) int64 { return walHeader + (frame-1)*(frameHeader+f.pageSize) }
