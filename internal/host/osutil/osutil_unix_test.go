//go:build unix

package osutil_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
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

func TestMain(m *testing.M) {
	if path := os.Getenv(underLimit); path != "" { // without m.Run, which writes files where coverage is asked for
		if !osutil.NoRoom(path) || !osutil.NoRoom(filepath.Join(filepath.Dir(path), "new")) {
			fmt.Println("there is room")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestNoRoomUnderLimit: a file that has the largest size that is allowed has no
// room to grow.
func TestNoRoomUnderLimit(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x")
	must(t, os.WriteFile(path, []byte("text"), 0o600))
	child := exec.Command("/bin/sh", "-c", `ulimit -f 1; exec "$0"`, os.Args[0])
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

func TestGiveToAsRoot(t *testing.T) {
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

// TestCreatePrivateOwnerAsRoot: what root creates belongs to the owner of the folder, and
// what is there already stays with its owner. A link leads nowhere.
func TestCreatePrivateOwnerAsRoot(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "outside")
	fresh, old, link := filepath.Join(dir, "fresh"), filepath.Join(dir, "old"), filepath.Join(dir, "link")
	must(t, os.WriteFile(old, nil, 0o600))
	must(t, os.WriteFile(outside, nil, 0o640))
	must(t, os.Symlink(outside, link))
	self := [2]int{os.Geteuid(), os.Getegid()}
	folder := self
	if self[0] == 0 {
		folder = [2]int{12345, 23456}
		must(t, os.Chown(dir, folder[0], folder[1]))
	}
	for path, want := range map[string][2]int{fresh: folder, old: self} {
		must(t, osutil.CreatePrivate(path))
		owner := stat(t, path).Sys().(*syscall.Stat_t)
		if got := [2]int{int(owner.Uid), int(owner.Gid)}; got[0] != want[0] || want == folder && got != want && self[0] == 0 {
			t.Errorf("%s: owner and group %v, not %v", path, got, want)
		}
	}
	if err := osutil.CreatePrivate(link); !errors.Is(err, syscall.ELOOP) || stat(t, outside).Mode() != 0o640 {
		t.Errorf("a link: %v, mode %v", err, stat(t, outside).Mode())
	}
}

// TestRenameNothing: a file that is not there has no other disk either. Linux says so
// of a name on another disk before it looks for the file.
func TestRenameNothing(t *testing.T) {
	t.Parallel()
	must(t, osutil.RenameIfExists(filepath.Join(t.TempDir(), "missing"), "/proc/missing"))
}
