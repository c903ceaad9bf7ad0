package upload

import (
	"bytes"
	"io"
	"os"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

const (
	maxInMemory = 32 << 10 // bytes; a larger spool is a file
	// maxOnDisk and maxOnDiskEach limit these files, in total and for each owner.
	maxOnDisk     = 32
	maxOnDiskEach = 8
)

// onDisk counts these files.
var onDisk = httpapi.NewBound(maxOnDisk, maxOnDiskEach)

// spool is a buffer. A small one is in memory; a larger one is a temporary file with mode 0600.
type spool struct {
	owner   int64
	memory  bytes.Buffer
	file    *os.File // nil while everything is in memory
	size    int64
	counted bool // in onDisk
}

// Write appends to the spool. The error is a *httpapi.Problem.
func (s *spool) Write(p []byte) (n int, err error) {
	if s.file == nil && s.memory.Len()+len(p) > maxInMemory {
		if err := s.toDisk(); err != nil {
			return 0, err
		}
	}
	if s.file == nil {
		n, _ = s.memory.Write(p) // a bytes.Buffer returns no errors
	} else {
		n, err = s.file.Write(p)
	}
	s.size += int64(n)
	return n, failure(err)
}

// toDisk moves the content to a temporary file. It removes the file's name where the system allows
// that, so that nothing remains even if the program is killed.
func (s *spool) toDisk() (err error) {
	if s.counted = onDisk.Add(s.owner); !s.counted {
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

// leave removes the spool from the limit on files.
func (s *spool) leave() {
	if s.counted {
		s.counted = false
		onDisk.Remove(s.owner)
	}
}

// failure returns the error to report for a failed operation on a temporary file.
func failure(err error) error {
	switch {
	case err == nil:
		return nil
	case osutil.DiskFull(err):
		return &httpapi.Problem{Kind: httpapi.Full, Cause: err, Detail: "The disk for temporary files is full."}
	case osutil.TooManyFiles(err):
		return errBusy
	}
	return &httpapi.Problem{Kind: httpapi.TempFiles, Cause: err, Detail: "The folder for temporary files is missing, or cannot be written."}
}

// reader returns a reader of the whole spool. Nothing may be written afterwards.
func (s *spool) reader() io.Reader {
	if s.file == nil {
		return bytes.NewReader(s.memory.Bytes())
	}
	return io.NewSectionReader(s.file, 0, s.size)
}

// Close deletes the spool. It is safe during reads, which may then return os.ErrClosed.
func (s *spool) Close() error {
	if s.file == nil {
		return nil
	}
	defer s.leave()
	err := s.file.Close()
	os.Remove(s.file.Name()) // Windows cannot remove an open file
	return err
}
