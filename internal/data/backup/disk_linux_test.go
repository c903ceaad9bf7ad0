package backup_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// asNobody calls do as a user who can read only public files.
func asNobody(do func()) {
	done := make(chan bool)
	go func() {
		defer close(done)
		runtime.LockOSThread() // the thread ends with the goroutine
		syscall.Setfsuid(65534)
		do()
	}()
	<-done
}

// openFolders lets all users read the folders above path.
func openFolders(t *testing.T, path string) {
	t.Helper()
	for folder := filepath.Dir(path); folder != os.TempDir() && folder != "/"; folder = filepath.Dir(folder) {
		must(t, os.Chmod(folder, 0o755))
	}
}

// TestUnwritableFolderAsRoot checks that no backup is created in an unwritable folder.
func TestUnwritableFolderAsRoot(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	db, target := newDatabase(t, 5), filepath.Join(t.TempDir(), "x.db")
	openFolders(t, db)
	openFolders(t, target)
	must(t, os.Chmod(filepath.Dir(db), 0o777))
	must(t, os.Chmod(db, 0o666))
	asNobody(func() {
		_, err := backup.Job{Format: format, Source: db, Target: target}.Run(t.Context())
		var known *backup.Error
		if !errors.As(err, &known) || known.Op != backup.OpWrite || known.Path != target || !errors.Is(err, backup.ErrUnwritable) {
			t.Error(err)
		}
		err = backup.CheckFolder(filepath.Dir(target), db)
		if !errors.As(err, &known) || known.Op != backup.OpWrite || !errors.Is(err, os.ErrPermission) {
			t.Error(err)
		}
	})
}

// mount mounts a disk in memory and returns its folder.
func mount(t *testing.T, options string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a disk")
	}
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", options, "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("no disk can be mounted here: %s", out)
	}
	t.Cleanup(func() { exec.Command("umount", dir).Run() })
	return dir
}

// TestBoundFolderAsRoot checks that the folder of the database is rejected through another path. On macOS,
// a path with other upper and lower case is one.
func TestBoundFolderAsRoot(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a folder")
	}
	db, stick := newDatabase(t, 1), t.TempDir()
	for _, at := range []string{stick, filepath.Join(stick, backup.OwnFolder)} {
		must(t, os.MkdirAll(at, 0o700))
		if out, err := exec.Command("mount", "--bind", filepath.Dir(db), at).CombinedOutput(); err != nil {
			t.Skipf("no folder can be mounted here: %s", out)
		}
		_, err := backup.ChooseFolder(stick, db, func(string) bool { return false })
		exec.Command("umount", at).Run()
		if !errors.Is(err, backup.ErrAtDatabase) {
			t.Errorf("%s: %v", at, err)
		}
	}
}

// TestSmallDiskAsRoot fills a real disk.
func TestSmallDiskAsRoot(t *testing.T) {
	t.Parallel()
	dir := mount(t, "size=2m")
	target := filepath.Join(dir, "x.db")
	job := backup.Job{Format: format, Source: largeDatabase(t, 10), Target: target}
	_, err := job.Run(t.Context())
	var room *backup.RoomError
	if !errors.As(err, &room) || room.Folder != dir || room.Free > 2<<20 || room.Need < 12e6 {
		t.Error(err)
	}
	_, err = job.On(disk(1<<40, 1<<40)).Run(t.Context()) // as if something else filled the disk
	var known *backup.Error
	if !errors.As(err, &known) || known.Op != backup.OpWrite || known.Path != target || !errors.Is(err, sqlite.ErrFull) ||
		backup.Reason(err) != sqlite.ResultError(13).Error() || len(names(t, dir)) > 0 {
		t.Errorf("%v; files %q", err, names(t, dir))
	}
}

// TestEncryptedDiskFullAsRoot checks that a full disk keeps no part of an encrypted backup, and that
// no unencrypted copy remains next to the database.
func TestEncryptedDiskFullAsRoot(t *testing.T) {
	t.Parallel()
	db, dir := newDatabase(t, 500), mount(t, "size=64k")
	_, to := newKey(t)
	_, err := backup.Job{Format: format, Source: db, Target: filepath.Join(dir, "x.age"), EncryptTo: to}.On(plenty).Run(t.Context())
	if !errors.Is(err, sqlite.ErrFull) || len(names(t, dir)) > 0 || len(names(t, filepath.Dir(db))) != 1 {
		t.Errorf("%v; files %q, next to the database %q", err, names(t, dir), names(t, filepath.Dir(db)))
	}
}
