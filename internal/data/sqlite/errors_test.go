package sqlite_test

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// sentinels are errors that a ResultError may match.
var sentinels = []error{sqlite.ErrNoRows, sqlite.ErrClosed, sqlite.ErrBusy, sqlite.ErrInUse, sqlite.ErrFull, sqlite.ErrIO,
	sqlite.ErrCorrupt, sqlite.ErrPermission, sqlite.ErrReadOnly, sqlite.ErrNotExist, sqlite.ErrForeign}

func TestResultError(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]error{
		sqlite3.SQLITE_BUSY:              sqlite.ErrBusy,
		sqlite3.SQLITE_BUSY_SNAPSHOT:     sqlite.ErrBusy,
		sqlite3.SQLITE_LOCKED:            sqlite.ErrBusy,
		sqlite3.SQLITE_FULL:              sqlite.ErrFull,
		sqlite3.SQLITE_IOERR_SHMSIZE:     sqlite.ErrFull,
		sqlite3.SQLITE_IOERR:             sqlite.ErrIO,
		sqlite3.SQLITE_IOERR_SHORT_READ:  sqlite.ErrCorrupt,
		sqlite3.SQLITE_IOERR_FSYNC:       sqlite.ErrIO,
		sqlite3.SQLITE_NOTADB:            sqlite.ErrCorrupt,
		sqlite3.SQLITE_CORRUPT:           sqlite.ErrCorrupt,
		sqlite3.SQLITE_CORRUPT_INDEX:     sqlite.ErrCorrupt,
		sqlite3.SQLITE_READONLY:          sqlite.ErrPermission,
		sqlite3.SQLITE_READONLY_CANTINIT: sqlite.ErrPermission,
		sqlite3.SQLITE_CANTOPEN:          sqlite.ErrPermission,
		sqlite3.SQLITE_CANTOPEN_ISDIR:    sqlite.ErrPermission,
		sqlite3.SQLITE_ERROR:             nil,
		sqlite3.SQLITE_CONSTRAINT_UNIQUE: nil,
	} {
		for _, target := range sentinels {
			bare := sqlite.ResultError(code)
			wrapped := &sqlite.FileError{Op: "reading", Path: filepath.Join(t.TempDir(), "x.db"), Err: fmt.Errorf("for the test: %w", bare)}
			if is := target == want; errors.Is(bare, target) != is || errors.Is(wrapped, target) != is {
				t.Errorf("code %d and %v: %v, as a FileError %v", code, target, errors.Is(bare, target), errors.Is(wrapped, target))
			}
		}
		if text := sqlite.ResultError(code).Error(); !strings.HasSuffix(text, fmt.Sprintf(" (SQLite result %d)", code)) || len(strings.Fields(text)) < 6 {
			t.Errorf("the text is %q", text)
		}
	}
}

// TestErrorsAreDiscreet checks that no error text contains a statement, a table or a value.
func TestErrorsAreDiscreet(t *testing.T) {
	t.Parallel()
	db := openToy(t)
	for _, text := range []string{`SELECT canary`, `INSERT INTO canary VALUES (1)`, `SELECT json('canary')`,
		`INSERT INTO notes (id, at, body) VALUES ('canary', 0, '')`, `canary`} {
		err := db.Write(func(tx *sqlite.Tx) error { _, err := tx.Exec(text); return err })
		if err == nil || strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), "notes") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestFileError(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "x y.db")
	err := toy.Inspect(missing)
	if want := fmt.Sprintf(`reading database %q: there is no database`, missing); err.Error() != want {
		t.Errorf("%s, not %s", err, want)
	}
	forbidden := &sqlite.FileError{Op: "reading", Path: missing, Err: &fs.PathError{Op: "open", Path: missing, Err: fs.ErrPermission}}
	if !errors.Is(forbidden, sqlite.ErrPermission) || errors.Is(forbidden, sqlite.ErrReadOnly) || !errors.Is(forbidden, fs.ErrPermission) {
		t.Errorf("%v does not match as expected", forbidden)
	}
}
