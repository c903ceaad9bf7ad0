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

// What can be wrong with a database, for errors.Is.
var (
	ErrNoRows     = errors.New("there is no such row")
	ErrClosed     = errors.New("the database is closed")
	ErrBusy       = errors.New("the database is locked by another program")
	ErrInUse      = errors.New("the database is in use by another process")
	ErrFull       = errors.New("the disk is full")
	ErrIO         = errors.New("the disk could not be read or written")
	ErrCorrupt    = errors.New("the database is damaged")
	ErrPermission = errors.New("the file or its folder may not be read and written")
	ErrReadOnly   = errors.New("it is on a disk that is read-only")
	ErrTooLong    = fmt.Errorf("its path is too long: more than %d bytes", maxPath)

	// ErrLost is returned by all reading and writing once an open database is lost. ErrNotBack
	// is returned for a database that was lost and has not been restored since.
	ErrLost    = errors.New("another program changed, moved or deleted its files while it was served")
	ErrNotBack = errors.New("it was lost while it was served, and has not been restored")

	ErrNotExist   = errors.New("there is no database")
	ErrNoFolder   = errors.New("the folder does not exist")
	ErrNotRegular = errors.New("it is not a file")
	ErrForeign    = errors.New("it is not a database of this program")
	ErrUnreleased = errors.New("it was created by an unreleased version of this program")
	ErrLinked     = errors.New("the file has another name as well")
	ErrMounted    = errors.New("the file is itself a mount point")
	ErrLockFile   = errors.New("the lock file beside it is something else")
)

// FileError says which operation failed on which database file. Err matches
// one of the errors above where the cause is known.
type FileError struct {
	Op   string // as in "reading"
	Path string
	Err  error
}

func (e *FileError) Error() string {
	return fmt.Sprintf("%s database %s: %v", e.Op, osutil.InQuotes(e.Path), osutil.Cause(e.Err))
}

func (e *FileError) Unwrap() error { return e.Err }

// Is reports whether the cause is that the file may not be used, which the
// error of the operating system or of SQLite says in many ways.
func (e *FileError) Is(target error) bool {
	switch target {
	case ErrPermission:
		return osutil.NotPermitted(e.Err)
	case ErrReadOnly:
		return (osutil.NotPermitted(e.Err) || errors.Is(e.Err, ErrPermission)) && osutil.ReadOnly(filepath.Dir(e.Path))
	}
	return false
}

// wrap returns a FileError for err, nil if err is nil, and err itself if it is
// one already.
func wrap(op, path string, err error) error {
	if err == nil || errors.As(err, new(*FileError)) {
		return err
	}
	return &FileError{op, path, err}
}

// NewerError says that a newer version of the program made the database.
type NewerError struct{ Version, Known int }

func (e *NewerError) Error() string {
	return fmt.Sprintf("it was made by a newer version of this program (schema %d, this one knows %d)", e.Version, e.Known)
}

// ResultError is a failure of SQLite, by its extended result code. Its text
// names no table, statement or file, so that it may stand in a log.
type ResultError int

func (e ResultError) Error() string { return fmt.Sprintf("%s (SQLite result %d)", e.words(), int(e)) }

func (e ResultError) words() string {
	switch {
	case e == sqlite3.SQLITE_IOERR_SHORT_READ:
		return "the file is shorter than it should be"
	case e&0xff == sqlite3.SQLITE_CANTOPEN:
		return "the file cannot be opened"
	}
	for _, kind := range []error{ErrBusy, ErrFull, ErrCorrupt, ErrPermission, ErrIO} {
		if e.Is(kind) {
			return kind.Error()
		}
	}
	general, _, _ := strings.Cut(sqlite.ErrorCodeString[int(e)&0xff], " (SQLITE")
	return "SQLite failed: " + general
}

// IsSQL reports whether SQLite rejected the statement itself, as for a table or column that
// does not exist.
func (e ResultError) IsSQL() bool { return e == sqlite3.SQLITE_ERROR }

// Is reports whether the code is of the kind that target names.
func (e ResultError) Is(target error) bool {
	switch e & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return target == ErrBusy
	case sqlite3.SQLITE_FULL:
		return target == ErrFull
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return target == ErrCorrupt
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN:
		return target == ErrPermission
	case sqlite3.SQLITE_IOERR:
		return target == e.ioKind()
	}
	return false
}

// ioKind returns what a failure to read or write is.
func (e ResultError) ioKind() error {
	switch e {
	case sqlite3.SQLITE_IOERR_SHMSIZE: // there is no room for the -shm
		return ErrFull
	case sqlite3.SQLITE_IOERR_SHORT_READ:
		return ErrCorrupt
	}
	return ErrIO
}

// translate turns errors of the driver into ResultErrors and returns others
// as they are.
func translate(err error) error {
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return err
	}
	return ResultError(failure.Code())
}

// explainFull returns err, and ErrFull with it, if SQLite could not write to the
// -wal because there is no room. Of the ways in which room can end SQLite knows
// a full disk, but neither a quota nor a limit on the size of files.
func (db *DB) explainFull(err error) error {
	if code, ok := errors.AsType[ResultError](err); ok && code == sqlite3.SQLITE_IOERR_WRITE &&
		osutil.NoRoom(osutil.Resolve(db.path)+"-wal") {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return err
}
