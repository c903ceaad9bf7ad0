package sqlite_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// largeToy opens a database of about 1,500 pages, more than CopyTo copies in one step.
func largeToy(t *testing.T) *sqlite.DB {
	t.Helper()
	db := openToy(t)
	for range 15 {
		must(t, bigNote(db))
	}
	return db
}

// copyOf copies a database within a transaction.
func copyOf(ctx context.Context, path, to string, progress func(done, total int)) error {
	c, err := sqlite.Peek(path)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Transaction(func() error { return c.CopyTo(ctx, to, progress) })
}

// target creates an empty file in a new folder.
func target(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "50% of #1?.db")
	must(t, osutil.CreatePrivate(path))
	return path
}

// TestCopy checks that a copy is one file with the state at its beginning, even if the source is
// written during the copy.
func TestCopy(t *testing.T) {
	t.Parallel()
	db, to := largeToy(t), target(t)
	var steps []int
	must(t, copyOf(t.Context(), db.Path(), to, func(done, total int) {
		must(t, note(db, "meanwhile"))
		if len(steps) > 10 {
			t.Fatal("the copy restarts again and again")
		}
		if total < 1500 || done > total || len(steps) > 0 && done <= steps[len(steps)-1] {
			t.Errorf("%d of %d pages after %d", done, total, steps)
		}
		steps = append(steps, done)
	}))
	if len(steps) < 2 {
		t.Errorf("copied in steps of %d pages", steps)
	}
	must(t, sqlite.FinishCopy(to, nil))
	size := isCopy(t, to, 15)
	if size != int64(steps[len(steps)-1])*4096 {
		t.Errorf("%d bytes after %d pages", size, steps)
	}
	if n := noteCount(t, db); n != int64(15+len(steps)) {
		t.Errorf("the source has %d rows", n)
	}
}

// isCopy checks that a file is a complete database that needs no other files. It returns its size.
func isCopy(t *testing.T, path string, rows int64) (size int64) {
	t.Helper()
	alone := func() {
		t.Helper()
		if files := contents(t, filepath.Dir(path)); len(files) != 1 {
			t.Errorf("%d files", len(files))
		}
	}
	alone()
	must(t, toy.Inspect(path))
	if header := readFile(t, path); header[18:20] != "\x01\x01" || sqlite.WasInUse(path) {
		t.Errorf("the file format versions are %q", header[18:20])
	}
	c, err := sqlite.OpenImmutable(path)
	must(t, err)
	defer c.Close()
	must(t, c.CheckStructure(t.Context()))
	if n, err := c.QueryInt(`SELECT count(*) FROM notes`); n != rows || err != nil {
		t.Errorf("%d rows, %v", n, err)
	}
	size, err = c.Size()
	if must(t, err); size != int64(len(readFile(t, path))) {
		t.Errorf("a size of %d bytes, not %d", size, len(readFile(t, path)))
	}
	alone()
	return size
}

// TestFinishCopy checks that the copy contains the change, that foreign keys are enforced, and that
// an error of the change is returned.
func TestFinishCopy(t *testing.T) {
	t.Parallel()
	db := openToy(t)
	for _, source := range []string{"in use", "closed", "not in WAL mode"} {
		switch source {
		case "in use":
			must(t, note(db, "x"))
		case "closed":
			must(t, db.Close())
		default:
			must(t, sqlite.MergeWAL(db.Path()))
		}
		to := target(t)
		must(t, copyOf(t.Context(), db.Path(), to, nil))
		wants(t, sqlite.FinishCopy(to, func(c *sqlite.Conn) error {
			if on, err := c.QueryInt(`PRAGMA foreign_keys`); on != 1 || err != nil {
				t.Errorf("foreign keys: %d, %v", on, err)
			}
			return c.Transaction(func() error {
				if _, err := c.Exec(`DELETE FROM notes`); err != nil {
					return err
				}
				return errToy
			})
		}), errToy)
		isCopy(t, to, 1)
		must(t, sqlite.FinishCopy(to, func(c *sqlite.Conn) error {
			return c.Transaction(func() error {
				_, err := c.Exec(insertNote, int64(1), strings.Repeat("x", 100_000))
				return err
			})
		}))
		isCopy(t, to, 2)
		must(t, note(openAt(t, to, sqlite.Options{}), "x")) // a DB can open it
	}
}

// TestCopyStopped checks that a copy stops when its context ends, and that the source remains
// usable.
func TestCopyStopped(t *testing.T) {
	t.Parallel()
	db := largeToy(t)
	c, err := sqlite.Peek(db.Path())
	must(t, err)
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	steps := 0
	err = c.CopyTo(ctx, target(t), func(int, int) { steps++; cancel() })
	if wants(t, err, context.Canceled); steps != 1 {
		t.Errorf("stopped after %d steps", steps)
	}
	wants(t, c.CheckStructure(ctx), context.Canceled)
	to := target(t)
	must(t, c.CopyTo(t.Context(), to, nil))
	must(t, sqlite.FinishCopy(to, nil))
	isCopy(t, to, 15)
}

func TestCopyFails(t *testing.T) {
	t.Parallel()
	db := openToy(t)
	missing := filepath.Join(t.TempDir(), "missing", "x.db")
	isFileError(t, copyOf(t.Context(), db.Path(), missing, nil), "writing", missing, sqlite.ErrPermission)
	wants(t, sqlite.FinishCopy(missing, nil), sqlite.ErrPermission)
}

// TestPeek checks that Peek reads a database in use and writes to none.
func TestPeek(t *testing.T) {
	t.Parallel()
	db := openToy(t)
	must(t, note(db, "x"))
	for range 2 {
		c, err := sqlite.Peek(db.Path())
		must(t, err)
		if n, err := c.QueryInt(`SELECT count(*) FROM notes`); n != 1 || err != nil {
			t.Errorf("%d rows, %v", n, err)
		}
		_, err = c.Exec(`DELETE FROM notes`)
		wants(t, err, sqlite.ErrPermission)
		must(t, c.Close())
		db.Close() // the first time
	}
}

// TestOpenUnnamed checks that the file has no name while it has content, that databases in WAL mode
// can be read, and the errors for other content.
func TestOpenUnnamed(t *testing.T) {
	t.Parallel()
	source := openToy(t)
	must(t, note(source, "x"))
	must(t, source.Close())
	content, err := os.ReadFile(source.Path())
	must(t, err)
	path := filepath.Join(t.TempDir(), "unnamed.db")
	opened := func(content []byte) (*sqlite.DB, error) {
		return toy.OpenUnnamed(path, func(w io.Writer) error {
			if _, err := os.Stat(path); err == nil && runtime.GOOS != "windows" {
				t.Error("the file has a name")
			}
			_, err := w.Write(content)
			return err
		})
	}
	db, err := opened(content)
	must(t, err)
	if n := noteCount(t, db); n != 1 {
		t.Errorf("%d rows", n)
	}
	must(t, db.Close())
	os.Remove(path) // on Windows
	_, err = opened([]byte(strings.Repeat("text ", 1000)))
	isFileError(t, err, "reading", path, sqlite.ErrForeign)
	os.Remove(path)
	_, err = opened(content[:len(content)-1])
	isFileError(t, err, "reading", path, sqlite.ErrCorrupt)
	os.Remove(path)
	_, err = toy.OpenUnnamed(path, func(io.Writer) error { return io.ErrNoProgress })
	wants(t, err, io.ErrNoProgress)
}
