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

// TestBackupOfLinkAlone: by whatever name a database is called, one backup of it is made
// at a time.
func TestBackupOfLinkAlone(t *testing.T) {
	t.Parallel()
	path, link := newDatabase(t, 1), filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Skipf("no links can be made here: %v", err)
	}
	release, err := sqlite.LockFile(path + "-backup-lock")
	must(t, err)
	_, err = backup.Job{Format: format, Source: link, Target: filepath.Join(t.TempDir(), "x.db")}.Run(t.Context())
	if !errors.Is(err, backup.ErrRunning) {
		t.Errorf("beside another backup: %v", err)
	}
	must(t, release())
	target := filepath.Join(t.TempDir(), "x.db")
	to := filepath.Join(t.TempDir(), "target.db")
	must(t, os.Symlink(target, to))
	makeBackup(t, link, to)
	if info, err := os.Lstat(target); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the backup is not where the link leads: %v", err)
	}
}

// disk returns the room of a disk of this size with so much free.
func disk(free, total int64) backup.Space {
	return func(string) (osutil.Space, error) { return osutil.Space{Free: free, Total: total}, nil }
}

// TestRoom: a backup that does not fit is not begun.
func TestRoom(t *testing.T) {
	t.Parallel()
	const mega = 1 << 20
	for _, tt := range []struct {
		name           string
		size, free, of int64
		part           int64
		fits           bool
	}{
		{"plenty", 10 * mega, 100 * mega, 1000 * mega, 0, true},
		{"just", 10 * mega, 12 * mega, 1000 * mega, 0, true},
		{"not quite", 10 * mega, 12*mega - 1, 1000 * mega, 0, false},
		{"full", 0, 0, 1000 * mega, 0, false},
		{"just above the last tenth", 10 * mega, 112 * mega, 1000 * mega, backup.ReservedPart, true},
		{"into the last tenth", 10 * mega, 112*mega - 1, 1000 * mega, backup.ReservedPart, false},
	} {
		err := backup.RoomFor(disk(tt.free, tt.of), tt.part)("/backups", tt.size)
		var room *backup.RoomError
		if errors.As(err, &room) == tt.fits || !tt.fits && (room.Folder != "/backups" || room.Free != tt.free || room.Need <= tt.free) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	target := filepath.Join(t.TempDir(), "x.db")
	_, err := backup.Job{Format: format, Source: newDatabase(t, 10), Target: target}.On(disk(mega, 1000*mega)).Run(t.Context())
	const numbers = ": 1.0 MB are free, and 1.1 MB must be"
	if found := names(t, filepath.Dir(target)); len(found) > 0 || err == nil ||
		err.Error() != fmt.Sprintf("too little room in %q", filepath.Dir(target))+numbers || backup.Reason(err) != "too little room for backups"+numbers {
		t.Errorf("%v; there is %q", err, found)
	}
	lost := func(string) (osutil.Space, error) { return osutil.Space{}, errors.New("no such disk") }
	if _, err := (backup.Job{Format: format, Source: newDatabase(t, 1), Target: target}).On(lost).Run(t.Context()); !errors.As(err, new(*backup.Error)) {
		t.Errorf("a disk that does not answer: %v", err)
	}
}

// TestBackupStopped: a backup that is stopped leaves nothing, wherever it is.
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
			t.Errorf("%s: %v, and there is %q", name, err, found)
		}
	}
}

// TestBackupDiffers: a copy that is sound but not of its source gets no name.
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

// TestBackupMeetsAnother: a file that is made while the copy is made stays.
func TestBackupMeetsAnother(t *testing.T) {
	t.Parallel()
	target := filepath.Join(t.TempDir(), "x.db")
	_, err := backup.Job{Format: format, Source: newDatabase(t, 10), Target: target, Progress: func(int, int) {
		must(t, os.WriteFile(target, []byte("precious"), 0o600))
	}}.Run(t.Context())
	if found := contents(t, filepath.Dir(target)); !errors.Is(err, backup.ErrExists) || len(found) != 1 || found["x.db"] != "precious" {
		t.Errorf("%v; there is %q", err, found)
	}
}

// TestLeftover: what a killed backup left behind may have its name already, and
// is then not written to.
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
		t.Errorf("there is %q", found)
	}
}

// TestPartial: two databases of one name can be saved to one folder at once.
func TestPartial(t *testing.T) {
	t.Parallel()
	one := backup.Job{Source: "/a/x.db", Target: "/backups/x.db"}
	two := backup.Job{Source: "/b/x.db", Target: "/backups/x.db"}
	if one.Partial() == two.Partial() || filepath.Dir(one.Partial()) != filepath.FromSlash("/backups") {
		t.Errorf("%s and %s", one.Partial(), two.Partial())
	}
}

// TestBackupKilled: at whatever step it is killed there is no backup, and the
// next one removes what was left behind.
func TestBackupKilled(t *testing.T) {
	t.Parallel()
	db, dir := largeDatabase(t, 50), t.TempDir()
	target := filepath.Join(dir, "x.db")
	for _, step := range []string{"Room 1", "Progress 1", "Progress 2", "Check 1"} {
		kill(t, program("backup", step, db, target), step)
		if exists(target) || len(names(t, dir)) != 1 {
			t.Errorf("killed at %s: there is %q", step, names(t, dir))
		}
	}
	_, err := backup.Job{Format: format, Source: db, Target: target, Force: true}.Run(t.Context())
	if found := names(t, dir); err != nil || len(found) != 1 || records(t, target) != 50 || exists(db+"-backup-lock") {
		t.Errorf("%v; there is %q", err, found)
	}
}
