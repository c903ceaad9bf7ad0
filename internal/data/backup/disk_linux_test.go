package backup_test

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
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

// openFolders lets everybody read the folders above path.
func openFolders(t *testing.T, path string) {
	t.Helper()
	for folder := filepath.Dir(path); folder != os.TempDir() && folder != "/"; folder = filepath.Dir(folder) {
		must(t, os.Chmod(folder, 0o755))
	}
}

// TestUnreadableBackup: the error is about the backup, not the database.
func TestUnreadableBackup(t *testing.T) {
	t.Parallel()
	db, saved := backedUp(t)
	openFolders(t, saved)
	must(t, os.Chmod(saved, 0))
	asNobody(func() {
		_, err := restore(t, saved, db)
		var known *backup.Error
		if !errors.As(err, &known) || known.Op != backup.OpRead || known.Path != saved || !errors.Is(err, sqlite.ErrPermission) {
			t.Error(err)
		}
	})
}

// TestUnwritableFolderAsRoot: no backup can be made in it.
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
		_, err := backup.Job{Content: toy{}, Source: db, Target: target}.Run(t.Context())
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

// TestPruneFailsAsRoot: an old backup that cannot be deleted is a failure, and the new
// one is there all the same.
func TestPruneFailsAsRoot(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	db, dir, now := newDatabase(t, 5), t.TempDir(), noon
	old := saveAs(t, db, dir, noon.AddDate(0, 0, -1))
	openFolders(t, db)
	openFolders(t, old)
	must(t, os.Chmod(filepath.Dir(db), 0o777))
	must(t, os.Chmod(db, 0o666))
	must(t, os.Chmod(dir, 0o777|os.ModeSticky)) // in which one deletes only one's own files
	s, log := newScheduler(t, db, dir, 1, &now)
	asNobody(func() { s.Turn(t.Context()) })
	state := s.State()
	if state.OK || state.Detail != "an old backup cannot be deleted: operation not permitted" || !state.Last.Equal(noon) || len(names(t, dir)) != 2 {
		t.Errorf("%+v, log %s", state, log)
	}
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

// TestSmallDiskAsRoot fills a real one.
func TestSmallDiskAsRoot(t *testing.T) {
	t.Parallel()
	dir := mount(t, "size=2m")
	target := filepath.Join(dir, "x.db")
	job := backup.Job{Content: toy{}, Source: largeDatabase(t, 10), Target: target}
	_, err := job.Run(t.Context())
	var room *backup.RoomError
	if !errors.As(err, &room) || room.Folder != dir || room.Free > 2<<20 || room.Need < 12e6 {
		t.Error(err)
	}
	_, err = job.On(disk(1<<40, 1<<40)).Run(t.Context()) // as if it were filled meanwhile
	var known *backup.Error
	if !errors.As(err, &known) || known.Op != backup.OpWrite || known.Path != target || !errors.Is(err, sqlite.ErrFull) ||
		backup.Reason(err) != "the disk is full" || len(names(t, dir)) > 0 {
		t.Errorf("%v; there is %q", err, names(t, dir))
	}
}

// TestReadOnlyDiskAsRoot: the only copy may be on one. It can be saved and restored
// from there, without a file beside it.
func TestReadOnlyDiskAsRoot(t *testing.T) {
	t.Parallel()
	dir := mount(t, "size=20m")
	db, saved := backedUp(t)
	raw, copied := filepath.Join(dir, "x.db"), filepath.Join(dir, "saved.db")
	live, cut := filepath.Join(dir, "live.db"), filepath.Join(dir, "cut.db")
	copyOf(t, db, raw)
	copyOf(t, saved, copied)
	open := openDatabase(t, db)
	must(t, open.Write(func(tx *sqlite.Tx) error {
		return tx.ExecOne(`INSERT INTO items (kind, value) VALUES ('record', 'newest')`)
	}))
	for _, suffix := range []string{"", "-wal", "-shm"} {
		copyOf(t, db+suffix, live+suffix)
	}
	copyOf(t, db, cut)
	copyOf(t, db+"-wal", cut+"-wal")
	must(t, open.Close())
	if out, err := exec.Command("mount", "-o", "remount,ro", dir).CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	before := contents(t, dir)
	for file, want := range map[string]int{raw: 20, copied: 10, live: 21} {
		target, fresh := filepath.Join(t.TempDir(), "saved.db"), filepath.Join(t.TempDir(), "new.db")
		if makeBackup(t, file, target); records(t, target) != want {
			t.Errorf("%s: a backup of %d records", file, records(t, target))
		}
		if _, err := restore(t, file, fresh); err != nil || records(t, fresh) != want {
			t.Errorf("%s: %v", file, err)
		}
	}
	_, err := backup.Job{Content: toy{}, Source: cut, Target: db + "-x"}.Run(t.Context())
	_, restoreErr := restore(t, cut, db+"-y")
	if !errors.Is(err, sqlite.ErrReadOnly) || !errors.Is(restoreErr, sqlite.ErrReadOnly) || !errors.As(restoreErr, new(*backup.Error)) {
		t.Errorf("without its -shm: %v; %v", err, restoreErr)
	}
	if after := contents(t, dir); !maps.Equal(before, after) || osutil.Writable(dir) {
		t.Errorf("there is %q", names(t, dir))
	}
}

// TestEncryptedDiskFullAsRoot: a disk that turns out to be full has no part of an encrypted backup,
// and beside the database there is no plain one.
func TestEncryptedDiskFullAsRoot(t *testing.T) {
	t.Parallel()
	db, dir := newDatabase(t, 2000), mount(t, "size=64k")
	_, to := newKey(t)
	_, err := backup.Job{Content: toy{}, Source: db, Target: filepath.Join(dir, "x.age"), EncryptTo: to}.On(plenty).Run(t.Context())
	if !errors.Is(err, sqlite.ErrFull) || len(names(t, dir)) > 0 || len(names(t, filepath.Dir(db))) != 1 {
		t.Errorf("%v; there is %q, and beside the database %q", err, names(t, dir), names(t, filepath.Dir(db)))
	}
}
