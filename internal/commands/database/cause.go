package database

import (
	"errors"
	"io/fs"
	"os"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// Cause returns an error about a file without the path, for a text that names the file.
func Cause(err error) error {
	if e, ok := errors.AsType[*sqlite.FileError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}
