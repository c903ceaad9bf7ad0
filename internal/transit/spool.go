package transit

import (
	"bytes"
	"io"
	"os"

	"github.com/firefighter-records/firefighters/internal/httpapi"
	"github.com/firefighter-records/firefighters/internal/osutil"
)

const (
	inMemory = 1 << 20 // bytes of a spool from which on it is a file
	// onDisk is how many of those files there may be. Clients that take nothing
	// could fill the disk with them.
	onDisk = 16
)

var files = make(chan struct{}, onDisk)

// spool is a file that was written and is yet to be read: in memory while it is
// small, otherwise a temporary one that only its owner can read.
type spool struct {
	memory bytes.Buffer
	file   *os.File // nil: all is in memory
	size   int64
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
	select {
	case files <- struct{}{}:
	default:
		return errBusy
	}
	if s.file, err = os.CreateTemp("", "firefighters-file-"); err != nil {
		<-files
		return failure(err)
	}
	os.Remove(s.file.Name())
	_, err = s.memory.WriteTo(s.file)
	s.memory = bytes.Buffer{}
	return failure(err)
}

// failure says what went wrong with a temporary file.
func failure(err error) error {
	switch {
	case err == nil:
		return nil
	case osutil.Full(err):
		return &httpapi.Problem{Kind: httpapi.Full, Cause: err,
			Detail: "The disk for temporary files is full: nothing was changed."}
	}
	return &diskError{err}
}

// diskError is a fault of a temporary file.
type diskError struct{ error }

func (e *diskError) Unwrap() error { return e.error }

// reader returns a reader of the whole spool. Nothing may be written after it.
func (s *spool) reader() (io.Reader, error) {
	if s.file == nil {
		return bytes.NewReader(s.memory.Bytes()), nil
	}
	_, err := s.file.Seek(0, io.SeekStart)
	return s.file, failure(err)
}

// Close erases the spool.
func (s *spool) Close() error {
	if s.file == nil {
		return nil
	}
	defer func() { <-files }()
	err := s.file.Close()
	os.Remove(s.file.Name()) // for Windows, where it must be closed first
	s.file = nil
	return err
}
