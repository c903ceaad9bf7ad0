//go:build unix

package osutil_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

func stat(t *testing.T, path string) fs.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	return info
}

// TestCreatePrivateOwnerAsRoot checks that a file created by root belongs to the owner of the folder,
// that an existing file keeps its owner, and that a link is rejected.
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
			t.Errorf("%s: owner and group %v, want %v", path, got, want)
		}
	}
	if err := osutil.CreatePrivate(link); !errors.Is(err, syscall.ELOOP) || stat(t, outside).Mode() != 0o640 {
		t.Errorf("a link: %v, mode %v", err, stat(t, outside).Mode())
	}
}

func TestLocale(t *testing.T) {
	for locale, want := range map[string]string{
		"hr_HR.UTF-8": "hr HR", "sr-Latn-RS": "sr RS", "de_AT@euro": "de AT", "hr": "hr ", "C": "c ", "C.UTF-8": "c ",
	} {
		t.Setenv("LC_ALL", locale)
		if got := osutil.Language() + " " + osutil.Country(); got != want {
			t.Errorf("%q: %q, want %q", locale, got, want)
		}
	}
}
