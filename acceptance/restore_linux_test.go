package acceptance

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestRestoreUnreadable checks the error for a backup without permission to read it.
func TestRestoreUnreadable(t *testing.T) {
	t.Parallel()
	db, saved, _ := backedUp(t)
	for folder := filepath.Dir(saved); folder != os.TempDir() && folder != "/"; folder = filepath.Dir(folder) {
		must(t, os.Chmod(folder, 0o755))
	}
	must(t, os.Chmod(saved, 0))
	cmd, output := process(t, "restore", saved, "--db", db)
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	if counters := t.TempDir(); os.Chmod(counters, 0o777) == nil {
		cmd.Env = append(cmd.Env, "GOCOVERDIR="+counters) // a writable folder for -cover
	}
	want := fmt.Sprintf("Error: reading database %q: no permission to read and write the file or its folder\n"+
		"Try: run it as the owner of the file, or as an administrator\n", saved)
	if os.Geteuid() != 0 { // the owner
		want = fmt.Sprintf("Error: reading database %[1]q: no permission to read and write %[1]q\n"+
			"Try: run it as the owner of the file, or as an administrator\nTry: if you are the owner: chmod 600 %[1]s\n", saved)
	}
	if code := exitCode(t, cmd.Run()); code != 1 || output.String() != want {
		t.Errorf("code %d, %s", code, output)
	}
}

// TestReadOnlyDiskAsRoot checks that a copy on a read-only disk can be backed up and restored.
func TestReadOnlyDiskAsRoot(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a disk")
	}
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("mounting is not possible here: %s", out)
	}
	t.Cleanup(func() { exec.Command("umount", dir).Run() })
	db, saved, keys := backedUp(t)
	whole, cut := filepath.Join(dir, "x.db"), filepath.Join(dir, "cut.db")
	copyOf(t, saved, whole)
	s := startOn(t, db)
	s.as(keys[0]).create(t, ana)
	copyOf(t, db, cut)
	copyOf(t, db+"-wal", cut+"-wal")
	s.stop(t)
	must(t, os.Link(whole, filepath.Join(dir, "SHORT~1.DB"))) // like NTFS-3G, which counts short names as links
	if out, err := exec.Command("mount", "-o", "remount,ro", dir).CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	before := contents(t, dir)
	target, fresh := filepath.Join(t.TempDir(), "saved.db"), filepath.Join(t.TempDir(), "new.db")
	works(t, "backup", target, "--db", whole)
	works(t, "restore", whole, "--db", fresh)
	if recordsIn(t, target) != 10 || recordsIn(t, fresh) != 10 {
		t.Errorf("saved: %d records, restored: %d", recordsIn(t, target), recordsIn(t, fresh))
	}
	const hint = "Try: copy the file, and its -wal if there is one, to another disk\n"
	refuses(t, 1, fmt.Sprintf("Error: reading database %q: the disk is read-only\n", cut)+hint, "backup", db+"-x", "--db", cut)
	refuses(t, 1, fmt.Sprintf("Error: the backup %q cannot be read from a read-only disk\n", cut)+hint,
		"restore", cut, "--db", db+"-y")
	if after := contents(t, dir); !maps.Equal(before, after) {
		t.Errorf("the files changed to %q", namesIn(t, dir))
	}
}
