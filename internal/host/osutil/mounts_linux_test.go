package osutil

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestUnmountedAutomounts(t *testing.T) {
	t.Parallel()
	const info = "31 22 0:40 / /mnt/a rw - autofs systemd-1 rw\n32 22 0:41 / /mnt/b rw shared:3 - autofs systemd-1 rw\n33 32 8:1 / /mnt/b rw - ext4 /dev/sda1 rw\n" +
		"34 22 8:2 / /mnt/autofs\\040x rw - vfat /dev/autofs rw\nbroken - autofs\nbroken\n"
	all := parseMounts(info)
	if got := automounts(all); !slices.Equal(got, []string{"/mnt/a"}) {
		t.Errorf("got %q", got)
	}
	if last := all[len(all)-1]; len(all) != 4 || last != (mount{"8:2", "/mnt/autofs x", "vfat", "/dev/autofs"}) {
		t.Errorf("got %q", all)
	}
}

func TestMountPoints(t *testing.T) {
	t.Parallel()
	for _, m := range mounts() {
		if points := MountPoints(); m.point == "/" && !(slices.Contains(points[m.number], "/") && slices.Contains(points[m.source], "/")) {
			t.Errorf("no root in %q", points)
		}
	}
}

func FuzzParseMounts(f *testing.F) {
	f.Add("31 22 0:40 / /mnt/a\\040b rw - ext4 /dev/sda1 rw\n")
	f.Fuzz(func(t *testing.T, info string) { automounts(parseMounts(info)) })
}

func TestIsMountPoint(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	link := filepath.Join(folder, "link")
	if err := os.Symlink("/proc", link); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{"/proc": true, link: true, "/proc/version": false, folder: false, filepath.Join(folder, "missing"): false, "": false} {
		if IsMountPoint(path) != want {
			t.Errorf("IsMountPoint(%q) = %v", path, !want)
		}
	}
}
