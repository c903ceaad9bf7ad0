//go:build unix

package authority

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestOwnerAsRoot checks that files created by root belong to the owner of the folder.
func TestOwnerAsRoot(t *testing.T) {
	t.Parallel()
	s := newStation(t)
	want := uint32(os.Geteuid())
	if want == 0 {
		want = 12345
		must(t, os.Chown(filepath.Dir(s.folder), 12345, 23456))
	}
	s.open(t)
	must(t, Replace(s.options()))
	for _, name := range []string{"", authorityFile, serverFile, publicFile} {
		info, err := os.Stat(filepath.Join(s.folder, name))
		must(t, err)
		if owner := info.Sys().(*syscall.Stat_t).Uid; owner != want {
			t.Errorf("%q belongs to %d", name, owner)
		}
	}
}

// TestLinkedFolder checks that a link in place of the folder is rejected.
func TestLinkedFolder(t *testing.T) {
	t.Parallel()
	s, outside := newStation(t), t.TempDir()
	must(t, os.Symlink(outside, s.folder))
	if err := Replace(s.options()); err == nil {
		t.Error("Replace followed a link")
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("created %v, %v", entries, err)
	}
}
