package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// fileCases are paths at which there is no database to open.
var fileCases = []struct {
	name    string
	prepare func(t *testing.T, path string)
	create  bool // keys create and serve may make one there
	says    string
}{
	{"nothing", func(*testing.T, string) {}, true, "no database"},
	{"empty file", func(t *testing.T, path string) { must(t, os.WriteFile(path, nil, 0o600)) }, true, "no database"},
	{"directory", func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o700)) }, false, "is a folder"},
	{"text", func(t *testing.T, path string) {
		must(t, os.WriteFile(path, []byte(strings.Repeat("no database, this\n", 1000)), 0o600))
	}, false, "not a database"},
	{"short text", func(t *testing.T, path string) { must(t, os.WriteFile(path, []byte("x"), 0o600)) }, false, "not a database"},
	{"foreign", func(t *testing.T, path string) {
		execSQL(t, path, `CREATE TABLE t (a); INSERT INTO t VALUES (1)`)
	}, false, "not a database of this program"},
	{"foreign in WAL mode", func(t *testing.T, path string) {
		execSQL(t, path, `PRAGMA journal_mode = wal; CREATE TABLE t (a); INSERT INTO t VALUES (1)`)
	}, false, "not a database of this program"},
	{"other application", func(t *testing.T, path string) {
		execSQL(t, path, `PRAGMA application_id = 7; PRAGMA user_version = 1; CREATE TABLE firefighters (a)`)
	}, false, "not a database of this program"},
	{"newer", func(t *testing.T, path string) {
		newKey(t, path, "A")
		execSQL(t, path, `PRAGMA user_version = 1000`)
	}, false, "newer"},
	{"foreign with a transaction half done", func(t *testing.T, path string) {
		execSQL(t, path, `CREATE TABLE t (a); INSERT INTO t VALUES (1)`)
		must(t, os.WriteFile(path+"-journal", []byte(strings.Repeat("x", 1024)), 0o600))
	}, false, "not a database of this program"},
	{"ours without a version", func(t *testing.T, path string) {
		newKey(t, path, "A")
		execSQL(t, path, `PRAGMA user_version = 0`)
	}, false, "damaged"},
	{"ours with a version below zero", func(t *testing.T, path string) {
		newKey(t, path, "A")
		execSQL(t, path, `PRAGMA user_version = -1`)
	}, false, "damaged"},
	{"cut by a byte", func(t *testing.T, path string) {
		newKey(t, path, "A")
		info, err := os.Stat(path)
		must(t, err)
		must(t, os.Truncate(path, info.Size()-1))
	}, false, "damaged"},
	{"cut off", func(t *testing.T, path string) {
		newKey(t, path, "A")
		info, err := os.Stat(path)
		must(t, err)
		must(t, os.Truncate(path, info.Size()/2))
	}, false, "damaged"},
	{"damaged", func(t *testing.T, path string) {
		newKey(t, path, "A")
		text, err := os.ReadFile(path)
		must(t, err)
		copy(text[4096:], bytes.Repeat([]byte("damage"), 2000))
		must(t, os.WriteFile(path, text, 0o600))
	}, false, "damaged"},
	{"damaged at its beginning", func(t *testing.T, path string) {
		newKey(t, path, "A")
		text, err := os.ReadFile(path)
		must(t, err)
		copy(text, "damaged!")
		must(t, os.WriteFile(path, text, 0o600))
	}, false, "if it was one and is damaged: firefighters restore FILE --db "},
}

// TestFiles: what is not ours to open is refused and left as it is.
func TestFiles(t *testing.T) {
	t.Parallel()
	commands := [][]string{{"keys", "list"}, {"keys", "revoke", "1"}, {"keys", "create", "--tenant", "A"}, {"serve", "--listen", "127.0.0.1:0"}}
	for _, tt := range fileCases {
		for i, args := range commands {
			if tt.create && i >= 2 {
				continue // TestFirstStart and TestKeyCommands have these
			}
			t.Run(tt.name+"/"+args[len(args)-2], func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "x.db")
				tt.prepare(t, path)
				before := contents(t, filepath.Dir(path))
				code, stdout, stderr := command(t, append(args, "--db", path)...)
				if code != 1 || stdout != "" || !strings.Contains(stderr, tt.says) || !strings.Contains(stderr, path) {
					t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
				}
				if after := contents(t, filepath.Dir(path)); !maps.Equal(before, after) {
					t.Errorf("the folder was %q and is %q", slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
				}
			})
		}
	}
}

// storeKey makes a key of the department A in an open store.
func storeKey(t *testing.T, s *store, expiresAt time.Time) (key string) {
	t.Helper()
	must(t, s.createKey("A", "", scopeWrite, expiresAt, func(made string) error {
		key = made
		return nil
	}))
	return key
}

// contents are the files of a folder. The empty file by which a server locks
// a database of ours may be among them and is left out.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err == nil && !(strings.HasSuffix(e.Name(), ".db-lock") && isOurs(filepath.Join(dir, "x.db"))) {
			files[e.Name()] = string(text)
		}
	}
	return files
}

func isOurs(path string) bool {
	header, err := os.ReadFile(path)
	return err == nil && len(header) > 72 && string(header[68:72]) == "FfRs"
}

// TestHalfMade: a database whose making a power cut ended is made anew.
func TestHalfMade(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	must(t, createFile(path))
	c, err := openConn(migrationDSN(path))
	must(t, err)
	_, err = c.exec(`PRAGMA cache_size = 1`) // to have it written before it is committed
	must(t, err)
	_, err = c.exec(fmt.Sprintf(`BEGIN IMMEDIATE; PRAGMA application_id = %d; PRAGMA user_version = 1;`, applicationID) +
		schemaSQL + `INSERT INTO tenants (name, created_at) VALUES ('left behind', 0); CREATE TABLE filler AS
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT i, randomblob(500) FROM n`)
	must(t, err)
	after := t.TempDir()
	for _, name := range []string{"x.db", "x.db-journal"} {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(path), name))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(after, name), text, 0o600))
	}
	must(t, c.Close())
	s := startOn(t, filepath.Join(after, "x.db"))
	s.create(t, ana)
	if code, stdout, _ := command(t, "keys", "list", "--db", s.db); code != 0 || strings.Count(stdout, "\n") != 1 {
		t.Errorf("code %d, keys %q", code, stdout)
	}
}

func TestMissingFolder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "missing", "x.db")
	for _, args := range [][]string{{"keys", "create", "--tenant", "A"}, {"serve", "--listen", "127.0.0.1:0"}} {
		code, stdout, stderr := command(t, append(args, "--db", path)...)
		want := fmt.Sprintf("Error: the folder of %q does not exist\nTry: make it first: mkdir %s\n", path, filepath.Dir(path))
		if code != 1 || stdout != "" || stderr != want {
			t.Errorf("%s: code %d, stdout %q, stderr:\n%swant:\n%s", args[0], code, stdout, stderr, want)
		}
	}
	if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, os.ErrNotExist) {
		t.Error("the folder was made")
	}
}
