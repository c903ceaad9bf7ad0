package sqlite_test

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// TestTooLong checks that ErrTooLong is returned for a path that SQLite cannot open.
func TestTooLong(t *testing.T) {
	t.Parallel()
	wants(t, toy.Inspect(filepath.Join(t.TempDir(), strings.Repeat("folder/", 80), "x.db")), sqlite.ErrTooLong)
}

// fileCases are files with the errors that Inspect and Verify return.
var fileCases = []struct {
	name    string
	prepare func(t *testing.T, path string)
	inspect error
	verify  error // if Inspect returns nil
	version int   // in the header
}{
	{"ours", func(t *testing.T, path string) { create(t, path) }, nil, nil, 2},
	{"ours in WAL mode", func(t *testing.T, path string) { create(t, path); change(t, path, "") }, nil, nil, 2},
	{"missing", func(*testing.T, string) {}, sqlite.ErrNotExist, nil, 0},
	{"link to a missing file", func(t *testing.T, path string) { link(t, path+"-missing", path) }, sqlite.ErrNotExist, nil, 0},
	{"missing folder", func(t *testing.T, path string) { must(t, os.Remove(filepath.Dir(path))) }, sqlite.ErrNoFolder, nil, 0},
	{"empty", func(t *testing.T, path string) { write(t, path, "") }, sqlite.ErrNotExist, nil, 0},
	{"folder", func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o700)) }, sqlite.ErrNotRegular, nil, 0},
	{"text", func(t *testing.T, path string) { write(t, path, strings.Repeat("no database, this\n", 1000)) }, sqlite.ErrForeign, nil, 0},
	{"short text", func(t *testing.T, path string) { write(t, path, "x") }, sqlite.ErrForeign, nil, 0},
	{"blank", func(t *testing.T, path string) { write(t, path, strings.Repeat("\x00", 4096)) }, sqlite.ErrForeign, nil, 0},
	{"without an application ID", func(t *testing.T, path string) { foreign(t, path, 0) }, sqlite.ErrForeign, nil, 0},
	{"of another program", func(t *testing.T, path string) { foreign(t, path, 7) }, sqlite.ErrForeign, nil, 0},
	{"of another program, in WAL mode", func(t *testing.T, path string) { foreign(t, path, 7); change(t, path, "") }, sqlite.ErrForeign, nil, 0},
	{"of another program, with a journal", func(t *testing.T, path string) {
		foreign(t, path, 7)
		write(t, path+"-journal", strings.Repeat("x", 1024))
	}, sqlite.ErrForeign, nil, 0},
	{"newer", func(t *testing.T, path string) { create(t, path); change(t, path, `PRAGMA user_version = 4`) }, errNewer, nil, 0},
	{"newer in the -wal", func(t *testing.T, path string) {
		crashed(t, path, func(tx *sqlite.Tx) error { _, err := tx.Exec(`PRAGMA user_version = 4`); return err })
	}, nil, errNewer, 2},
	{"without a version", func(t *testing.T, path string) { create(t, path); change(t, path, `PRAGMA user_version = 0`) }, sqlite.ErrCorrupt, nil, 0},
	{"version below zero", func(t *testing.T, path string) { create(t, path); change(t, path, `PRAGMA user_version = -1`) }, sqlite.ErrCorrupt, nil, 0},
	{"cut by a byte", func(t *testing.T, path string) { create(t, path); cut(t, path, 1) }, sqlite.ErrCorrupt, nil, 0},
	{"cut by a page", func(t *testing.T, path string) { create(t, path); cut(t, path, 4096) }, nil, sqlite.ErrCorrupt, 2},
	{"half a page with a -wal", func(t *testing.T, path string) {
		crashed(t, path, func(tx *sqlite.Tx) error { return tx.ExecOne(insertNote, tx.Now, "x") })
		write(t, path, readFile(t, path)+strings.Repeat("x", 100))
	}, nil, nil, 2},
	{"damaged in a page", func(t *testing.T, path string) {
		create(t, path)
		text := []byte(readFile(t, path))
		copy(text[4096:], bytes.Repeat([]byte("damage"), 2000))
		write(t, path, string(text))
	}, nil, sqlite.ErrCorrupt, 2},
	{"damaged in the header", func(t *testing.T, path string) {
		create(t, path)
		write(t, path, "damaged!"+readFile(t, path)[8:])
	}, sqlite.ErrForeign, nil, 0},
	{"blank header with a journal", func(t *testing.T, path string) { halfMade(t, path) }, nil, sqlite.ErrNotExist, 0},
}

// errNewer represents a NewerError for version 4.
var errNewer = errors.New("newer")

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

func link(t *testing.T, to, path string) {
	t.Helper()
	if err := os.Symlink(to, path); err != nil {
		t.Skipf("no links can be made here: %v", err)
	}
}

func cut(t *testing.T, path string, bytes int) {
	t.Helper()
	must(t, os.Truncate(path, int64(len(readFile(t, path))-bytes)))
}

// foreign creates a database with an application ID.
func foreign(t *testing.T, path string, id uint32) {
	t.Helper()
	write(t, path, "")
	must(t, sqlite.Format{ApplicationID: id}.Migrate(path, 0, 1, func(c *sqlite.Conn) error {
		_, err := c.Exec(toySchema)
		return err
	}))
}

// change switches a database to WAL mode and runs a statement unless it is "".
func change(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sqlite.Open(path, sqlite.Options{})
	must(t, err)
	must(t, db.Write(func(tx *sqlite.Tx) error {
		if statement == "" {
			return nil
		}
		_, err := tx.Exec(statement)
		return err
	}))
	must(t, db.Close())
}

// crashed creates a database with a -wal, as after a power failure.
func crashed(t *testing.T, path string, change func(*sqlite.Tx) error) {
	t.Helper()
	db := openToy(t)
	must(t, db.Write(change))
	left := cutOff(t, db.Path())
	for _, suffix := range []string{"", "-wal"} {
		write(t, path+suffix, readFile(t, left+suffix))
	}
}

// halfMade creates the remains of a database whose first transaction was interrupted by a power
// failure.
func halfMade(t *testing.T, path string) {
	t.Helper()
	making := filepath.Join(t.TempDir(), "x.db")
	write(t, making, "")
	left := ""
	wants(t, toy.Migrate(making, 0, 2, func(c *sqlite.Conn) error {
		left = spill(t, c, making)
		return errToy
	}), errToy)
	for _, suffix := range []string{"", "-journal"} {
		write(t, path+suffix, readFile(t, left+suffix))
	}
}

// spill creates a table with so many rows that SQLite writes some to disk before the commit. It
// returns a copy of the files.
func spill(t *testing.T, c *sqlite.Conn, path string) (left string) {
	t.Helper()
	for _, text := range []string{`PRAGMA cache_size = 1`, `CREATE TABLE large (id INTEGER PRIMARY KEY, body BLOB)`,
		`INSERT INTO large (body) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT randomblob(500) FROM n`} {
		_, err := c.Exec(text)
		must(t, err)
	}
	left = cutOff(t, path)
	size := 0
	for _, text := range contents(t, filepath.Dir(left)) {
		size += len(text)
	}
	if size < 200_000 {
		t.Fatal("nothing was written before the commit")
	}
	return left
}

// TestInspect checks the errors of Inspect and Verify, and that they do not change the file.
func TestInspect(t *testing.T) {
	t.Parallel()
	for _, tt := range fileCases {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(t.TempDir(), "folder")
			must(t, os.Mkdir(folder, 0o700))
			path := filepath.Join(folder, "x.db")
			tt.prepare(t, path)
			if version := toy.HeaderVersion(path); version != tt.version {
				t.Errorf("version in the header: %d", version)
			}
			isFileError(t, toy.Inspect(path), "reading", path, tt.inspect)
			if tt.inspect != nil {
				return
			}
			before := contents(t, folder)
			version, err := toy.Verify(path)
			isFileError(t, err, "reading", path, tt.verify)
			if tt.verify == nil && version != 2 {
				t.Errorf("version %d", version)
			}
			after := contents(t, folder)
			for _, shared := range []map[string]string{before, after} {
				delete(shared, "x.db-shm")
			}
			if rolledBack := errors.Is(tt.verify, sqlite.ErrNotExist); !rolledBack && !maps.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
}

func isFileError(t *testing.T, err error, op, path string, want error) {
	t.Helper()
	if want == errNewer {
		var newer *sqlite.NewerError
		if !errors.As(err, &newer) || newer.Version != 4 || newer.Known != 3 || !strings.Contains(err.Error(), "(schema version 4, supported up to 3)") {
			t.Errorf("error %v", err)
		}
	} else if !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
	var failure *sqlite.FileError
	if want != nil && (!errors.As(err, &failure) || failure.Op != op || failure.Path != path) {
		t.Errorf("error %#v", err)
	}
}

// TestHalfMade checks that an interrupted creation counts as a missing database, which can be
// created again.
func TestHalfMade(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	halfMade(t, path)
	_, err := toy.Verify(path)
	wants(t, err, sqlite.ErrNotExist)
	wants(t, toy.Inspect(path), sqlite.ErrNotExist)
	must(t, toy.Migrate(path, 0, 2, func(c *sqlite.Conn) error { _, err := c.Exec(toySchema); return err }))
	must(t, note(openAt(t, path, sqlite.Options{}), "x"))
}

// TestLargeFile checks that Verify does not check the structure of a large file, which takes long.
func TestLargeFile(t *testing.T) {
	t.Parallel()
	db := openToy(t)
	isSmall := func(want bool) {
		t.Helper()
		if small, err := db.Small(); small != want || err != nil {
			t.Errorf("small: %v, %v", small, err)
		}
	}
	isSmall(true)
	for range 42 {
		must(t, bigNote(db))
	}
	isSmall(false)
	path := db.Path()
	must(t, db.Close())
	text := []byte(readFile(t, path))
	copy(text[4096:8192], bytes.Repeat([]byte("damage"), 1000))
	write(t, path, string(text))
	_, err := toy.Verify(path)
	must(t, err)
	c, err := sqlite.OpenImmutable(path)
	must(t, err)
	defer c.Close()
	wants(t, c.CheckStructure(t.Context()), sqlite.ErrCorrupt)
}

// TestWasInUse checks that WasInUse distinguishes a database file copied without its -wal from a
// copy made by this package.
func TestWasInUse(t *testing.T) {
	t.Parallel()
	db := openToy(t)
	must(t, note(db, "x"))
	left := cutOff(t, db.Path())
	if sqlite.WasInUse(left) {
		t.Error("reported a file that has a -wal")
	}
	must(t, os.Remove(left+"-wal"))
	if !sqlite.WasInUse(left) {
		t.Error("did not report a file that lacks its -wal")
	}
	if missing := left + "-missing"; sqlite.WasInUse(missing) || sqlite.WasInUse(created(t)) || osutil.Exists(missing) {
		t.Error("reported a copy made by this package")
	}
}
