//go:build unix

package osutil_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/firefighter-records/firefighters/internal/osutil"
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

// underLimit is set, to a path, where this test binary is a process under a
// limit on the size of files.
const underLimit = "TEST_UNDER_LIMIT"

// TestNoRoomUnderLimit: a file that has the largest size that is allowed has no
// room to grow.
func TestNoRoomUnderLimit(t *testing.T) {
	t.Parallel()
	if path := os.Getenv(underLimit); path != "" {
		if !osutil.NoRoom(path) || !osutil.NoRoom(filepath.Join(filepath.Dir(path), "new")) {
			t.Error("there is room")
		}
		return
	}
	path := filepath.Join(t.TempDir(), "x")
	must(t, os.WriteFile(path, []byte("text"), 0o600))
	child := exec.Command("sh", "-c", `ulimit -f 1; exec "$0" -test.run='^TestNoRoomUnderLimit$'`, os.Args[0])
	child.Env = append(os.Environ(), underLimit+"="+path)
	if said, err := child.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}

// TestOtherDisk: the devices are never on the disk of the temporary files.
func TestOtherDisk(t *testing.T) {
	t.Parallel()
	if osutil.SameDisk(t.TempDir(), "/dev") {
		t.Error("/dev is on the disk of the temporary files")
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
