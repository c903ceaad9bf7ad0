package osutil_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

func TestSpaceOf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	space, err := osutil.SpaceOf(dir)
	if err != nil || space.Total <= 0 || space.Free < 0 || space.Free > space.Total {
		t.Errorf("%+v, %v", space, err)
	}
	if _, err := osutil.SpaceOf(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is missing: %v", err)
	}
}

func TestMaxOpenFiles(t *testing.T) {
	t.Parallel()
	if n := osutil.MaxOpenFiles(); n < 10 {
		t.Errorf("%d", n)
	}
}

func TestAccess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if !osutil.Writable(dir) || osutil.ReadOnly(dir) {
		t.Error("a temporary folder is not writable")
	}
	missing := filepath.Join(dir, "missing")
	if osutil.Writable(missing) || osutil.ReadOnly(missing) {
		t.Error("a missing folder is writable or read-only")
	}
	if kind := osutil.NetworkFileSystem(missing); kind != "" {
		t.Errorf("a missing folder is on a network disk: %s", kind)
	}
	if kind := osutil.NetworkFileSystem(dir); kind != "" {
		t.Logf("temporary files are on a network disk: %s", kind)
	}
}

func TestNotPermitted(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{
		nil:            false,
		fs.ErrNotExist: false,
		&fs.PathError{Op: "open", Path: "x", Err: fs.ErrPermission}: true,
		fmt.Errorf("opening: %w", fs.ErrPermission):                 true,
	} {
		if got := osutil.NotPermitted(err); got != want {
			t.Errorf("%v: %v", err, got)
		}
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	in := func(name string) string { return filepath.Join(dir, name) }
	must(t, os.WriteFile(in("file"), nil, 0o600))
	links := map[string]string{"absolute": in("file"), "relative": "file", "twice": "relative", "ahead": "missing", "away": in("missing")}
	for name, target := range links {
		if err := os.Symlink(target, in(name)); err != nil {
			t.Skipf("no links can be made here: %v", err)
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
			t.Errorf("%q: %s, not %s", path, got, want)
		}
	}
}

func TestSameFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, two, link := filepath.Join(dir, "one"), filepath.Join(dir, "two"), filepath.Join(dir, "link")
	must(t, os.WriteFile(one, nil, 0o600))
	must(t, os.WriteFile(two, nil, 0o600))
	must(t, os.Link(one, link))
	missing := filepath.Join(dir, "missing")
	for _, tt := range []struct {
		a, b string
		want bool
	}{{one, one, true}, {one, link, true}, {one, two, false}, {one, missing, false}, {missing, one, false},
		{missing, missing, true}, {missing, filepath.Join(dir, "gone"), false}} {
		if osutil.SameFile(tt.a, tt.b) != tt.want {
			t.Errorf("%s and %s: %v", tt.a, tt.b, !tt.want)
		}
	}
}

func TestSameDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, missing := filepath.Join(dir, "file"), filepath.Join(dir, "missing")
	must(t, os.WriteFile(file, nil, 0o600))
	for _, tt := range []struct {
		a, b string
		want bool
	}{{dir, dir, true}, {dir, file, true}, {dir, missing, false}, {missing, missing, false}} {
		if osutil.SameDisk(tt.a, tt.b) != tt.want {
			t.Errorf("%s and %s: %v", tt.a, tt.b, !tt.want)
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
		t.Errorf("in a folder that is missing: %v", err)
	}
}

func TestSync(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, []byte("text"), 0o600))
	must(t, osutil.SyncFile(file))
	must(t, osutil.SyncFolder(dir))
	if text, err := os.ReadFile(file); string(text) != "text" {
		t.Errorf("after the sync: %q, %v", text, err)
	}
	if err := osutil.SyncFile(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is missing: %v", err)
	}
}

func TestNoRoom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, []byte("text"), 0o600))
	for _, path := range []string{file, filepath.Join(dir, "other"), filepath.Join(dir, "missing", "x")} {
		if osutil.NoRoom(path) {
			t.Errorf("no room for %s", path)
		}
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Errorf("there is %v, %v", names, err)
	}
}

func TestRenameIfExists(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from, to, folder := filepath.Join(dir, "from"), filepath.Join(dir, "to"), filepath.Join(dir, "folder")
	must(t, osutil.RenameIfExists(from, to))
	must(t, os.WriteFile(from, []byte("text"), 0o600))
	must(t, osutil.RenameIfExists(from, to))
	if text, err := os.ReadFile(to); string(text) != "text" || osutil.Exists(from) {
		t.Errorf("after the rename: %q, %v", text, err)
	}
	must(t, os.Mkdir(folder, 0o700))
	if osutil.RenameIfExists(to, folder) == nil {
		t.Error("a file was renamed to a folder that exists")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestStat: the FileInfo knows which file it was, also when another has its name.
func TestStat(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	stat := func(path string) fs.FileInfo {
		t.Helper()
		info, err := osutil.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	write := func() {
		t.Helper()
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write()
	before := stat(path)
	if err := os.Rename(path, path+" moved"); err != nil {
		t.Fatal(err)
	}
	if _, err := osutil.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of a missing file it says %v", err)
	}
	write()
	if os.SameFile(before, stat(path)) || !os.SameFile(before, stat(path+" moved")) {
		t.Error("it does not tell two files apart")
	}
	if before.Size() != 1 || !stat(filepath.Dir(path)).IsDir() {
		t.Errorf("a file has %d bytes", before.Size())
	}
}
