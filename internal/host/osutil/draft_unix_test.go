//go:build unix

package osutil_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// TestDraft: a file has its name when it is complete, and replaces another only if
// that is wanted. In the folder of another user root does the same by other means.
func TestDraft(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]fs.FileMode{"closed": 0o700, "open": 0o777, "sticky": 0o777 | fs.ModeSticky} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			must(t, os.Chmod(dir, mode))
			path := filepath.Join(dir, "x")
			write := func(text string, replace bool) error {
				d, err := osutil.NewDraft(path)
				must(t, err)
				defer d.Discard()
				if _, err := d.WriteString(text); err != nil {
					return err
				}
				return d.Publish(replace)
			}
			must(t, write("one", false))
			if err := write("two", false); !errors.Is(err, fs.ErrExist) {
				t.Errorf("it replaces a file: %v", err)
			}
			if text, err := os.ReadFile(path); err != nil || string(text) != "one" {
				t.Errorf("there is %q, %v", text, err)
			}
			must(t, write("three", true))
			d, err := osutil.NewDraft(path)
			must(t, err)
			d.Discard()
			text, err := os.ReadFile(path)
			entries, _ := os.ReadDir(dir)
			if err != nil || string(text) != "three" || len(entries) != 1 || stat(t, path).Mode() != 0o600 {
				t.Errorf("there is %q, %v, with %v and the mode %v", text, err, entries, stat(t, path).Mode())
			}
		})
	}
	if _, err := osutil.NewDraft(filepath.Join(t.TempDir(), "missing", "x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a folder: %v", err)
	}
}

// TestWriteFileLink: a link in the place of the file is not followed, also where root
// writes in a folder of another user, and also if it leads nowhere.
func TestWriteFileLink(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]fs.FileMode{"closed": 0o700, "open": 0o777} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "x")
			must(t, os.Chmod(dir, mode))
			path, nowhere := filepath.Join(dir, "link"), filepath.Join(dir, "nowhere")
			must(t, os.WriteFile(elsewhere, []byte("theirs"), 0o600))
			must(t, os.Symlink(elsewhere, path))
			must(t, os.Symlink(filepath.Join(dir, "missing"), nowhere))
			for _, link := range []string{path, nowhere} {
				if err := osutil.WriteFile(link, []byte("ours"), false); !errors.Is(err, fs.ErrExist) {
					t.Errorf("it replaces a link: %v", err)
				}
				must(t, osutil.WriteFile(link, []byte("ours"), true))
				if info, err := os.Lstat(link); err != nil || !info.Mode().IsRegular() {
					t.Errorf("%s: %v, %v", link, info.Mode(), err)
				}
			}
			holds(t, dir, "link", "nowhere")
			if text, err := os.ReadFile(elsewhere); err != nil || string(text) != "theirs" {
				t.Errorf("elsewhere is %q, %v", text, err)
			}
		})
	}
}

// TestFollowAsRoot: root follows links that only root can replace, and no others.
// Another user than root follows all links.
func TestFollowAsRoot(t *testing.T) {
	t.Parallel()
	root := os.Geteuid() == 0
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	join := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	for _, folder := range []string{"mine", "others", "sticky", "mine/inner"} {
		must(t, os.Mkdir(join(folder), 0o755))
	}
	must(t, os.Chmod(join("sticky"), 0o777|fs.ModeSticky))
	link := func(to, at string, owner int) {
		t.Helper()
		must(t, os.Symlink(to, join(at)))
		if root {
			must(t, os.Lchown(join(at), owner, owner))
		}
	}
	link("inner", "mine/folder", 0)
	link(join("mine", "file"), "mine/link", 0)
	link(join("mine", "link"), "mine/twice", 0)
	link(join("mine"), "mine/given", 12345)
	link(join("mine", "file"), "others/link", 0)
	link(join("mine", "file"), "sticky/theirs", 12345)
	link(join("mine", "file"), "sticky/roots", 0)
	link("round", "mine/round", 0)
	if root {
		must(t, os.Chown(join("others"), 12345, 12345))
	}
	for path, tt := range map[string]struct {
		want       string
		open, fail bool // for root: the folder is another user's; a link is
	}{
		"mine/new":         {want: "mine/new"},
		"mine/folder/new":  {want: "mine/inner/new"},
		"mine/link":        {want: "mine/file"},
		"mine/twice":       {want: "mine/file"},
		"mine/given/new":   {want: "mine/new", fail: true},
		"others/new":       {want: "others/new", open: true},
		"others/link":      {want: "mine/file", fail: true},
		"sticky/new":       {want: "sticky/new", open: true},
		"sticky/theirs":    {want: "mine/file", fail: true},
		"sticky/roots":     {want: "mine/file"},
		"mine/../mine/new": {want: "mine/new"},
	} {
		got, folder, err := osutil.Follow(join(path))
		if folder != nil {
			must(t, folder.Close())
		}
		switch {
		case !root && path != "mine/twice" && (filepath.Base(path) == "link" || filepath.Base(path) == "roots"):
			if got != join(tt.want) || err != nil {
				t.Errorf("%s is %s, %v", path, got, err)
			}
		case !root:
		case tt.fail && !errors.Is(err, osutil.ErrLink), !tt.fail && (err != nil || got != join(tt.want) || (folder != nil) != tt.open):
			t.Errorf("%s is %s, %v, %v", path, got, folder, err)
		}
	}
	if _, _, err := osutil.Follow(join("mine", "round")); root && err == nil {
		t.Error("a link to itself leads somewhere")
	}
}
