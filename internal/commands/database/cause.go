package database

import (
	"errors"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Cause is osutil.Cause, and also removes the operation and the path of a sqlite.FileError.
func Cause(err error) error {
	if e, ok := errors.AsType[*sqlite.FileError](err); ok {
		return e.Err
	}
	return osutil.Cause(err)
}
