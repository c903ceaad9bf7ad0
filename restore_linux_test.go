package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
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
