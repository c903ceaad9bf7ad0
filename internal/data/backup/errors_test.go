package backup_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// TestReason checks that no reason contains a file name.
func TestReason(t *testing.T) {
	t.Parallel()
	const path = "/secret/x.db"
	noSpace := &fs.PathError{Op: "write", Path: path, Err: errors.New("no space left")}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&backup.Error{Op: backup.OpMake, Path: path, Err: noSpace}, "the folder for backups cannot be used: no space left"},
		{&backup.Error{Op: backup.OpDelete, Path: path, Err: noSpace}, "an old backup cannot be deleted: no space left"},
		{&backup.Error{Op: backup.OpWrite, Path: path, Err: noSpace}, "no space left"},
		{&backup.Error{Op: backup.OpWrite, Path: path, Err: backup.ErrExists}, "a backup with this name already exists"},
		{&backup.Error{Op: backup.OpWrite, Path: path, Err: backup.ErrUnwritable}, "no permission to write to the folder for backups"},
		{&backup.Error{Op: backup.OpWrite, Path: path, Err: backup.ErrNoFolder}, "the folder for backups does not exist"},
		{&backup.Error{Op: backup.OpWrite, Path: path, Err: backup.ErrSidecar}, "its name belongs to a database in use"},
		{&os.LinkError{Op: "rename", Old: path, New: path, Err: errors.New("no")}, "no"},
		{&sqlite.FileError{Op: "locking", Path: path, Err: backup.ErrRunning}, "another backup is running"},
		{&sqlite.FileError{Op: "reading", Path: path, Err: sqlite.ResultError(11)}, "the database is damaged (SQLite result 11)"},
		{&sqlite.FileError{Op: "copying", Path: path, Err: sqlite.ResultError(13)}, "the disk is full (SQLite result 13)"},
		{&sqlite.FileError{Op: "copying", Path: path, Err: sqlite.ResultError(10)}, sqlite.ResultError(10).Error()},
		{fmt.Errorf("wrapped: %w", &backup.RoomError{Folder: path, Free: 1e6, Need: 2_500_000}),
			"not enough space for backups: 1.0 MB free, 2.5 MB required"},
		{errors.New(path), "unexpected error: run firefighters backup to see the cause"},
		{errors.Join(&fs.PathError{Op: "remove", Path: path, Err: syscall.ENOTDIR}), syscall.ENOTDIR.Error()},
		{fmt.Errorf("reading %s: %w", path, errors.New("it broke")), "it broke"},
	} {
		if got := backup.Reason(tt.err); got != tt.want || strings.Contains(got, "secret") {
			t.Errorf("%v: %q", tt.err, got)
		}
	}
}
