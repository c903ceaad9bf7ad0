package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Problems of a database, for use with errors.Is.
var (
	ErrNoRows     = errors.New("no such row")
	ErrClosed     = errors.New("the database is closed")
	ErrBusy       = errors.New("the database is locked by another program")
	ErrInUse      = errors.New("the database is in use by another process")
	ErrFull       = errors.New("the disk is full")
	ErrIO         = errors.New("the disk could not be read or written")
	ErrCorrupt    = errors.New("the database is damaged")
	ErrPermission = errors.New("no permission to read and write the file or its folder")
	ErrReadOnly   = errors.New("it is on a read-only disk")
	ErrTooLong    = fmt.Errorf("its path is too long: more than %d bytes", maxPath)

	// Reading and writing return ErrLost after an open database was lost. ErrNotBack means that the
	// database was lost earlier and has not been restored since.
	ErrLost    = errors.New("another program changed, moved or deleted its files while it was served")
	ErrNotBack = errors.New("it was lost while it was served, and has not been restored")

	ErrNotExist   = errors.New("there is no database")
	ErrNoFolder   = errors.New("the folder does not exist")
	ErrNotRegular = errors.New("it is not a file")
	ErrForeign    = errors.New("it is not a database of this program")
	ErrUnreleased = errors.New("it was created by an unreleased version of this program")
	ErrLinked     = errors.New("the file also has another name")
	ErrMounted    = errors.New("the file is itself a mount point")
	ErrLockFile   = errors.New("its lock file has unexpected content")
)

// FileError names the operation that failed and its database file. If the cause is known, Err
// matches one of the errors above.
type FileError struct {
	Op   string // such as "reading"
	Path string
	Err  error
}

func (e *FileError) Error() string {
	return fmt.Sprintf("%s database %s: %v", e.Op, osutil.InQuotes(e.Path), osutil.Cause(e.Err))
}

func (e *FileError) Unwrap() error { return e.Err }

// Is recognizes ErrPermission and ErrReadOnly, for which the operating system and SQLite have
// many different errors.
func (e *FileError) Is(target error) bool {
	switch target {
	case ErrPermission:
		return osutil.NotPermitted(e.Err)
	case ErrReadOnly:
		return (osutil.NotPermitted(e.Err) || errors.Is(e.Err, ErrPermission)) && osutil.ReadOnly(filepath.Dir(e.Path))
	}
	return false
}

// Wrap returns err as a FileError. It returns nil if err is nil, and err if it already is one.
func Wrap(op, path string, err error) error {
	if err == nil || errors.As(err, new(*FileError)) {
		return err
	}
	return &FileError{op, path, err}
}

// NewerError means that a newer version of the program created the database.
type NewerError struct{ Version, Known int }

func (e *NewerError) Error() string {
	return fmt.Sprintf("it was created by a newer version of this program (schema version %d, supported up to %d)", e.Version, e.Known)
}

// ResultError is a failure of SQLite: its extended result code. Its text names no table,
// statement or file, so that it can be logged.
type ResultError int

func (e ResultError) Error() string {
	text, _, _ := strings.Cut("SQLite failed: "+sqlite.ErrorCodeString[int(e)&0xff], " (SQLITE")
	switch {
	case e == sqlite3.SQLITE_IOERR_SHORT_READ:
		text = "the file is shorter than it should be"
	case e&0xff == sqlite3.SQLITE_CANTOPEN:
		text = "the file cannot be opened"
	case e.kind() != nil:
		text = e.kind().Error()
	}
	return fmt.Sprintf("%s (SQLite result %d)", text, int(e))
}

// IsSQL reports whether SQLite rejected the statement itself, for example because a table or
// column does not exist.
func (e ResultError) IsSQL() bool { return e == sqlite3.SQLITE_ERROR }

// Is reports whether target is the error for this result code.
func (e ResultError) Is(target error) bool { return target != nil && target == e.kind() }

func (e ResultError) kind() error {
	switch e {
	case sqlite3.SQLITE_IOERR_SHMSIZE: // no space for the -shm
		return ErrFull
	case sqlite3.SQLITE_IOERR_SHORT_READ:
		return ErrCorrupt
	}
	switch e & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return ErrBusy
	case sqlite3.SQLITE_FULL:
		return ErrFull
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return ErrCorrupt
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN:
		return ErrPermission
	case sqlite3.SQLITE_IOERR:
		return ErrIO
	}
	return nil
}

// translate returns a driver error as a ResultError, and other errors unchanged.
func translate(err error) error {
	if failure, ok := errors.AsType[*sqlite.Error](err); ok {
		return ResultError(failure.Code())
	}
	return err
}

// explainFull adds ErrFull to err if SQLite could not write the -wal because there is no space.
// SQLite recognizes a full disk, but not a quota or a file size limit.
func (db *DB) explainFull(err error) error {
	if code, ok := errors.AsType[ResultError](err); ok && code == sqlite3.SQLITE_IOERR_WRITE &&
		osutil.NoRoom(osutil.Resolve(db.path)+"-wal") {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return err
}
