package osutil_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	in := func(name string) string { return filepath.Join(dir, name) }
	must(t, os.WriteFile(in("file"), nil, 0o600))
	links := map[string]string{"absolute": in("file"), "relative": "file", "twice": "relative", "ahead": "missing", "away": in("missing")}
	for name, target := range links {
		if err := os.Symlink(target, in(name)); err != nil {
			t.Skipf("cannot create links: %v", err)
		}
	}
	for name, want := range map[string]string{"file": "file", "missing": "missing", "absolute": "file", "relative": "file",
		"twice": "file", "ahead": "missing", "away": "missing"} {
		if got := osutil.Resolve(in(name)); got != in(want) {
			t.Errorf("%s: %s", name, got)
		}
	}
	must(t, os.MkdirAll(in("sub/inner"), 0o700))
	must(t, os.Symlink("sub/inner", in("folder")))
	for path, want := range map[string]string{
		dir + "/./later":         in("later"),
		dir + "//later":          in("later"),
		dir + "/sub/../later":    in("later"),
		dir + "/folder/later":    in("sub/inner/later"),
		dir + "/folder/../later": in("sub/later"),
		dir + "/nowhere/later":   in("nowhere/later"),
		"./later":                "later",
		"later":                  "later",
	} {
		for _, state := range []string{"missing", "created"} {
			if got := osutil.Resolve(path); got != want {
				t.Errorf("%s, %s: %s", path, state, got)
			}
			if state == "missing" && want != in("nowhere/later") && filepath.IsAbs(path) {
				must(t, os.WriteFile(path, nil, 0o600))
			}
		}
		os.Remove(path)
	}
	for name, want := range map[string]bool{"file": true, "twice": true, "missing": false, "ahead": false} {
		if osutil.Exists(in(name)) != want {
			t.Errorf("%s exists: %v", name, !want)
		}
	}
}

func TestInQuotes(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		`C:\Users\Ana\my records.db`: `"C:\Users\Ana\my records.db"`,
		`\\nas\new\x.db`:             `"\\nas\new\x.db"`,
		"/home/čović/x.db":           `"/home/čović/x.db"`,
		`an "odd" one`:               `"an "odd" one"`,
		"two\nlines\x1b":             `"two\nlines\x1b"`,
	} {
		if got := osutil.InQuotes(path); got != want {
			t.Errorf("InQuotes(%q) = %s, want %s", path, got, want)
		}
	}
}

func TestCreatePrivate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fresh, old := filepath.Join(dir, "fresh"), filepath.Join(dir, "old")
	must(t, os.WriteFile(old, []byte("text"), 0o644))
	for path, want := range map[string]string{fresh: "", old: "text"} {
		must(t, osutil.CreatePrivate(path))
		text, err := os.ReadFile(path)
		must(t, err)
		info, err := os.Stat(path)
		must(t, err)
		if string(text) != want || runtime.GOOS != "windows" && info.Mode() != 0o600 {
			t.Errorf("%s: %q, mode %v", path, text, info.Mode())
		}
	}
	if err := osutil.CreatePrivate(filepath.Join(dir, "missing", "x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a missing folder: %v", err)
	}
}

func TestNoRoom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, []byte("text"), 0o600))
	for _, path := range []string{file, filepath.Join(dir, "other"), filepath.Join(dir, "missing", "x")} {
		if osutil.NoRoom(path) {
			t.Errorf("NoRoom(%s) = true", path)
		}
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Errorf("the folder contains %v, %v", names, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestStat checks that a FileInfo identifies its file even if another file gets the name.
func TestStat(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	stat := func(path string) fs.FileInfo {
		t.Helper()
		info, err := osutil.Stat(path)
		must(t, err)
		return info
	}
	must(t, os.WriteFile(path, []byte("x"), 0o600))
	before := stat(path)
	must(t, os.Rename(path, path+" moved"))
	if _, err := osutil.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	must(t, os.WriteFile(path, []byte("x"), 0o600))
	if os.SameFile(before, stat(path)) || !os.SameFile(before, stat(path+" moved")) {
		t.Error("the FileInfo does not identify its file")
	}
	if before.Size() != 1 || !stat(filepath.Dir(path)).IsDir() {
		t.Errorf("the file has %d bytes", before.Size())
	}
}

// TestMachine checks that the ID of the computer stays the same.
func TestMachine(t *testing.T) {
	t.Parallel()
	id := osutil.Machine()
	if len(id) != 32 || id != osutil.Machine() {
		t.Errorf("the ID is %q", id)
	}
}
