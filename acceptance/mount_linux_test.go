package acceptance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// bind mounts a file or a folder at another path.
func bind(t *testing.T, from, to string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a file")
	}
	if out, err := exec.Command("mount", "--bind", from, to).CombinedOutput(); err != nil {
		t.Skipf("mounting is not possible here: %s", out)
	}
	t.Cleanup(func() { exec.Command("umount", to).Run() })
}

// mountedFile is the error of every command for a database file that is a mount point.
func mountedFile(path string) string {
	return fmt.Sprintf("Error: the database %q is itself a mount point: serving it under another path as well would damage it\n"+
		"Try: mount its folder instead (in Docker: -v with a folder)\n", path)
}

// TestMountedFileAsRoot checks that no command uses a database file that is a mount point: the
// lock and the -wal are next to the path, but the file has another path. A backup may be mounted.
func TestMountedFileAsRoot(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "mounted.db")
	must(t, os.WriteFile(path, nil, 0o600))
	refusesSecondPath(t, path, mountedFile(path), func(db string) { bind(t, db, path) }, func() {})
	works(t, "restore", path, "--db", filepath.Join(t.TempDir(), "new.db"))
}

// TestMountedFolderAsRoot checks that a mounted folder works: it contains the lock and the -wal,
// so a second service reports that the database is in use, and commands work through both paths.
// The same holds for a link.
func TestMountedFolderAsRoot(t *testing.T) {
	t.Parallel()
	s, folder, link := start(t), t.TempDir(), filepath.Join(t.TempDir(), "link.db")
	bind(t, filepath.Dir(s.db), folder)
	must(t, os.Symlink(s.db, link))
	for second, resolved := range map[string]string{filepath.Join(folder, "x.db"): filepath.Join(folder, "x.db"), link: s.db} {
		refuses(t, 1, inUse(resolved)+"Try: to open its page: firefighters open --db "+resolved+"\n",
			"serve", "--db", second, "--listen", "127.0.0.1:0")
		s.as(newKey(t, second, firstDepartment)).create(t, ana)
	}
	if l := s.list(t, ""); l.TotalCount != 2 {
		t.Errorf("%d records", l.TotalCount)
	}
}
