package backup_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/notes"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// drillOf tries out the newest backup in a folder, and makes sure that neither the
// database, nor what is beside it, nor the folder changes.
func drillOf(t *testing.T, d backup.Drill) (backup.Drilled, error) {
	t.Helper()
	d.Content = toy{}
	folder := filepath.Dir(d.Database)
	before, backups := contents(t, folder), contents(t, d.Dir)
	done, err := d.Run(t.Context())
	if after := contents(t, folder); !maps.Equal(before, after) {
		t.Errorf("there was %q and is %q", slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
	}
	if !maps.Equal(backups, contents(t, d.Dir)) {
		t.Error("the backups have changed")
	}
	return done, err
}

func TestDrill(t *testing.T) {
	t.Parallel()
	db, dir := newDatabase(t, 3), t.TempDir()
	addItems(t, db, "version", "1")
	d := backup.Drill{Database: db, Dir: dir}
	if _, err := drillOf(t, d); !errors.Is(err, backup.ErrNone) {
		t.Errorf("without a backup: %v", err)
	}
	saveAs(t, db, dir, noon)
	addRecords(t, db, 2)
	addItems(t, db, "version", "2")
	newest := saveAs(t, db, dir, noon.Add(day))
	addRecords(t, db, 4)
	addItems(t, db, "version", "3")
	done, err := drillOf(t, d)
	if err != nil || done.Path != newest || done.Text != "5 records" || done.Backup.Numbers[0].N != 5 || done.Live.Numbers[0].N != 9 || done.Restoring <= 0 || done.Unread != nil {
		t.Errorf("%+v, %v", done, err)
	}

	// A newer one of another database, and one that is damaged.
	foreign := saveAs(t, newDatabase(t, 1), dir, noon.Add(2*day))
	if done, err := drillOf(t, d); err != nil || done.Path != newest || done.Others != 1 {
		t.Errorf("beside one of another database: %+v, %v", done, err)
	}
	must(t, os.Remove(foreign))
	text, err := os.ReadFile(newest)
	must(t, err)
	damage(t, newest)
	done, err = drillOf(t, d)
	if failure, ok := errors.AsType[*backup.Error](err); !ok || failure.Path != newest || done.Path != newest || !errors.Is(err, sqlite.ErrCorrupt) {
		t.Errorf("a damaged one: %v", err)
	}
	must(t, os.WriteFile(newest, text[:5000], 0o600))
	if _, err := drillOf(t, d); err == nil || backup.Reason(err) == "" {
		t.Error("one that was cut off passes")
	}
	must(t, os.WriteFile(newest, text, 0o600))

	if _, err := drillOf(t, d.On(disk(20000, 1<<40))); !errors.As(err, new(*backup.RoomError)) {
		t.Errorf("without room: %v", err)
	}
	damage(t, db)
	if done, err := drillOf(t, d); err != nil || done.Unread == nil || done.Backup.Numbers[0].N != 5 {
		t.Errorf("of a damaged database: %+v, %v", done, err)
	}
}

// TestDrillOfWrongContent: the structure of a backup is sound, and its content is not.
func TestDrillOfWrongContent(t *testing.T) {
	t.Parallel()
	db, dir := newDatabase(t, 3), t.TempDir()
	addItems(t, db, "version", "1")
	newest := saveAs(t, db, dir, noon)
	addRecords(t, db, 1) // without a change of the version
	if _, err := drillOf(t, backup.Drill{Database: db, Dir: dir}); !errors.Is(err, backup.ErrLacks) {
		t.Errorf("one that lacks a record: %v", err)
	}
	addItems(t, newest, "fault", "a key is wrong")
	must(t, sqlite.MergeWAL(newest))
	if done, err := drillOf(t, backup.Drill{Database: db, Dir: dir}); !errors.Is(err, backup.ErrUnsound) || !slices.Equal(done.Faults, []string{"a key is wrong"}) {
		t.Errorf("one with a fault: %+v, %v", done, err)
	}
	others := t.TempDir()
	saveAs(t, newDatabase(t, 1), others, noon)
	if _, err := drillOf(t, backup.Drill{Database: db, Dir: others}); !errors.Is(err, backup.ErrOthers) {
		t.Errorf("of another database: %v", err)
	}
}

// TestKilledDrill: what it leaves, the next one removes. While one is under way there is
// no other.
func TestKilledDrill(t *testing.T) {
	t.Parallel()
	db, dir := newDatabase(t, 3), t.TempDir()
	saveAs(t, db, dir, noon)
	before := names(t, filepath.Dir(db))
	kill(t, program("drill", "Examine 1", db, dir), "Examine 1")
	left := filepath.Join(filepath.Dir(db), ".x.db-drill")
	if info, err := os.Stat(left); err != nil || info.Mode().Perm()&0o077 != 0 || !exists(filepath.Join(left, "x.db")) {
		t.Errorf("a killed drill: %v, %v", info, err)
	}
	must(t, backup.WithFolder(db, "drill", func(string) error { return nil }, func(folder string) error {
		if found := names(t, folder); folder != left || !slices.Equal(found, []string{"lock"}) {
			t.Errorf("in %s is %q", folder, found)
		}
		d := backup.Drill{Content: toy{}, Database: db, Dir: dir}
		if _, err := d.Run(t.Context()); !errors.Is(err, backup.ErrDrilling) {
			t.Errorf("beside another one: %v", err)
		}
		return nil
	}))
	if after := names(t, filepath.Dir(db)); !slices.Equal(before, after) {
		t.Errorf("left: %q", after)
	}
}

// TestMonthlyDrill: the scheduler does one with the first backup and then each month. A
// failed one is an error, and over with the next backup that passes.
func TestMonthlyDrill(t *testing.T) {
	t.Parallel()
	db, dir, now := newDatabase(t, 3), t.TempDir(), noon
	s, log := newScheduler(t, db, dir, 9, &now)
	s.Begin(t.Context())
	drilled := func(at time.Time) {
		t.Helper()
		s.Step(t.Context())
		if state := s.State(); !state.OK || state.Drilled == nil || !state.Drilled.Equal(at) || exists(filepath.Join(filepath.Dir(db), ".x.db-drill")) {
			t.Errorf("at %v: %+v, log %s", now, state, log)
		}
	}
	drilled(noon)
	for range 29 {
		now = now.Add(day)
		drilled(noon)
	}
	now = now.Add(day)
	drilled(now)
	good := now

	// Another process notes one that has failed.
	newest := backup.Files(toy{}, db, dir)[0]
	backup.NoteDrill(backup.Drill{Database: db, Dir: dir}, backup.Drilled{File: newest}, &backup.Error{Op: backup.OpRead, Path: newest.Path, Err: sqlite.ErrCorrupt})
	now = now.Add(time.Minute)
	again, _ := newScheduler(t, db, dir, 9, &now) // after a start
	text, err := os.ReadFile(newest.Path)
	must(t, err)
	damage(t, newest.Path)
	for _, s := range []*backup.Scheduler{s, again} {
		s.Look()
		if state := s.State(); state.OK || state.Trouble != backup.BadDrill || state.Since == nil || !state.Drilled.Equal(good) ||
			state.Detail != "a restore drill has failed: "+sqlite.ErrCorrupt.Error() {
			t.Errorf("after a failed drill: %+v", state)
		}
	}
	must(t, os.WriteFile(newest.Path, text, 0o600))
	now = now.Add(day)
	drilled(now)

	// One of its own fails, and the next is put off.
	addItems(t, db, "fault", "a key is wrong")
	now = now.Add(31 * day)
	s.Step(t.Context())
	if state := s.State(); state.OK || state.Trouble != backup.BadDrill || !strings.Contains(log.String(), `"level":"ERROR","msg":"the newest backup has failed a restore drill: see firefighters drill","cause":"what it restores does not pass the check"`) {
		t.Errorf("its own failed: %+v, log %s", state, log)
	}
	execSQL(t, db, `DELETE FROM items WHERE kind = 'fault'`)
	now = now.Add(day)
	drilled(now)
	now = now.Add(31 * day)
	s.Set(func() time.Time { return now }, func(folder string) (osutil.Space, error) {
		if folder == filepath.Dir(db) || folder == os.TempDir() {
			return osutil.Space{Free: 1000, Total: 1000}, nil
		}
		return plenty(folder)
	})
	s.Step(t.Context())
	if state := s.State(); !state.OK || !strings.Contains(log.String(), `"level":"WARN","msg":"the restore drill was put off"`) {
		t.Errorf("without room: %+v, log %s", state, log)
	}
	if other := (backup.Drill{Database: db, Dir: t.TempDir()}); backup.NoteDrill(other, backup.Drilled{File: newest}, nil) != nil {
		t.Error("a drill elsewhere is an error")
	}
	if s.Look(); s.State().Drilled == nil {
		t.Error("a drill elsewhere is noted")
	}
}

// TestDrillOfEncrypted: with the key it is restored. Without it its plain copy is, if the
// service has kept one.
func TestDrillOfEncrypted(t *testing.T) {
	t.Parallel()
	db, saved, key := encrypted(t)
	addItems(t, db, "version", "2")
	dir := t.TempDir()
	newest := filepath.Join(dir, "x-20261120T120000Z.db.age")
	copyOf(t, saved, newest)
	d := backup.Drill{Database: db, Dir: dir}
	if done, err := drillOf(t, d); err != nil || done.Tried != "" || done.Path != newest || !done.Encrypted || done.Bytes == 0 || done.Backup.Numbers != nil {
		t.Errorf("without the key: %+v, %v", done, err)
	}
	must(t, backup.NoteDrill(backup.Drill{Database: db, Dir: dir}, backup.Drilled{File: backup.File{Path: newest, Encrypted: true}}, nil))
	if notes.Read(db, notes.Drill, &map[string]any{}) {
		t.Error("what was not restored is noted")
	}
	plain := db + ".backup-20261120T120000Z"
	makeBackup(t, db, plain)
	addItems(t, db, "version", "3")
	if done, err := drillOf(t, d); err != nil || done.Tried != plain || len(done.Backup.Numbers) != 1 {
		t.Errorf("with its plain copy: %+v, %v", done, err)
	}
	d.Key = key
	if done, err := drillOf(t, d); err != nil || done.Tried != newest || len(done.Backup.Numbers) != 1 {
		t.Errorf("with the key: %+v, %v", done, err)
	}
	other, _ := newKey(t)
	d.Key = other
	if _, err := drillOf(t, d); !errors.As(err, new(*backup.WrongKeyError)) {
		t.Errorf("with another key: %v", err)
	}
	damage(t, newest)
	d.Key = key
	if _, err := drillOf(t, d); !errors.Is(err, sqlite.ErrCorrupt) {
		t.Errorf("a damaged one: %v", err)
	}
	must(t, os.Truncate(newest, 5000))
	d.Key = nil
	if _, err := drillOf(t, d); !errors.Is(err, sqlite.ErrCorrupt) {
		t.Errorf("one that was cut off: %v", err)
	}
}

// TestDrillPutOff: a backup that is newer than a drill which has failed is tried once, and
// not at each look at the clock, where the drill must be put off.
func TestDrillPutOff(t *testing.T) {
	t.Parallel()
	db, dir, now := newDatabase(t, 3), t.TempDir(), noon
	s, log := newScheduler(t, db, dir, 9, &now)
	s.Begin(t.Context())
	s.Step(t.Context())
	newest := backup.Files(toy{}, db, dir)[0]
	must(t, backup.NoteDrill(backup.Drill{Database: db, Dir: dir}, backup.Drilled{File: newest}, &backup.Error{Op: backup.OpRead, Path: newest.Path, Err: sqlite.ErrCorrupt}))
	s.Set(func() time.Time { return now }, func(folder string) (osutil.Space, error) {
		if folder == filepath.Dir(db) || folder == os.TempDir() {
			return osutil.Space{Free: 1000, Total: 1000}, nil
		}
		return plenty(folder)
	})
	now = now.Add(day)
	for range 4 {
		s.Step(t.Context())
		now = now.Add(time.Minute)
	}
	if n := strings.Count(log.String(), "the restore drill was put off"); n != 1 {
		t.Errorf("put off %d times: %s", n, log)
	}
}
