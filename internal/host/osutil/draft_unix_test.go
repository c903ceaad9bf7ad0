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

// TestWriteFileLink checks that WriteFile does not follow a link, and that a draft does.
func TestWriteFileLink(t *testing.T) {
	t.Parallel()
	dir, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "x")
	path, nowhere := filepath.Join(dir, "link"), filepath.Join(dir, "nowhere")
	must(t, os.WriteFile(elsewhere, []byte("theirs"), 0o600))
	must(t, os.Symlink(elsewhere, path))
	must(t, os.Symlink(filepath.Join(dir, "missing"), nowhere))
	draft, err := osutil.NewDraft(path)
	must(t, err)
	if filepath.Dir(draft.Name()) != filepath.Dir(osutil.Resolve(elsewhere)) {
		t.Errorf("the draft is %s", draft.Name())
	}
	draft.Discard()
	for _, link := range []string{path, nowhere} {
		if err := osutil.WriteFile(link, []byte("ours"), false); !errors.Is(err, fs.ErrExist) {
			t.Errorf("WriteFile replaced a link: %v", err)
		}
		must(t, osutil.WriteFile(link, []byte("ours"), true))
		if info, err := os.Lstat(link); err != nil || !info.Mode().IsRegular() {
			t.Errorf("%s: %v, %v", link, info.Mode(), err)
		}
	}
	holds(t, dir, "link", "nowhere")
	holds(t, filepath.Dir(elsewhere), "x")
	if text, err := os.ReadFile(elsewhere); err != nil || string(text) != "theirs" {
		t.Errorf("the target of the link is %q, %v", text, err)
	}
}

// TestRefuseRedirectAsRoot checks which links and folders of other users root refuses.
func TestRefuseRedirectAsRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can change the owner of a folder")
	}
	dir := t.TempDir()
	join := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	const service, ana, eve = 12345, 12346, 12347
	for name, folder := range map[string]struct {
		owner, group int
		mode         fs.FileMode
	}{
		"root":    {0, 0, 0o755},
		"service": {service, service, 0o755},
		"ana":     {ana, ana, 0o775}, // a private group
		"team":    {0, service, 0o775},
		"eve":     {eve, eve, 0o755},
		"open":    {0, 0, 0o777},
		"sticky":  {0, 0, 0o777 | fs.ModeSticky},
	} {
		must(t, os.MkdirAll(join(name, "inner"), 0o755))
		must(t, os.Chown(join(name), folder.owner, folder.group))
		must(t, os.Chmod(join(name), folder.mode))
	}
	for link, owner := range map[string]int{"root/roots": 0, "sticky/roots": 0, "root/anas": ana, "root/eves": eve, "service/theirs": service} {
		must(t, os.Symlink(join("root", "inner"), join(link)))
		must(t, os.Lchown(join(link), owner, owner))
	}
	must(t, os.Symlink("eve-again", join("root", "round")))
	must(t, os.Symlink("round", join("root", "eve-again")))
	must(t, os.Symlink("../eve", join("root", "to-eve")))
	t.Setenv("SUDO_UID", "12346")
	for path, isRefused := range map[string]bool{
		"root/x": false, "root/missing/x": false, "root/eves/../x": true, "root/to-eve/../root/x": true, "root/inner/../x": false, "root/roots/x": false, "root/anas/x": false, "root/eves/x": true, "root/eves": true, "root/round": true, "root/to-eve/x": true,
		"service/x": false, "service/inner/x": false, "service/theirs/x": true,
		"ana/x": false, "ana/inner/x": false, "team/x": true, "eve/x": true, "eve/inner/x": true,
		"open/x": true, "open/inner/x": true, "sticky/x": false, "sticky/roots/x": false, "../" + filepath.Base(dir) + "/root/x": false,
	} {
		if err := osutil.RefuseRedirect(dir+"/"+path, join("service", "x.db")); errors.Is(err, osutil.ErrRedirect) != isRefused || !isRefused && err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if osutil.SharedFolder(join("open")) {
		t.Error("a file system with owners counts as one without")
	}
}
