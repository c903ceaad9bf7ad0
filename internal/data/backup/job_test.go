package backup_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// TestBackupOfLinkAlone checks that only one backup of a database runs at a time, even through a
// symbolic link.
func TestBackupOfLinkAlone(t *testing.T) {
	t.Parallel()
	path, link := newDatabase(t, 1), filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Skipf("cannot create symbolic links: %v", err)
	}
	release, err := sqlite.LockFile(path + "-backup-lock")
	must(t, err)
	_, err = backup.Job{Format: format, Source: link, Target: filepath.Join(t.TempDir(), "x.db")}.Run(t.Context())
	if !errors.Is(err, backup.ErrRunning) {
		t.Errorf("during another backup: %v", err)
	}
	must(t, release())
	target := filepath.Join(t.TempDir(), "x.db")
	to := filepath.Join(t.TempDir(), "target.db")
	must(t, os.Symlink(target, to))
	makeBackup(t, link, to)
	if info, err := os.Lstat(target); err != nil || !info.Mode().IsRegular() {
		t.Errorf("no backup at the target of the link: %v", err)
	}
}

// disk returns the space of a disk with this size and free bytes.
func disk(free, total int64) backup.Space {
	return func(string) (osutil.Space, error) { return osutil.Space{Free: free, Total: total}, nil }
}

// TestRoom checks that a backup does not start if there is not enough space.
func TestRoom(t *testing.T) {
	t.Parallel()
	const mega = 1 << 20
	for _, tt := range []struct {
		name           string
		size, free, of int64
		reserved       func(osutil.Space) int64
		fits           bool
	}{
		{"plenty", 10 * mega, 100 * mega, 1000 * mega, nil, true},
		{"just", 10 * mega, 12 * mega, 1000 * mega, nil, true},
		{"not quite", 10 * mega, 12*mega - 1, 1000 * mega, nil, false},
		{"full", 0, 0, 1000 * mega, nil, false},
		{"just above the last tenth", 10 * mega, 112 * mega, 1000 * mega, backup.Reserved, true},
		{"a large disk that is almost full", 10 * mega, 1036 * mega, 1 << 40, backup.Reserved, true},
		{"into its last GiB", 10 * mega, 1036*mega - 1, 1 << 40, backup.Reserved, false},
		{"into the last tenth", 10 * mega, 112*mega - 1, 1000 * mega, backup.Reserved, false},
	} {
		err := backup.RoomFor(disk(tt.free, tt.of), tt.reserved)("/backups", tt.size)
		var room *backup.RoomError
		if errors.As(err, &room) == tt.fits || !tt.fits && (room.Folder != "/backups" || room.Free != tt.free || room.Need <= tt.free) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	target := filepath.Join(t.TempDir(), "x.db")
	_, err := backup.Job{Format: format, Source: newDatabase(t, 10), Target: target}.On(disk(mega, 1000*mega)).Run(t.Context())
	const numbers = ": 1.0 MB free, 1.2 MB required"
	if found := names(t, filepath.Dir(target)); len(found) > 0 || err == nil ||
		err.Error() != fmt.Sprintf("not enough space in %q", filepath.Dir(target))+numbers || backup.Reason(err) != "not enough space for backups"+numbers {
		t.Errorf("%v; files %q", err, found)
	}
	lost := func(string) (osutil.Space, error) { return osutil.Space{}, errors.New("no such disk") }
	if _, err := (backup.Job{Format: format, Source: newDatabase(t, 1), Target: target}).On(lost).Run(t.Context()); !errors.As(err, new(*backup.Error)) {
		t.Errorf("with a failing disk: %v", err)
	}
}

// TestBackupStopped checks that a backup stopped at any point leaves no files.
func TestBackupStopped(t *testing.T) {
	t.Parallel()
	db, dir := largeDatabase(t, 10), t.TempDir()
	for name, now := range map[string]func(done, total int) bool{
		"while it copies": func(int, int) bool { return true },
		"while it checks": func(done, total int) bool { return done == total },
	} {
		ctx, stop := context.WithCancel(t.Context())
		_, err := backup.Job{Format: format, Source: db, Target: filepath.Join(dir, "x.db"), Progress: func(done, total int) {
			if now(done, total) {
				stop()
			}
		}}.Run(ctx)
		if found := names(t, dir); !errors.Is(err, context.Canceled) || len(found) > 0 {
			t.Errorf("%s: %v; files %q", name, err, found)
		}
	}
}

// TestBackupDiffers checks that a valid copy of another state is rejected.
func TestBackupDiffers(t *testing.T) {
	t.Parallel()
	target, other := filepath.Join(t.TempDir(), "x.db"), filepath.Join(t.TempDir(), "other.db")
	makeBackup(t, newDatabase(t, 1), other)
	job := backup.Job{Format: format, Source: newDatabase(t, 1), Target: target}
	job.Progress = func(int, int) { copyOf(t, other, job.Partial()) }
	if _, err := job.Run(t.Context()); !errors.Is(err, sqlite.ErrCorrupt) || exists(target) {
		t.Error(err)
	}
}

// TestBackupMeetsAnother checks that a file created during the backup is not overwritten.
func TestBackupMeetsAnother(t *testing.T) {
	t.Parallel()
	target := filepath.Join(t.TempDir(), "x.db")
	_, err := backup.Job{Format: format, Source: newDatabase(t, 10), Target: target, Progress: func(int, int) {
		must(t, os.WriteFile(target, []byte("precious"), 0o600))
	}}.Run(t.Context())
	if found := contents(t, filepath.Dir(target)); !errors.Is(err, backup.ErrExists) || len(found) != 1 || found["x.db"] != "precious" {
		t.Errorf("%v; files %q", err, found)
	}
}

// TestLeftover checks that a killed backup which already has its name is not written to.
func TestLeftover(t *testing.T) {
	t.Parallel()
	db, dir := newDatabase(t, 10), t.TempDir()
	first := backup.Job{Format: format, Source: db, Target: filepath.Join(dir, "first.db")}
	makeBackup(t, db, first.Target)
	must(t, os.Link(first.Target, first.Partial()))
	must(t, os.WriteFile(first.Partial()+"-journal", nil, 0o600))
	execSQL(t, db, `DELETE FROM firefighters`)
	second := filepath.Join(dir, "second.db")
	makeBackup(t, db, second)
	if found := names(t, dir); len(found) != 2 || records(t, first.Target) != 10 || records(t, second) != 0 {
		t.Errorf("files %q", found)
	}
}

// TestPartial checks that two databases with the same name can be saved to one folder at the same
// time.
func TestPartial(t *testing.T) {
	t.Parallel()
	one := backup.Job{Source: "/a/x.db", Target: "/backups/x.db"}
	two := backup.Job{Source: "/b/x.db", Target: "/backups/x.db"}
	if one.Partial() == two.Partial() || filepath.Dir(one.Partial()) != filepath.FromSlash("/backups") {
		t.Errorf("%s and %s", one.Partial(), two.Partial())
	}
}

// TestBackupKilled checks that a backup killed at any step leaves no backup, and that the next one
// removes the leftovers.
func TestBackupKilled(t *testing.T) {
	t.Parallel()
	db, dir := largeDatabase(t, 50), t.TempDir()
	target := filepath.Join(dir, "x.db")
	for _, step := range []string{"Room 1", "Progress 1", "Progress 2", "Check 1"} {
		kill(t, program("backup", step, db, target), step)
		if exists(target) || len(names(t, dir)) != 1 {
			t.Errorf("killed at %s: files %q", step, names(t, dir))
		}
	}
	_, err := backup.Job{Format: format, Source: db, Target: target, Force: true}.Run(t.Context())
	if found := names(t, dir); err != nil || len(found) != 1 || records(t, target) != 50 || exists(db+"-backup-lock") {
		t.Errorf("%v; files %q", err, found)
	}
}
