package acceptance

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

var exists = osutil.Exists

// namesIn returns the names of the files in a folder.
func namesIn(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	must(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// contents returns the files of a folder.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range namesIn(t, folder) {
		if text, err := os.ReadFile(filepath.Join(folder, name)); err == nil {
			files[name] = string(text)
		}
	}
	return files
}

func copyOf(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	must(t, err)
	must(t, os.WriteFile(to, text, 0o600))
}

// overwrite writes text into a file at an offset.
func overwrite(t *testing.T, path string, offset int64, text string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	_, err = file.WriteAt([]byte(text), offset)
	must(t, errors.Join(err, file.Close()))
}

// damage makes a database file unreadable except for its header.
func damage(t *testing.T, path string) {
	t.Helper()
	overwrite(t, path, 4096, strings.Repeat("damage", 3000))
}

// checkModes checks that only their owner can read and write the files in a folder.
func checkModes(t *testing.T, folder string) {
	t.Helper()
	for _, name := range namesIn(t, folder) {
		info, err := os.Stat(filepath.Join(folder, name))
		if must(t, err); runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
	}
}

// fileCases are paths without a database that the program can open.
var fileCases = []struct {
	name    string
	prepare func(t *testing.T, path string)
	create  bool // keys create and serve may create a database there
	message string
}{
	{"nothing", func(*testing.T, string) {}, true, "no database"},
	{"empty file", func(t *testing.T, path string) { must(t, os.WriteFile(path, nil, 0o600)) }, true, "no database"},
	{"directory", func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o700)) }, false, "is not a file"},
	{"text", func(t *testing.T, path string) {
		must(t, os.WriteFile(path, []byte(strings.Repeat("no database, this\n", 1000)), 0o600))
	}, false, "not a database"},
	{"foreign in WAL mode", func(t *testing.T, path string) {
		execSQL(t, path, `PRAGMA journal_mode = wal; CREATE TABLE t (a); INSERT INTO t VALUES (1)`)
	}, false, "not a database of this program"},
	{"other application", func(t *testing.T, path string) {
		execSQL(t, path, `PRAGMA application_id = 7; PRAGMA user_version = 1; CREATE TABLE firefighters (a)`)
	}, false, "not a database of this program"},
	{"foreign with a transaction half done", func(t *testing.T, path string) {
		execSQL(t, path, `CREATE TABLE t (a); INSERT INTO t VALUES (1)`)
		must(t, os.WriteFile(path+"-journal", []byte(strings.Repeat("x", 1024)), 0o600))
	}, false, "not a database of this program"},
	{"newer", func(t *testing.T, path string) {
		ours(t, path)
		execSQL(t, path, `PRAGMA user_version = 1000`)
	}, false, "newer version of this program (schema 1000; this version supports 1)"},
	{"ours without a version", func(t *testing.T, path string) {
		ours(t, path)
		execSQL(t, path, `PRAGMA user_version = 0`)
	}, false, "damaged"},
	{"cut by a byte", func(t *testing.T, path string) {
		ours(t, path)
		info, err := os.Stat(path)
		must(t, err)
		must(t, os.Truncate(path, info.Size()-1))
	}, false, "damaged"},
	{"cut off", func(t *testing.T, path string) {
		ours(t, path)
		must(t, os.Truncate(path, 5*4096))
	}, false, "damaged"},
	{"damaged", func(t *testing.T, path string) { ours(t, path); damage(t, path) }, false, "damaged"},
	{"damaged at its beginning", func(t *testing.T, path string) { ours(t, path); overwrite(t, path, 0, "damaged!") },
		false, "if it was a database and is damaged: firefighters restore FILE --db "},
}

// newDatabase is the file that ours copies. It is created once.
var newDatabase struct {
	sync.Once
	text []byte
}

// ours creates a database of this program at path, with a key of the department A.
func ours(t *testing.T, path string) {
	t.Helper()
	newDatabase.Do(func() {
		db := filepath.Join(t.TempDir(), "x.db")
		newKey(t, db, "A")
		text, err := os.ReadFile(db)
		must(t, err)
		newDatabase.text = text
	})
	must(t, os.WriteFile(path, newDatabase.text, 0o600))
}

// TestFiles checks that the program rejects a file that is not its database and does not
// change it.
func TestFiles(t *testing.T) {
	t.Parallel()
	for _, tt := range fileCases {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "x.db")
			tt.prepare(t, path)
			before := contents(t, filepath.Dir(path))
			for _, line := range []string{"keys list", "keys revoke 1", "keys create --tenant A", "serve --listen 127.0.0.1:0"} {
				if tt.create && line != "keys list" && line != "keys revoke 1" {
					continue // TestFirstStart and TestKeyCommands cover these
				}
				code, stdout, stderr := runCommand(t, append(strings.Fields(line), "--db", path)...)
				if code != 1 || stdout != "" || !strings.Contains(stderr, tt.message) || !strings.Contains(stderr, path) {
					t.Errorf("%s: code %d, stdout %q, stderr %q", line, code, stdout, stderr)
				}
				if after := contents(t, filepath.Dir(path)); !maps.Equal(before, after) {
					t.Errorf("%s: files changed from %q to %q", line, slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
				}
			}
		})
	}
}

// TestHalfCreated checks that a database is created again after a power cut during its creation.
func TestHalfCreated(t *testing.T) {
	t.Parallel()
	making, left := filepath.Join(t.TempDir(), "x.db"), filepath.Join(t.TempDir(), "x.db")
	must(t, os.WriteFile(making, nil, 0o600))
	cut := errors.New("the power is cut")
	err := format.Migrate(making, 0, 1, func(c *sqlite.Conn) error {
		_, err := c.Exec(`PRAGMA cache_size = 1;` + // forces writes before the commit
			schemaSQL + `INSERT INTO tenants (name, created_at) VALUES ('left behind', 0); CREATE TABLE filler AS
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT i, randomblob(500) FROM n`)
		must(t, err)
		copyOf(t, making, left)
		copyOf(t, making+"-journal", left+"-journal")
		return cut
	})
	if info, statErr := os.Stat(left); statErr != nil || info.Size() < 100_000 || !errors.Is(err, cut) {
		t.Fatalf("nothing was written before the commit: %v, %v", statErr, err)
	}
	s := startOn(t, left)
	s.create(t, ana)
	if stdout, _ := works(t, "keys", "list", "--db", left); strings.Count(stdout, "\n") != 1 || strings.Contains(stdout, "left behind") {
		t.Errorf("keys %q", stdout)
	}
}

// TestTruncated checks that an unreadable page is an error of the requests that need it, and
// does not end the program.
func TestTruncated(t *testing.T) {
	t.Parallel()
	db := invented(t, 1, 3000)
	s := startOn(t, db)
	s.mayFail = true
	c := s.as(newKey(t, db, stationName(0)))
	c.do(t, "GET", "/api/v1/whoami", "").wants(t, 200)
	if err := os.Truncate(db, 8192); err != nil {
		t.Skipf("this system does not truncate an open file: %v", err)
	}
	for _, query := range []string{"sortBy=email", "search=ana", "sortBy=phoneNumber&page=100"} {
		c.do(t, "GET", collection+"?"+query, "").wants(t, 500)
	}
	c.do(t, "GET", "/healthz", "").wants(t, 200)
	s.logs(t, "SQLite result")
	s.cancel()
	<-s.done // ignores the result, because the file is lost
	s.stopOnce.Do(func() {})
}

// refusesSecondPath checks that every command rejects a second path of a served database with
// these words, and that the database stays sound. add creates the path, remove removes it.
func refusesSecondPath(t *testing.T, path, words string, add func(db string), remove func()) {
	t.Helper()
	s, saved, list := start(t), filepath.Join(t.TempDir(), "saved.db"), filepath.Join(t.TempDir(), "list.csv")
	s.create(t, ana)
	works(t, "backup", saved, "--db", s.db)
	s.create(t, ana)
	must(t, os.WriteFile(list, []byte("firstName,lastName\nEva,Horvat\n"), 0o600))
	add(s.db)
	for _, args := range [][]string{
		{"serve", "--listen", "127.0.0.1:0"},
		{"keys", "create", "--tenant", firstDepartment},
		{"keys", "list"},
		{"keys", "revoke", "1"},
		{"import", list, "--tenant", firstDepartment, "--apply"},
		{"export", "--tenant", firstDepartment},
		{"deleted", "--tenant", firstDepartment},
		{"purge", "--tenant", firstDepartment, "--older-than", "0s", "--yes"},
		{"departments", "list"},
		{"invite", "--tenant", firstDepartment, "--name", "Ana"},
		{"check", "--repair"},
		{"backup", saved + "-2"},
		{"restore", saved},
	} {
		refuses(t, 1, words, append(args, "--db", path)...)
	}
	if found := namesIn(t, filepath.Dir(path)); len(found) != 1 {
		t.Errorf("the folder of the second path contains %q", found)
	}
	s.create(t, ana)
	s.stop(t)
	remove()
	works(t, "check", "--db", s.db)
	if n := recordsIn(t, s.db); n != 3 {
		t.Errorf("the database has %d records", n)
	}
}

// TestHardLink checks that no command uses a database file with two names, which could be
// served twice. A backup may have any number of names.
func TestHardLink(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the number of names is not checked on Windows")
	}
	link := filepath.Join(t.TempDir(), "link.db")
	words := fmt.Sprintf("Error: the database %q also has another name (a hard link): serving it under both names would damage it\n"+
		"Try: find the other name and remove it: find / -xdev -samefile %s\n", link, link)
	refusesSecondPath(t, link, words, func(db string) { must(t, os.Link(db, link)) }, func() { must(t, os.Remove(link)) })
	_, saved, _ := backedUp(t)
	must(t, os.Link(saved, link))
	works(t, "restore", saved, "--db", filepath.Join(t.TempDir(), "x.db"))
}

// TestOddLock checks that a foreign file in the place of the lock is not reported as damage.
func TestOddLock(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	ours(t, db)
	must(t, os.WriteFile(db+"-lock", []byte("something else altogether"), 0o600))
	code, _, stderr := runCommand(t, "serve", "--db", db, "--listen", "127.0.0.1:0")
	if code != 1 || strings.Contains(stderr, "damaged") || !strings.Contains(stderr, "delete "+db+"-lock") {
		t.Errorf("code %d, stderr %q", code, stderr)
	}
}
