package sqlite_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	driver "modernc.org/sqlite"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

const nobody = 65534

// asNobody calls do, as an unprivileged user if the tests run as root.
func asNobody(do func()) {
	done := make(chan bool)
	go func() {
		defer close(done)
		if os.Geteuid() == 0 {
			runtime.LockOSThread() // the thread ends with the goroutine
			syscall.RawSyscall(syscall.SYS_SETRESUID, nobody, nobody, nobody)
		}
		do()
	}()
	<-done
}

// TestForbidden checks that missing permissions give the same error, whether the file, its folder
// or SQLite is affected.
func TestForbidden(t *testing.T) {
	t.Parallel()
	path := created(t)
	folder := filepath.Dir(path)
	t.Cleanup(func() { os.Chmod(folder, 0o700) })
	must(t, os.Chmod(filepath.Dir(folder), 0o755))
	if os.Geteuid() == 0 {
		must(t, errors.Join(os.Chown(path, nobody, nobody), os.Chown(folder, nobody, nobody)))
	}
	attempts := map[string]func() error{
		"inspecting": func() error { return toy.Inspect(path) },
		"verifying":  func() error { _, err := toy.Verify(path); return err },
		"opening":    func() error { _, err := sqlite.Open(path, sqlite.Options{}); return err },
		"locking":    func() error { _, err := sqlite.LockDatabase(path); return err },
	}
	for _, tt := range []struct {
		file, folder fs.FileMode
		fail         string
	}{
		{0o000, 0o700, "inspecting verifying opening"},
		{0o600, 0o000, "inspecting verifying opening locking"},
		{0o600, 0o500, "opening locking"}, // the file remains readable
		{0o400, 0o500, "opening locking"},
	} {
		must(t, os.Chmod(path, tt.file))
		must(t, os.Chmod(folder, tt.folder))
		for doing, attempt := range attempts {
			var err error
			asNobody(func() { err = attempt() })
			if strings.Contains(tt.fail, doing) != errors.Is(err, sqlite.ErrPermission) || errors.Is(err, sqlite.ErrReadOnly) {
				t.Errorf("%s a file %v in a folder %v: %v", doing, tt.file, tt.folder, err)
			}
			if err != nil && !errors.As(err, new(*sqlite.FileError)) {
				t.Errorf("%s: %#v", doing, err)
			}
		}
		must(t, os.Chmod(folder, 0o700))
		must(t, os.Chmod(path, 0o600))
		os.Remove(path + "-lock")
	}
}

// TestReadOnlyDiskAsRoot checks that a database on a read-only disk can be read unless it has a
// -wal, and that other operations return ErrReadOnly.
func TestReadOnlyDiskAsRoot(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a disk")
	}
	folder := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "tmpfs", folder).CombinedOutput(); err != nil {
		t.Skipf("no disk can be mounted here: %s", out)
	}
	t.Cleanup(func() { exec.Command("umount", folder).Run() })
	plain, wal, live := filepath.Join(folder, "plain.db"), filepath.Join(folder, "wal.db"), filepath.Join(folder, "live.db")
	create(t, plain)
	create(t, wal)
	change(t, wal, "")
	crashed(t, live, addNote)
	must(t, exec.Command("mount", "-o", "remount,ro", folder).Run())
	for path, readable := range map[string]bool{plain: true, wal: true, live: false} {
		must(t, toy.Inspect(path))
		if _, err := toy.Verify(path); (err == nil) != readable || err != nil && !errors.Is(err, sqlite.ErrReadOnly) {
			t.Errorf("%s: %v", path, err)
		}
		for doing, attempt := range map[string]func() error{
			"opening": func() error { _, err := sqlite.Open(path, sqlite.Options{}); return err },
			"locking": func() error { _, err := sqlite.LockDatabase(path); return err },
		} {
			if err := attempt(); !errors.Is(err, sqlite.ErrReadOnly) || !errors.Is(err, sqlite.ErrPermission) {
				t.Errorf("%s %s: %v", doing, path, err)
			}
		}
	}
}

// TestFdatasync checks that commits do not wait until the time of the file is on disk.
func TestFdatasync(t *testing.T) {
	if !driver.FdatasyncEnabled() {
		t.Error("SQLite calls fsync")
	}
}

// TestOwnWALAsRoot checks that the -wal does not fill a disk with space for the database: a checkpoint
// starts in time, and a transaction that no checkpoint could copy fails.
func TestOwnWALAsRoot(t *testing.T) {
	t.Parallel()
	path := filepath.Join(smallDisk(t, "4m"), "x.db")
	create(t, path)
	db, err := sqlite.Open(path, sqlite.Options{})
	must(t, err)
	defer db.Close()
	body := strings.Repeat("x", 3000)
	for i := range 2500 { // changes of the same page: 10 MB in the -wal
		must(t, db.Write(func(tx *sqlite.Tx) error {
			_, err := tx.Exec(`INSERT OR REPLACE INTO notes (id, at, body) VALUES (1, ?, ?)`, int64(i), body)
			return err
		}))
	}
	err = db.WriteLong(func(tx *sqlite.Tx) error {
		for range 700 { // 3 MB
			if err := tx.ExecOne(insertNote, tx.Now, body); err != nil {
				return err
			}
		}
		return nil
	})
	wants(t, err, sqlite.ErrFull)
	if must(t, note(db, "x")); noteCount(t, db) != 2 {
		t.Errorf("%d rows", noteCount(t, db))
	}
}

// smallDisk returns the folder of a disk of a size such as 4m.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a disk")
	}
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("mounting is not possible here: %s", out)
	}
	t.Cleanup(func() { exec.Command("umount", dir).Run() })
	return dir
}

// TestVacuumWithoutSpaceAsRoot checks that a rewrite for which the disk is too small does not fill it.
func TestVacuumWithoutSpaceAsRoot(t *testing.T) {
	t.Parallel()
	path := filepath.Join(smallDisk(t, "4m"), "x.db")
	create(t, path)
	db, err := sqlite.Open(path, sqlite.Options{})
	must(t, err)
	defer db.Close()
	for range 750 { // 3 MB
		must(t, note(db, strings.Repeat("x", 3000)))
	}
	wants(t, sqlite.Vacuum(t.Context(), path), sqlite.ErrFull)
	if info, err := os.Stat(path + "-wal"); err != nil || info.Size() > 0 {
		t.Errorf("the -wal: %v, %v", info, err)
	}
	must(t, note(db, "y"))
}

// TestReusedWALAsRoot checks that a transaction may use the space in the -wal that an earlier one left.
func TestReusedWALAsRoot(t *testing.T) {
	t.Parallel()
	dir := smallDisk(t, "64m")
	path := filepath.Join(dir, "x.db")
	create(t, path)
	db, err := sqlite.Open(path, sqlite.Options{})
	must(t, err)
	defer db.Close()
	body := strings.Repeat("x", 3000)
	fill := func(rows int) error {
		return db.WriteLong(func(tx *sqlite.Tx) error {
			for range rows {
				if err := tx.ExecOne(insertNote, tx.Now, body); err != nil {
					return err
				}
			}
			return nil
		})
	}
	must(t, fill(4500))                         // a -wal of 18 MB
	for frames := int64(4096); frames > 1000; { // until the -wal has restarted
		must(t, note(db, "y"))
		frames, _, err = db.Frames()
		must(t, err)
	}
	var space syscall.Statfs_t
	must(t, syscall.Statfs(dir, &space))
	must(t, os.WriteFile(filepath.Join(dir, "other"), make([]byte, int64(space.Bavail)*space.Bsize-3<<20), 0o600))
	must(t, fill(500)) // 2 MB in the database
	wants(t, fill(1500), sqlite.ErrFull)
}
