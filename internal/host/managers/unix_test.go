//go:build !windows

package managers

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// trialAccount returns an unprivileged account if the test runs as root, and otherwise the account
// of the test, because only root can use another.
func trialAccount(t *testing.T) account {
	t.Helper()
	if os.Geteuid() == 0 {
		return account{65533, 65533}
	}
	return account{os.Geteuid(), os.Getegid()}
}

// reachable returns a folder that every user can enter.
func reachable(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "account-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	must(t, os.Chmod(folder, 0o755))
	return folder
}

// TestTakeAsRoot checks that the folder is private and belongs to the account with its content,
// except links, and that the account can write its files.
func TestTakeAsRoot(t *testing.T) {
	t.Parallel()
	account, folder := trialAccount(t), filepath.Join(reachable(t), "data")
	if steps, err := account.take(folder); err != nil || len(steps) != 1 {
		t.Fatalf("%q, %v", steps, err)
	}
	if steps, err := account.take(folder); err != nil || steps != nil {
		t.Errorf("second call: %q, %v", steps, err)
	}
	inside, outside := filepath.Join(folder, "x.db"), filepath.Join(filepath.Dir(folder), "outside")
	must(t, os.WriteFile(inside, nil, 0o400))
	must(t, os.WriteFile(outside, nil, 0o600))
	must(t, os.Link(outside, filepath.Join(folder, "hard")))
	must(t, os.Symlink(outside, filepath.Join(folder, "soft")))
	must(t, os.Chmod(folder, 0o755))
	_, err := account.take(folder)
	must(t, err)
	for file, want := range map[string]bool{folder: true, inside: true, outside: os.Geteuid() != 0} {
		if info, err := os.Stat(file); err != nil || account.owns(info) != want {
			t.Errorf("%s: %v; owned by the account: %v", file, err, !want)
		}
	}
	for path, want := range map[string]os.FileMode{folder: 0o700, inside: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

// TestShareAsRoot checks that a new or empty folder gets the account as its owner, and that links
// and folders with content do not.
func TestShareAsRoot(t *testing.T) {
	t.Parallel()
	account, parent := trialAccount(t), reachable(t)
	folder := filepath.Join(parent, "backups")
	for range 2 {
		if err := account.share(folder); err != nil || !account.may("w", folder) {
			t.Fatalf("%v", err)
		}
	}
	if err := account.share(filepath.Join(parent, "missing", "backups")); !os.IsNotExist(err) {
		t.Errorf("without its parent: %v", err)
	}
	empty, link := filepath.Join(parent, "empty"), filepath.Join(parent, "link")
	must(t, os.Mkdir(empty, 0o500))
	must(t, os.Symlink(empty, link))
	if err := account.share(link); !os.IsPermission(err) {
		t.Errorf("a link: %v", err)
	}
	if info, err := os.Stat(empty); err != nil || account.owns(info) != (os.Geteuid() != 0) {
		t.Errorf("a link changed the owner of its target: %v", err)
	}
	foreign := filepath.Join(parent, "foreign")
	must(t, os.Mkdir(foreign, 0o700))
	must(t, os.WriteFile(filepath.Join(foreign, "x"), nil, 0o600))
	must(t, os.Chmod(foreign, 0o500))
	defer os.Chmod(foreign, 0o700) // so that the test can remove it
	if err := account.share(foreign); !os.IsPermission(err) {
		t.Errorf("a folder of another user: %v", err)
	}
	if account.may("r", filepath.Join(foreign, "x")) != (os.Geteuid() != 0) {
		t.Error("may is wrong about a private file")
	}
}

// TestShareClosedAsRoot checks that share creates nothing if the account cannot enter a parent
// folder, such as /media/USER on a desktop.
func TestShareClosedAsRoot(t *testing.T) {
	t.Parallel()
	account := trialAccount(t)
	closed := filepath.Join(reachable(t), "person")
	stick := filepath.Join(closed, "stick")
	must(t, os.MkdirAll(stick, 0o755))
	must(t, os.Chmod(closed, 0o600))
	err := account.share(filepath.Join(stick, "backups"))
	must(t, os.Chmod(closed, 0o700))
	if created, _ := filepath.Glob(stick + "/*"); !errors.Is(err, os.ErrPermission) || created != nil {
		t.Errorf("%v, %q", err, created)
	}
}

// TestTailOf checks that only the end of a large log is read.
func TestTailOf(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "log")
	if text := tailOf(name); text != "" {
		t.Errorf("without a log: %q", text)
	}
	must(t, os.WriteFile(name, []byte(strings.Repeat("x", 1<<20)+"end"), 0o600))
	if text := tailOf(name); len(text) != 64<<10 || !strings.HasSuffix(text, "xend") {
		t.Errorf("tailOf returns %d bytes of a large log", len(text))
	}
}
