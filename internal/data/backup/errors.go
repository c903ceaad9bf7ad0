package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// What can be wrong, for errors.Is. No text names a file, so that each may
// stand in a log and in an answer.
var (
	ErrNoFolder   = errors.New("the folder for backups does not exist")
	ErrNotFolder  = errors.New("the folder for backups is a file")
	ErrUnwritable = errors.New("the folder for backups may not be written")
	ErrExists     = errors.New("a backup of this name is there already")
	ErrIsDatabase = errors.New("it is the database itself")
	ErrSidecar    = errors.New("its name is that of a database in use")
	ErrRunning    = errors.New("another backup is being made")
	ErrEmpty      = errors.New("the backup holds nothing")
	ErrRestoring  = errors.New("the database is being restored")
	ErrOpen       = errors.New("another program has the database open")
	ErrNone       = errors.New("there is no backup")
	ErrOthers     = errors.New("there are only backups of another database")
	ErrUnsound    = errors.New("it does not pass the check")

	ErrEncrypted    = errors.New("the backup is encrypted")
	ErrNotEncrypted = errors.New("the backup is not encrypted")
	ErrNotRecipient = errors.New("not an age recipient (age1 and 58 more characters)")
	ErrSecret       = errors.New("it is the secret key of a recipient, which must not be on this computer")
	ErrNotKey       = errors.New("it is not an identity file of age: no line with AGE-SECRET-KEY-1 can be read")

	// ErrRefused is for backups that can be made, but that a restore would refuse.
	ErrRefused = errors.New("restore refuses the newest backup, because the database is not as this program makes it: see firefighters check")
)

// The operations on a backup or its folder.
const (
	OpMake   = "making the folder"
	OpWrite  = "writing the backup"
	OpRead   = "reading the backup"
	OpDelete = "deleting the backup"
)

// Error says which operation failed on which backup or folder of backups. What
// is wrong with the database is a sqlite.FileError instead. An Error may have one
// inside, about the same file.
type Error struct {
	Op   string // one of the above
	Path string
	Err  error
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s %s: %v", e.Op, osutil.InQuotes(e.Path), osutil.Cause(e.Err))
}

func (e *Error) Unwrap() error { return e.Err }

// WrongKeyError says that a key does not open an encrypted backup, and to which public
// keys that says to be encrypted; to none if it does not say.
type WrongKeyError struct{ To []string }

func (e *WrongKeyError) Error() string {
	if len(e.To) == 0 {
		return "this key does not open it"
	}
	return "this key does not open it; it needs that of " + strings.Join(e.To, " or ")
}

// RoomError says that the disk of a folder has too little room for a backup.
// Free and Need are bytes.
type RoomError struct {
	Folder     string
	Free, Need int64
}

func (e *RoomError) Error() string {
	return "too little room in " + osutil.InQuotes(e.Folder) + ": " + e.numbers()
}

func (e *RoomError) numbers() string {
	return fmt.Sprintf("%.1f MB are free, and %.1f MB must be", float64(e.Free)/1e6, float64(e.Need)/1e6)
}

// reason returns why err happened without the name of a file, for State.Detail, which /readyz
// shows to everyone, and for the log.
func reason(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		what := map[string]string{OpMake: "the folder for backups cannot be used: ", OpDelete: "an old backup cannot be deleted: "}
		return what[e.Op] + reason(e.Err)
	}
	if e, ok := errors.AsType[*RoomError](err); ok {
		return "too little room for backups: " + e.numbers()
	}
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return number.Error()
	}
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	if text := err.Error(); !strings.ContainsAny(text, `/\`) {
		return text
	}
	return "an unforeseen error: to see it, make a backup by hand"
}

// databaseError returns err as a sqlite.FileError, nil if err is nil, and err
// itself if it has one inside.
func databaseError(op, path string, err error) error {
	if err == nil || errors.As(err, new(*sqlite.FileError)) {
		return err
	}
	return &sqlite.FileError{Op: op, Path: path, Err: err}
}

// writeError returns err as an Error about writing the backup at path, nil if
// err is nil.
func writeError(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, osutil.ErrRedirect):
		err = osutil.ErrRedirect
	case osutil.DiskFull(err):
		err = sqlite.ErrFull
	case osutil.NotPermitted(err):
		err = ErrUnwritable
	case errors.Is(err, fs.ErrNotExist) && !osutil.Exists(filepath.Dir(path)):
		err = ErrNoFolder
	}
	return &Error{OpWrite, path, err}
}
