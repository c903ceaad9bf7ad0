package sqlite_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// toy is the format of the databases in these tests.
var toy = sqlite.Format{ApplicationID: 0x546f7921, Version: 3}

const toySchema = `
	CREATE TABLE notes (
	    id   INTEGER PRIMARY KEY,
	    at   INTEGER NOT NULL,
	    body TEXT    NOT NULL
	) STRICT;`

const insertNote = `INSERT INTO notes (at, body) VALUES (?, ?)`

// lockHelper is an environment variable. If it is the path of a database, this test binary runs as
// a second process that locks the database.
const lockHelper = "TEST_LOCK_DATABASE"

func TestMain(m *testing.M) {
	if path := os.Getenv(lockHelper); path != "" {
		holdLock(path)
		return
	}
	os.Exit(m.Run())
}

// holdLock locks a database until standard input ends.
func holdLock(path string) {
	_, err := sqlite.LockDatabase(path)
	fmt.Println(err == nil, err)
	io.Copy(io.Discard, os.Stdin)
}

// startLockHelper starts a second process that locks a database. It returns the output of that
// process.
func startLockHelper(t *testing.T, path string) (process *exec.Cmd, says string) {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	process = exec.Command(self)
	process.Env = append(os.Environ(), lockHelper+"="+path)
	_, err = process.StdinPipe()
	must(t, err)
	out, err := process.StdoutPipe()
	must(t, err)
	must(t, process.Start())
	t.Cleanup(func() { process.Process.Kill() })
	says, err = bufio.NewReader(out).ReadString('\n')
	must(t, err)
	return process, strings.TrimSpace(says)
}

// must ends the test if err is not nil.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wants reports an error that does not match the wanted one.
func wants(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
}

// create creates a database with the toy schema at path.
func create(t testing.TB, path string) {
	t.Helper()
	must(t, os.WriteFile(path, nil, 0o600))
	must(t, toy.Migrate(path, 0, 2, func(c *sqlite.Conn) error {
		_, err := c.Exec(toySchema)
		return err
	}))
}

// created creates a database in a new folder.
func created(t testing.TB) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "x.db")
	create(t, path)
	return path
}

// openAt opens a database until the test ends.
func openAt(t testing.TB, path string, options sqlite.Options) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(path, options)
	must(t, err)
	t.Cleanup(func() {
		if err := db.Close(); err != nil && !errors.Is(err, sqlite.ErrClosed) {
			t.Errorf("closing the database: %v", err)
		}
	})
	return db
}

func openToy(t testing.TB) *sqlite.DB {
	t.Helper()
	return openAt(t, created(t), sqlite.Options{})
}

// note adds a row.
func note(db *sqlite.DB, body string) error {
	return db.Write(func(t *sqlite.Tx) error { return t.ExecOne(insertNote, t.Now, body) })
}

// noteCount returns the number of rows.
func noteCount(t testing.TB, db *sqlite.DB) (n int64) {
	t.Helper()
	must(t, db.Read(func(c *sqlite.Conn) (err error) {
		n, err = c.QueryInt(`SELECT count(*) FROM notes`)
		return err
	}))
	return n
}

// contents returns the contents of the files in a folder by name.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		must(t, err)
		files[e.Name()] = string(text)
	}
	return files
}

// cutOff copies a database in use with its -wal or -journal, as a power failure would leave it.
func cutOff(t testing.TB, path string) (left string) {
	t.Helper()
	left = filepath.Join(t.TempDir(), "x.db")
	for _, suffix := range []string{"", "-wal", "-journal"} {
		text, err := os.ReadFile(path + suffix)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		must(t, err)
		must(t, os.WriteFile(left+suffix, text, 0o600))
	}
	return left
}

// TestClose checks that Close leaves a single file, and that later calls return ErrClosed.
func TestClose(t *testing.T) {
	t.Parallel()
	path := created(t)
	db, err := sqlite.Open(path, sqlite.Options{})
	must(t, err)
	must(t, note(db, "x"))
	must(t, db.Close())
	if left := contents(t, filepath.Dir(path)); len(left) != 1 {
		t.Errorf("%d files remain", len(left))
	}
	wants(t, note(db, "x"), sqlite.ErrClosed)
	wants(t, db.Read(func(*sqlite.Conn) error { return nil }), sqlite.ErrClosed)
	wants(t, db.ReadTx(func(*sqlite.Conn) error { return nil }), sqlite.ErrClosed)
	wants(t, db.Close(), sqlite.ErrClosed)
}

// TestCloseDuringWrites checks that a change is stored if and only if Write returned nil.
func TestCloseDuringWrites(t *testing.T) {
	t.Parallel()
	path := created(t)
	db, err := sqlite.Open(path, sqlite.Options{})
	must(t, err)
	var mu sync.Mutex
	var made int64
	enough := make(chan bool)
	var running sync.WaitGroup
	for range 16 {
		running.Go(func() {
			for {
				if err := note(db, "x"); err != nil {
					wants(t, err, sqlite.ErrClosed)
					return
				}
				mu.Lock()
				if made++; made == 100 {
					close(enough)
				}
				mu.Unlock()
			}
		})
	}
	<-enough
	must(t, db.Close())
	running.Wait()
	if n := noteCount(t, openAt(t, path, sqlite.Options{})); n != made {
		t.Errorf("%d rows after %d successful writes", n, made)
	}
}

// TestReadTx checks that all statements in one transaction read the same state.
func TestReadTx(t *testing.T) {
	t.Parallel()
	db := openToy(t)
	must(t, note(db, "x"))
	counts := func(c *sqlite.Conn) (before, after int64, err error) {
		if before, err = c.QueryInt(`SELECT count(*) FROM notes`); err != nil {
			return 0, 0, err
		}
		written := make(chan error)
		go func() { written <- note(db, "x") }()
		if err := <-written; err != nil {
			return 0, 0, err
		}
		after, err = c.QueryInt(`SELECT count(*) FROM notes`)
		return before, after, err
	}
	for name, tt := range map[string]struct {
		read func(func(*sqlite.Conn) error) error
		more int64
	}{"Read": {db.Read, 1}, "ReadTx": {db.ReadTx, 0}} {
		must(t, tt.read(func(c *sqlite.Conn) error {
			before, after, err := counts(c)
			if after-before != tt.more {
				t.Errorf("%s: %d rows, then %d", name, before, after)
			}
			return err
		}))
	}
}

// TestPanicInRead checks that a panic returns the connection without an open statement or
// transaction.
func TestPanicInRead(t *testing.T) {
	t.Parallel()
	db := openToy(t)
	must(t, note(db, "x"))
	const query = `SELECT id FROM notes`
	for name, read := range map[string]func() error{
		"in Read":   func() error { return db.Read(func(*sqlite.Conn) error { panic("oops") }) },
		"in ReadTx": func() error { return db.ReadTx(func(*sqlite.Conn) error { panic("oops") }) },
		"in a scan": func() error {
			return db.Read(func(c *sqlite.Conn) error { return c.Query(query, nil, func(sqlite.Row) { panic("oops") }) })
		},
		"in a scan in ReadTx": func() error {
			return db.ReadTx(func(c *sqlite.Conn) error { return c.Query(query, nil, func(sqlite.Row) { panic("oops") }) })
		},
	} {
		for range 2 * max(4, runtime.NumCPU()) { // more often than the number of connections
			func() {
				defer func() {
					if p := recover(); p != "oops" {
						t.Errorf("%s: recovered %v", name, p)
					}
				}()
				read()
			}()
		}
		must(t, db.ReadTx(func(c *sqlite.Conn) error { return c.Query(query, nil, func(sqlite.Row) {}) }))
		must(t, note(db, "x")) // the new row is visible, so no old snapshot is open
		if n, want := noteCount(t, db), noteCount(t, db); n != want || n < 2 {
			t.Errorf("%s: %d rows, then %d", name, n, want)
		}
	}
}

// TestOpenFails checks that a failed Open leaves no file open, so that Windows can remove the folder.
func TestOpenFails(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	_, err := sqlite.Open(path, sqlite.Options{})
	wants(t, err, sqlite.ErrPermission) // SQLite does not report that the file is missing
	var failure *sqlite.FileError
	if !errors.As(err, &failure) || failure.Op != "opening" || failure.Path != path {
		t.Errorf("error %v", err)
	}
	must(t, os.WriteFile(path, []byte(strings.Repeat("text", 1000)), 0o600))
	_, err = sqlite.Open(path, sqlite.Options{})
	wants(t, err, sqlite.ErrCorrupt)
}

// TestOddPaths checks that no character of a path is read as a setting of the connection.
func TestOddPaths(t *testing.T) {
	t.Parallel()
	names := []string{"with space.db", "50%41.db", "a#b.db", "a&mode=memory;b=c.db", "näme.db", "file:x.db"}
	if runtime.GOOS != "windows" {
		names = append(names, "what?mode=memory.db", `back\slash.db`, "new\nline.db")
	} else {
		names = names[:len(names)-1]
	}
	for _, name := range names {
		path := filepath.Join(t.TempDir(), name)
		create(t, path)
		db, err := sqlite.Open(path, sqlite.Options{})
		must(t, err)
		if db.Path() != path {
			t.Errorf("path %q", db.Path())
		}
		must(t, note(db, "x"))
		must(t, db.Close())
		files := contents(t, filepath.Dir(path))
		if !strings.HasPrefix(files[name], "SQLite format 3\x00") || len(files) != 1 {
			t.Errorf("%q: %d files", name, len(files))
		}
		c, err := sqlite.OpenImmutable(path)
		must(t, err)
		if n, err := c.QueryInt(`SELECT count(*) FROM notes`); n != 1 || err != nil {
			t.Errorf("%q: %d rows, %v", name, n, err)
		}
		must(t, c.Close())
	}
}

// TestRelativePath changes the working directory, so it cannot run in parallel.
func TestRelativePath(t *testing.T) {
	t.Chdir(t.TempDir())
	create(t, "x.db")
	db, err := sqlite.Open("x.db", sqlite.Options{})
	must(t, err)
	must(t, note(db, "x"))
	must(t, db.Close())
	must(t, toy.Inspect("x.db"))
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return string(text)
}
