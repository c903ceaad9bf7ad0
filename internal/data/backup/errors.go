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

// Problems of backups, for use with errors.Is. No text names a file, so each can be logged and shown.
var (
	ErrNoFolder   = errors.New("the folder for backups does not exist")
	ErrNotFolder  = errors.New("the folder for backups is a file")
	ErrUnwritable = errors.New("no permission to write to the folder for backups")
	ErrExists     = errors.New("a backup with this name already exists")
	ErrIsDatabase = errors.New("it is the database itself")
	ErrSidecar    = errors.New("its name belongs to a database in use")
	ErrRunning    = errors.New("another backup is running")
	ErrEmpty      = errors.New("the backup is empty")
	ErrRestoring  = errors.New("the database is being restored")
	ErrOpen       = errors.New("another program has the database open")
	ErrNone       = errors.New("there is no backup")
	ErrOthers     = errors.New("there are only backups of another database")
	ErrUnsound    = errors.New("it does not pass the check")
	ErrMissing    = errors.New("there are backups of a database with this name")

	ErrNoneEncrypted = errors.New("there is no encrypted backup")
	ErrEncrypted     = errors.New("the backup is encrypted")
	ErrNotEncrypted  = errors.New("the backup is not encrypted")
	ErrNotRecipient  = errors.New("not an age recipient (age1 and 58 more characters)")
	ErrSecret        = errors.New("it is the secret key of a recipient, which must not be on this computer")
	ErrNotKey        = errors.New("not an age identity file: no valid line begins with AGE-SECRET-KEY-1")

	// ErrNoDepartments means that a database cannot be told from others with its name.
	ErrNoDepartments = errors.New("it has no departments, so its backups cannot be told from others")

	// ErrRefused means that backups succeed, but Restore would reject them.
	ErrRefused = errors.New("restore would reject the newest backup, because another program changed the schema: see firefighters check")
)

// Operations on a backup or its folder.
const (
	OpMake   = "making the folder"
	OpWrite  = "writing the backup"
	OpRead   = "reading the backup"
	OpDelete = "deleting the backup"
)

// Error names the operation that failed on a backup or a backup folder. A problem of the database is
// a sqlite.FileError instead. An Error may contain a FileError about the same file.
type Error struct {
	Op   string // OpMake, OpWrite, OpRead or OpDelete
	Path string
	Err  error
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s %s: %v", e.Op, osutil.InQuotes(e.Path), osutil.Cause(e.Err))
}

func (e *Error) Unwrap() error { return e.Err }

// WrongKeyError means that a key does not decrypt an encrypted backup. To lists the recipients of the
// backup, if known.
type WrongKeyError struct{ To []string }

func (e *WrongKeyError) Error() string {
	if len(e.To) == 0 {
		return "the key does not match"
	}
	return "the key does not match; the backup is encrypted to " + strings.Join(e.To, " or ")
}

// RoomError means that there is not enough space for a backup in a folder. Free and Need are bytes.
type RoomError struct {
	Folder     string
	Free, Need int64
}

func (e *RoomError) Error() string {
	return "not enough space in " + osutil.InQuotes(e.Folder) + ": " + e.numbers()
}

func (e *RoomError) numbers() string {
	return fmt.Sprintf("%.1f MB free, %.1f MB required", float64(e.Free)/1e6, float64(e.Need)/1e6)
}

// reason returns the cause of err without file names, for the log and for State.Detail, which
// /readyz shows to everyone.
func reason(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		action := map[string]string{OpMake: "the folder for backups cannot be used: ", OpDelete: "an old backup cannot be deleted: "}
		return action[e.Op] + reason(e.Err)
	}
	if e, ok := errors.AsType[*RoomError](err); ok {
		return "not enough space for backups: " + e.numbers()
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
	return "unexpected error: run firefighters backup to see the cause"
}

// writeError returns err as an Error about writing the backup at path, or nil if err is nil.
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
