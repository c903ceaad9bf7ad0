package backup_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// TestLostBackups checks that the next look reports missing backups or a missing folder for at least
// two minutes, and that a backup is created at once.
func TestLostBackups(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		lose func(dir, newest string) error
	}{
		{"all backups", func(dir, _ string) error {
			for _, name := range names(t, dir) {
				must(t, os.Remove(filepath.Join(dir, name)))
			}
			return nil
		}},
		{"the newest backup", func(_, newest string) error { return os.Remove(newest) }},
		{"the folder", func(dir, _ string) error { return os.RemoveAll(dir) }},
	} {
		db, dir, now := newDatabase(t, 1), filepath.Join(t.TempDir(), "backups"), noon
		s, log := newScheduler(t, db, dir, 8, &now)
		s.Begin(t.Context())
		for range 3 {
			s.Step(t.Context())
			now = now.Add(day)
		}
		now = now.Add(-time.Hour)
		must(t, tt.lose(dir, filepath.Join(dir, backup.FileName(db, noon.AddDate(0, 0, 2)))))
		s.Step(t.Context())
		lost := now
		for _, later := range []time.Duration{0, time.Minute} {
			now = lost.Add(later)
			s.Step(t.Context())
			if state := s.State(); state.OK || state.Trouble != backup.Lost || !state.Since.Equal(lost) || !state.Last.Equal(lost) {
				t.Errorf("%s, after %v: %+v", tt.name, later, state)
			}
		}
		now = lost.Add(2 * time.Minute)
		s.Step(t.Context())
		if state := s.State(); !state.OK || !slices.Contains(names(t, dir), backup.FileName(db, lost)) {
			t.Errorf("%s: later: %+v, files %q", tt.name, state, names(t, dir))
		}
		if strings.Count(log.String(), "the newest backup is missing") != 1 {
			t.Errorf("%s: log %s", tt.name, log)
		}
	}
}

// TestLostParent checks that the state reports a folder that cannot be created again, until it is back.
func TestLostParent(t *testing.T) {
	t.Parallel()
	parent, now := filepath.Join(t.TempDir(), "disk"), noon
	must(t, os.Mkdir(parent, 0o700))
	s, _ := newScheduler(t, newDatabase(t, 1), filepath.Join(parent, "backups"), 8, &now)
	s.Begin(t.Context())
	s.Step(t.Context())
	must(t, os.Rename(parent, parent+"-away"))
	for range 3 {
		now = now.Add(time.Minute)
		s.Step(t.Context())
		if state := s.State(); state.OK || state.Trouble != backup.BadFolder || state.Last != nil {
			t.Errorf("without the folder: %+v", state)
		}
	}
	must(t, os.Rename(parent+"-away", parent))
	now = now.Add(time.Minute)
	if s.Step(t.Context()); !s.State().OK || !s.State().Last.Equal(now) {
		t.Errorf("with the folder: %+v", s.State())
	}
}

// TestAlternatingDisks checks that a disk that replaces another one within a minute gets a backup at
// once, and is no loss.
func TestAlternatingDisks(t *testing.T) {
	t.Parallel()
	parent, now := t.TempDir(), noon
	dir, second := filepath.Join(parent, "backups"), filepath.Join(parent, "second")
	db := newDatabase(t, 1)
	must(t, os.Mkdir(second, 0o700))
	saveAs(t, db, second, noon.AddDate(0, 0, -3))
	s, log := newScheduler(t, db, dir, 8, &now)
	s.Begin(t.Context())
	s.Step(t.Context())
	for range 4 {
		now = now.Add(time.Hour)
		must(t, os.Rename(dir, dir+"-away"))
		must(t, os.Rename(second, dir))
		must(t, os.Rename(dir+"-away", second))
		s.Step(t.Context())
		if state := s.State(); !state.OK || !state.Last.Equal(now) || !exists(filepath.Join(dir, backup.FileName(db, now))) {
			t.Errorf("%+v, files %q", state, names(t, dir))
		}
	}
	if strings.Contains(log.String(), "ERROR") {
		t.Errorf("log %s", log)
	}
}

// TestCopiedDisk checks that a disk that is a copy of an earlier state of the other one is no loss: its newer
// backup, or the time without a disk, shows that it is another one.
func TestCopiedDisk(t *testing.T) {
	t.Parallel()
	parent, now := t.TempDir(), noon
	dir, second := filepath.Join(parent, "backups"), filepath.Join(parent, "second")
	db := newDatabase(t, 1)
	s, log := newScheduler(t, db, dir, 8, &now)
	s.Begin(t.Context())
	s.Step(t.Context())
	must(t, os.CopyFS(second, os.DirFS(dir)))
	saveAs(t, db, second, noon.Add(time.Minute))
	now = now.Add(day)
	s.Step(t.Context())
	must(t, os.Rename(dir, dir+"-away"))
	must(t, os.Rename(second, dir))
	now = now.Add(time.Minute)
	s.Step(t.Context())
	if state := s.State(); !state.OK || !state.Last.Equal(now) || strings.Contains(log.String(), "ERROR") {
		t.Errorf("%+v, log %s", state, log)
	}
}

// TestUnreadableFolder checks that the state reports a folder that cannot be read, which is no loss, until it
// can be read again.
func TestUnreadableFolder(t *testing.T) {
	t.Parallel()
	dir, now := filepath.Join(t.TempDir(), "backups"), noon
	s, log := newScheduler(t, newDatabase(t, 1), dir, 8, &now)
	s.Begin(t.Context())
	s.Step(t.Context())
	must(t, os.Rename(dir, dir+"-away"))
	must(t, os.WriteFile(dir, nil, 0o600)) // the error is not ErrNotExist, also for root
	for range 3 {
		now = now.Add(time.Minute)
		s.Step(t.Context())
		if state := s.State(); state.OK || state.Trouble != backup.BadFolder {
			t.Errorf("unreadable: %+v", state)
		}
	}
	must(t, os.Remove(dir))
	must(t, os.Rename(dir+"-away", dir))
	now = now.Add(time.Minute)
	if s.Step(t.Context()); !s.State().OK || !s.State().Last.Equal(now) || strings.Contains(log.String(), "missing") {
		t.Errorf("readable: %+v, log %s", s.State(), log)
	}
}

// TestLostWhileRunning checks that a loss is reported until there is a new backup, although another process
// creates one at first.
func TestLostWhileRunning(t *testing.T) {
	t.Parallel()
	db, dir, now := newDatabase(t, 1), t.TempDir(), noon
	s, _ := newScheduler(t, db, dir, 8, &now)
	s.Begin(t.Context())
	s.Step(t.Context())
	now = now.Add(time.Hour)
	s.Turn(t.Context())
	s.Step(t.Context())
	must(t, os.Remove(filepath.Join(dir, backup.FileName(db, now))))
	release, err := sqlite.LockFile(db + "-backup-lock")
	must(t, err)
	for range 5 {
		now = now.Add(time.Minute)
		if s.Step(t.Context()); s.State().OK || s.State().Trouble != backup.Lost {
			t.Errorf("while another backup runs: %+v", s.State())
		}
	}
	must(t, release())
	now = now.Add(time.Minute)
	if s.Step(t.Context()); !s.State().OK || !s.State().Last.Equal(now) {
		t.Errorf("later: %+v", s.State())
	}
}

// TestFirstRecords checks that the first records after an empty backup are backed up within an hour,
// also if the program restarts, and that an empty database gets no further backups before they are due.
func TestFirstRecords(t *testing.T) {
	t.Parallel()
	_, to := newKey(t)
	for _, to := range []backup.Recipients{nil, to} {
		db, dir, now := newDatabase(t, 0), t.TempDir(), noon
		start := func() *backup.Scheduler {
			s, _ := newScheduler(t, db, dir, 8, &now)
			s.Encrypt(to)
			s.Begin(t.Context())
			return s
		}
		start().Step(t.Context())
		s := start()
		at := func(hours time.Duration, want time.Time) {
			t.Helper()
			for end := now.Add(hours); now.Before(end); now = now.Add(time.Minute) {
				s.Step(t.Context())
			}
			if last := s.State().Last; !last.Equal(want) {
				t.Errorf("last backup at %v, want %v", last, want)
			}
		}
		at(2*time.Hour, noon)
		addRecords(t, db, 1)
		at(time.Hour, noon.Add(150*time.Minute))
		addRecords(t, db, 1)
		at(20*time.Hour, noon.Add(150*time.Minute))
	}
}

// TestRecordsBeforeStart checks that a start backs up at once if the newest backup is empty and the database
// is not, and that the first records never delay a backup that is due.
func TestRecordsBeforeStart(t *testing.T) {
	t.Parallel()
	db, dir, now := newDatabase(t, 0), t.TempDir(), noon
	start := func() *backup.Scheduler {
		s, _ := newScheduler(t, db, dir, 8, &now)
		s.Begin(t.Context())
		s.Step(t.Context())
		return s
	}
	s := start()
	now = now.Add(day - time.Minute)
	addRecords(t, db, 1)
	s.Step(t.Context())
	now = now.Add(time.Minute)
	if s.Step(t.Context()); !s.State().Last.Equal(now) {
		t.Errorf("the last backup is of %v, not of the time when it was due", s.State().Last)
	}
	must(t, os.RemoveAll(dir))
	db, dir = newDatabase(t, 0), t.TempDir()
	start()
	addRecords(t, db, 1)
	now = now.Add(time.Minute)
	if s := start(); !s.State().Last.Equal(now) {
		t.Errorf("the last backup is of %v, not of the start", s.State().Last)
	}
}
