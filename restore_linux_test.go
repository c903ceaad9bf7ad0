package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// asNobody does something as a user who may read nothing that is not for all.
func asNobody(do func()) {
	done := make(chan bool)
	go func() {
		defer close(done)
		runtime.LockOSThread() // and the thread ends with the goroutine
		syscall.Setfsuid(65534)
		do()
	}()
	<-done
}

// TestRestoreUnreadable: it is the backup that may not be read, and no --db
// helps.
func TestRestoreUnreadable(t *testing.T) {
	t.Parallel()
	db, saved, _ := backedUp(t)
	for folder := filepath.Dir(saved); folder != os.TempDir() && folder != "/"; folder = filepath.Dir(folder) {
		must(t, os.Chmod(folder, 0o755))
	}
	must(t, os.Chmod(saved, 0))
	asNobody(func() {
		code, _, stderr := command(t, "restore", saved, "--db", db)
		want := fmt.Sprintf("Error: the backup %q may not be read; nothing was changed\nTry: start as the user who owns it\n", saved)
		if code != 1 || stderr != want {
			t.Errorf("code %d, stderr %q", code, stderr)
		}
	})
}

// TestReadOnlyDisk: the only copy may be on one, and is saved and restored
// from there.
func TestReadOnlyDisk(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a disk")
	}
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("no disk can be mounted here: %s", out)
	}
	t.Cleanup(func() { exec.Command("umount", dir).Run() })
	db, saved, _ := backedUp(t)
	raw, backup, live := filepath.Join(dir, "x.db"), filepath.Join(dir, "saved.db"), filepath.Join(dir, "live.db")
	copyOf(t, db, raw)
	copyOf(t, saved, backup)
	s := startOn(t, db)
	s.as(newKey(t, db, "default")).create(t, ana)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		copyOf(t, db+suffix, live+suffix)
	}
	cut := filepath.Join(dir, "cut.db")
	copyOf(t, db, cut)
	copyOf(t, db+"-wal", cut+"-wal")
	s.stop(t)
	if out, err := exec.Command("mount", "-o", "remount,ro", dir).CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	before := contents(t, dir)
	for file, records := range map[string]int{raw: 20, backup: 10, live: 21} {
		target := filepath.Join(t.TempDir(), "saved.db")
		if code, _, stderr := command(t, "backup", target, "--db", file); code != 0 || recordsIn(t, target) != records {
			t.Errorf("backup: code %d, stderr %q", code, stderr)
		}
		anew := filepath.Join(t.TempDir(), "new.db")
		if code, _, stderr := command(t, "restore", file, "--db", anew); code != 0 || recordsIn(t, anew) != records {
			t.Errorf("restore: code %d, stderr %q", code, stderr)
		}
	}
	for _, args := range [][]string{{"backup", db + "-x", "--db", cut}, {"restore", cut, "--db", db + "-y"}} {
		if code, _, stderr := command(t, args...); code != 1 || !strings.Contains(stderr, "\nTry: "+readOnlyHint+"\n") {
			t.Errorf("%q without its -shm: code %d, stderr %q", args, code, stderr)
		}
	}
	if after := contents(t, dir); !maps.Equal(before, after) {
		t.Errorf("there is %q", namesIn(t, dir))
	}
}
