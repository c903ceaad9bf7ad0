package upload

import (
	"bytes"
	"io"
	"os"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

const (
	inMemory = 32 << 10 // bytes of a spool from which on it is a file
	// onDisk is how many of those files there may be, and onDiskEach how many of one
	// owner. Clients that take nothing, or do not end, could fill the disk.
	onDisk     = 32
	onDiskEach = 8
)

// onTheWay counts those files.
var onTheWay = httpapi.NewBound(onDisk, onDiskEach)

// spool is a file that was written and is yet to be read: in memory while it is
// small, otherwise a temporary one that only its owner can read.
type spool struct {
	owner   int64
	memory  bytes.Buffer
	file    *os.File // nil: all is in memory
	size    int64
	counted bool // in onTheWay
}

// Write appends to the spool. The error is a *httpapi.Problem.
func (s *spool) Write(p []byte) (n int, err error) {
	if s.file == nil && s.memory.Len()+len(p) > inMemory {
		if err := s.toDisk(); err != nil {
			return 0, err
		}
	}
	if s.file == nil {
		n, _ = s.memory.Write(p) // cannot fail
	} else {
		n, err = s.file.Write(p)
	}
	s.size += int64(n)
	return n, failure(err)
}

// toDisk goes on in a temporary file. Where the system allows it, that has no
// name: then nothing stays, even if the program is killed.
func (s *spool) toDisk() (err error) {
	if s.counted = onTheWay.Add(s.owner); !s.counted {
		return errBusy
	}
	if s.file, err = os.CreateTemp("", "firefighters-file-"); err != nil {
		s.leave()
		return failure(err)
	}
	os.Remove(s.file.Name())
	_, err = s.memory.WriteTo(s.file)
	s.memory = bytes.Buffer{}
	return failure(err)
}

// leave takes the spool out of onTheWay.
func (s *spool) leave() {
	if s.counted {
		s.counted = false
		onTheWay.Remove(s.owner)
	}
}

// failure says what went wrong with a temporary file.
func failure(err error) error {
	switch {
	case err == nil:
		return nil
	case osutil.DiskFull(err):
		return &httpapi.Problem{Kind: httpapi.Full, Cause: err,
			Detail: "The disk for temporary files is full: nothing was changed."}
	case osutil.TooManyFiles(err):
		return errBusy
	}
	return &diskError{err}
}

// diskError is a fault of a temporary file.
type diskError struct{ error }

func (e *diskError) Unwrap() error { return e.error }

// reader returns a reader of the whole spool. Nothing may be written after it.
func (s *spool) reader() io.Reader {
	if s.file == nil {
		return bytes.NewReader(s.memory.Bytes())
	}
	return io.NewSectionReader(s.file, 0, s.size)
}

// Close erases the spool. It is safe while others read: it changes no field that they use,
// and an *os.File returns os.ErrClosed to them.
func (s *spool) Close() error {
	if s.file == nil {
		return nil
	}
	defer s.leave()
	err := s.file.Close()
	os.Remove(s.file.Name()) // for Windows, where it must be closed first
	return err
}
