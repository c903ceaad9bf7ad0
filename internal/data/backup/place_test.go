package backup_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// TestPlace checks that CheckPlace reports a folder for other disks that is on the disk of the
// database.
func TestPlace(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	if err := backup.PlaceOnOneDisk(filepath.Join(t.TempDir(), "backups"), db); err != nil {
		t.Error(err)
	}
	for _, folder := range osutil.FoldersOfDisks {
		stick := filepath.Join(folder, "stick")
		if err := backup.PlaceOnOneDisk(stick, db); err != backup.ErrPerhapsAway {
			t.Errorf("%s: %v", stick, err)
		}
		if err := backup.PlaceOnOneDisk(stick, filepath.Join(folder, "data", "x.db")); err != nil {
			t.Errorf("%s, with the database: %v", stick, err)
		}
	}
}

// TestChooseFolder checks the rules for a folder that someone types.
func TestChooseFolder(t *testing.T) {
	t.Parallel()
	base, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	in := func(names ...string) string { return filepath.Join(append([]string{base}, names...)...) }
	db := in("data", "x.db")
	for _, folder := range []string{in("data"), in("stick"), in("hidden"), in("around", backup.OwnFolder)} {
		must(t, os.MkdirAll(folder, 0o700))
	}
	must(t, os.WriteFile(in("file"), nil, 0o600))
	hides := func(path string) bool { return strings.HasPrefix(path, in("hidden")) }
	for folder, want := range map[string]string{
		"": "relative", "backups": "relative", in("stick") + "\n": "relative",
		`\\server\share`: "network", "//server/share": "network", `/\server\share`: "network", "smb://server/share": "network",
		`\\?\C:\backups`: "network", `\\.\PhysicalDrive1`: "network",
		in("data"): "database", in("data", "more"): "database", in("stick", "..", "data"): "database", in("hidden"): "hidden",
		in("missing"): "missing", in("missing", backup.OwnFolder): "missing", in("file"): "file", in("file", "below"): "other",
	} {
		if dir, err := backup.ChooseFolder(folder, db, hides); backup.FolderFault(err) != want || dir != "" {
			t.Errorf("%q: %q, %v", folder, dir, err)
		}
	}
	if _, err := backup.ChooseFolder(in("around"), in("around", backup.OwnFolder, "x.db"), hides); backup.FolderFault(err) != "database" {
		t.Errorf("around the database: %v", err)
	}
	want := in("stick", backup.OwnFolder)
	for range 2 { // the second time it is there
		for _, folder := range []string{in("stick"), in("stick") + "/", want} {
			if dir, err := backup.ChooseFolder(folder, db, hides); err != nil || dir != want || len(names(t, dir)) != 0 {
				t.Errorf("%s: %q, %v", folder, dir, err)
			}
		}
	}
	if err := os.Symlink(in("stick"), in("link")); err == nil { // Windows may not allow it
		if dir, err := backup.ChooseFolder(in("link"), db, hides); err != nil || dir != want {
			t.Errorf("a link: %q, %v", dir, err)
		}
	}
	must(t, os.Remove(want))
	if err := os.Symlink(in("data"), want); err == nil {
		if _, err := backup.ChooseFolder(in("stick"), db, hides); backup.FolderFault(err) != "database" {
			t.Errorf("a link with the name of the folder: %v", err)
		}
		must(t, os.Remove(want))
	}
	must(t, os.WriteFile(want, nil, 0o600))
	if _, err := backup.ChooseFolder(in("stick"), db, hides); backup.FolderFault(err) != "file" {
		t.Errorf("a file with the name of the folder: %v", err)
	}
}

// TestChooseFolderWithoutRights checks that a folder of another user is reported as such.
func TestChooseFolderWithoutRights(t *testing.T) {
	t.Parallel()
	if os.Geteuid() <= 0 {
		t.Skip("root may write to every folder")
	}
	folder := filepath.Join(t.TempDir(), "theirs")
	must(t, os.Mkdir(folder, 0o500))
	for _, path := range []string{folder, filepath.Join(folder, "below")} {
		_, err := backup.ChooseFolder(path, filepath.Join(t.TempDir(), "x.db"), func(string) bool { return false })
		if want := map[bool]string{true: "rights", false: "missing"}[path == folder]; backup.FolderFault(err) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestDiskAway checks that the state reports a disconnected backup disk, also after startup, and that
// no folder is created below its mount point. Once the disk is connected again, a backup is created
// at once.
func TestDiskAway(t *testing.T) {
	t.Parallel()
	db, dir, now, connected := newDatabase(t, 5), filepath.Join(t.TempDir(), "stick", "backups"), noon, true
	must(t, os.Mkdir(filepath.Dir(dir), 0o700))
	start := func() (*backup.Scheduler, *syncBuffer) {
		t.Helper()
		s, log := newScheduler(t, db, dir, 8, &now)
		s.SetPlace(func(a, b string) bool {
			onStick := func(path string) bool { return strings.HasPrefix(path, filepath.Dir(dir)) }
			return !connected || onStick(a) == onStick(b)
		})
		s.Begin(t.Context())
		s.Step(t.Context())
		return s, log
	}
	isAway := func(s *backup.Scheduler, since time.Time) {
		t.Helper()
		if state := s.State(); state.OK || state.Since == nil || !state.Since.Equal(since) || state.Detail != backup.ErrAway.Error() || strings.ContainsAny(state.Detail, `/\`) {
			t.Errorf("state without the disk: %+v", state)
		}
	}
	s, log := start()
	if state := s.State(); !state.OK || len(names(t, dir)) != 1 || strings.Count(log.String(), "\n") > 1 {
		t.Fatalf("initial state: %+v, log %s", state, log)
	}
	connected = false
	must(t, os.RemoveAll(dir))
	now = now.Add(time.Hour)
	s.Step(t.Context())
	isAway(s, now)
	since := now
	now = now.Add(day)
	s.Step(t.Context())
	if isAway(s, since); len(names(t, filepath.Dir(dir))) > 0 {
		t.Errorf("files in the mount point: %q", names(t, filepath.Dir(dir)))
	}
	must(t, os.Mkdir(dir, 0o700)) // created by someone else
	now = now.Add(time.Minute)
	s, log = start()
	isAway(s, now)
	if found := names(t, dir); len(found) != 1 || strings.Count(log.String(), "\n") != 1 || !strings.Contains(log.String(), backup.ErrAway.Error()) {
		t.Errorf("files %q, log %s", found, log)
	}
	connected = true
	must(t, os.RemoveAll(dir))
	now = now.Add(time.Minute)
	s.Step(t.Context())
	var back struct{ Msg string }
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	must(t, json.Unmarshal([]byte(lines[len(lines)-1]), &back))
	if state := s.State(); !state.OK || state.Since != nil || !state.Last.Equal(now) || back.Msg != "the backup disk is connected again" {
		t.Errorf("state with the disk: %+v, log %s", state, log)
	}
	if found := names(t, dir); !slices.Equal(found, []string{backup.FileName(db, now)}) {
		t.Errorf("files %q", found)
	}
	var noted string
	if !backup.ReadNote(db, "backupDisk", &noted) || noted != dir {
		t.Errorf("the notes name %q", noted)
	}
}

// TestSleepingDisk checks that an automounted disk is accessed only for a backup. A disk that is
// connected again gets a backup at once, even if its absence was only noticed by a failed backup.
func TestSleepingDisk(t *testing.T) {
	t.Parallel()
	db, dir, now, sleeps, looks := newDatabase(t, 5), filepath.Join(t.TempDir(), "stick", "backups"), noon, false, 0
	must(t, os.MkdirAll(dir, 0o700))
	s, log := newScheduler(t, db, dir, 8, &now)
	s.SetPlace(func(a, b string) bool { looks++; return a == b })
	s.SetUnmountedAutomounts(func() bool { return sleeps })
	step := func(later time.Duration) { now = now.Add(later); s.Step(t.Context()) }
	s.Begin(t.Context())
	step(0)
	free := s.State().Free
	sleeps, looks = true, 0
	step(time.Hour)
	if state := s.State(); looks > 0 || !state.OK || free == nil || state.Free != free {
		t.Errorf("unmounted: %d accesses, %+v", looks, state)
	}
	sleeps = false
	must(t, os.Rename(filepath.Dir(dir), filepath.Dir(dir)+"-away"))
	step(day)
	if s.State().Trouble != backup.DiskAway || s.Waits() != time.Hour {
		t.Errorf("state without the disk: %+v, waits %v", s.State(), s.Waits())
	}
	must(t, os.Rename(filepath.Dir(dir)+"-away", filepath.Dir(dir)))
	sleeps = true
	step(time.Minute)
	if state := s.State(); !state.OK || !state.Last.Equal(now) || len(names(t, dir)) != 2 {
		t.Errorf("state with the disk: %+v, files %q, log %s", state, names(t, dir), log)
	}
}
