//go:build unix

package osutil_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"firefighters/internal/osutil"
)

func TestReadOnlyDisk(t *testing.T) {
	t.Parallel()
	if !osutil.NotPermitted(&fs.PathError{Op: "open", Path: "x", Err: syscall.EROFS}) {
		t.Error("a read-only disk permits")
	}
	if err := osutil.SyncFolder(filepath.Join(t.TempDir(), "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is missing: %v", err)
	}
}

func TestLinkCount(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x")
	must(t, os.WriteFile(path, nil, 0o600))
	for want := 1; want <= 2; want++ {
		if got := osutil.LinkCount(stat(t, path)); got != want {
			t.Errorf("%d names, not %d", got, want)
		}
		must(t, os.Link(path, path+string(rune('a'+want))))
	}
}

func TestGiveTo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	like, path := filepath.Join(dir, "like"), filepath.Join(dir, "path")
	must(t, os.WriteFile(like, nil, 0o600))
	must(t, os.WriteFile(path, nil, 0o600))
	root := os.Geteuid() == 0
	if root {
		must(t, os.Chown(like, 12345, 23456))
	}
	must(t, osutil.GiveTo(path, stat(t, like)))
	owner := stat(t, path).Sys().(*syscall.Stat_t)
	if root && (owner.Uid != 12345 || owner.Gid != 23456) || !root && int(owner.Uid) != os.Geteuid() {
		t.Errorf("owner %d, group %d", owner.Uid, owner.Gid)
	}
}

func stat(t *testing.T, path string) fs.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	return info
}
