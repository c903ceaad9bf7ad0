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

// TestReason: no reason names a file.
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
		{&backup.Error{Op: backup.OpWrite, Path: path, Err: backup.ErrExists}, "a backup of this name is there already"},
		{&backup.Error{Op: backup.OpWrite, Path: path, Err: backup.ErrUnwritable}, "the folder for backups may not be written"},
		{&backup.Error{Op: backup.OpWrite, Path: path, Err: backup.ErrNoFolder}, "the folder for backups does not exist"},
		{&backup.Error{Op: backup.OpWrite, Path: path, Err: backup.ErrSidecar}, "its name is that of a database in use"},
		{&os.LinkError{Op: "rename", Old: path, New: path, Err: errors.New("no")}, "no"},
		{&sqlite.FileError{Op: "locking", Path: path, Err: backup.ErrRunning}, "another backup is being made"},
		{&sqlite.FileError{Op: "reading", Path: path, Err: sqlite.ResultError(11)}, "the database is damaged (SQLite result 11)"},
		{&sqlite.FileError{Op: "copying", Path: path, Err: sqlite.ResultError(13)}, "the disk is full (SQLite result 13)"},
		{&sqlite.FileError{Op: "copying", Path: path, Err: sqlite.ResultError(10)}, sqlite.ResultError(10).Error()},
		{fmt.Errorf("wrapped: %w", &backup.RoomError{Folder: path, Free: 1e6, Need: 2_500_000}),
			"too little room for backups: 1.0 MB are free, and 2.5 MB must be"},
		{errors.New(path), "an unforeseen error: to see it, make a backup by hand"},
		{errors.Join(&fs.PathError{Op: "remove", Path: path, Err: syscall.ENOTDIR}), syscall.ENOTDIR.Error()},
		{fmt.Errorf("reading %s: %w", path, errors.New("it broke")), "it broke"},
	} {
		if got := backup.Reason(tt.err); got != tt.want || strings.Contains(got, "secret") {
			t.Errorf("%v: %q", tt.err, got)
		}
	}
}
