package backup_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

// plenty is a disk with enough space.
var plenty = disk(1<<40, 1<<40)

// newScheduler returns a scheduler for a database, with the clock now, on a disk with enough space.
func newScheduler(t *testing.T, db, dir string, keep int, now *time.Time) (s *backup.Scheduler, log *syncBuffer) {
	t.Helper()
	log = &syncBuffer{}
	s = backup.NewScheduler(format, db, backup.Options{Dir: dir, Every: day, Keep: keep}, slog.New(slog.NewJSONHandler(log, nil)))
	s.Set(func() time.Time { return *now }, plenty)
	return s, log
}

// TestPrune creates a daily backup for two months, among other files.
func TestPrune(t *testing.T) {
	t.Parallel()
	dir, now := filepath.Join(t.TempDir(), "backups"), noon
	must(t, os.Mkdir(dir, 0o755))
	others := []string{"x.db", "x-20261120T120000Z", "y-20260101T120000Z.db", "x-20261320T120000Z.db", "notes.txt",
		"x-20990101T000000Z.db", "x-20200101T000000Z.db", "x-20200101T000000Z.db-wal"} // in the future; opened as a database
	for _, name := range others {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600))
	}
	db := newDatabase(t, 20)
	s, log := newScheduler(t, db, dir, 8, &now)
	for range 60 {
		s.Turn(t.Context())
		now = now.Add(day)
	}
	found := names(t, dir)
	for _, name := range others {
		if !slices.Contains(found, name) {
			t.Errorf("%s was deleted", name)
		}
	}
	newest := backup.FileName(db, noon.AddDate(0, 0, 59))
	if len(found) != 8+len(others) || !slices.Contains(found, newest) || log.String() != "" {
		t.Errorf("files %q, log %s", found, log)
	}
	if last := s.State().Last; !last.Equal(noon.AddDate(0, 0, 59)) || records(t, filepath.Join(dir, newest)) != 20 {
		t.Errorf("the last backup is from %v", last)
	}
	if info, err := os.Stat(dir); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o755 {
		t.Errorf("mode of the existing folder: %v, %v", info.Mode(), err)
	}
}

// TestBackUp checks that a running scheduler creates a backup on request and returns its error, and that no
// one waits for a scheduler that has stopped.
func TestBackUp(t *testing.T) {
	t.Parallel()
	dir, now := filepath.Join(t.TempDir(), "backups"), noon
	db := newDatabase(t, 1)
	s, _ := newScheduler(t, db, dir, 9, &now)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan bool)
	go func() { s.Run(ctx); close(ended) }()
	for want := 2; want < 4; want++ { // the first is that of the start
		if err := s.BackUp(t.Context()); err != nil || len(names(t, dir)) != want {
			t.Errorf("%v, %q", err, names(t, dir))
		}
	}
	release, err := sqlite.LockFile(db + "-backup-lock") // as another process
	must(t, err)
	go func() { time.Sleep(300 * time.Millisecond); release() }()
	if err := s.BackUp(t.Context()); err != nil {
		t.Errorf("during another backup: %v", err)
	}
	for os.WriteFile(dir, nil, 0o600) != nil { // it notices a lost backup, and may create another
		os.RemoveAll(dir)
	}
	if err := s.BackUp(t.Context()); err == nil || s.State().OK {
		t.Errorf("without a folder: %v, %+v", err, s.State())
	}
	stop()
	<-ended
	if err := s.BackUp(t.Context()); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

// TestStandingClock checks that the names of backups differ even if the clock stands still.
func TestStandingClock(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), noon
	s, log := newScheduler(t, newDatabase(t, 1), dir, 2, &now)
	for range 3 {
		s.Turn(t.Context())
	}
	if found := names(t, dir); !slices.Equal(found, []string{"x-20261120T120001Z.db", "x-20261120T120002Z.db"}) || log.String() != "" {
		t.Errorf("%q, log %s", found, log)
	}
}

// TestClockWasAhead checks that a backup with a time in the future is not the newest, and stays.
func TestClockWasAhead(t *testing.T) {
	t.Parallel()
	db, dir, now := newDatabase(t, 1), t.TempDir(), noon
	ahead := saveAs(t, db, dir, noon.AddDate(70, 0, 0))
	s, log := newScheduler(t, db, dir, 1, &now)
	for range 2 {
		s.Turn(t.Context())
		now = now.Add(day)
	}
	want := []string{backup.FileName(db, noon.Add(day)), filepath.Base(ahead)}
	if found := names(t, dir); !slices.Equal(found, want) || !s.State().Last.Equal(noon.Add(day)) || log.String() != "" {
		t.Errorf("files %q, want %q; log %s", found, want, log)
	}
}

// TestSchedulerWithoutRoom checks that a nearly full disk gets no backup, that only pruning deletes
// backups, and that the newest valid one always stays.
func TestSchedulerWithoutRoom(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), noon
	s, log := newScheduler(t, newDatabase(t, 20), dir, 2, &now)
	for range 2 {
		s.Turn(t.Context())
		now = now.Add(day)
	}
	valid := names(t, dir)[0]
	must(t, os.WriteFile(filepath.Join(dir, "x-20261121T120000Z.db"), []byte("not whole"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "x-20261119T120000Z.db"), []byte("not whole"), 0o600))
	s.Set(func() time.Time { return now }, disk(1<<30, 10<<30))
	for range 3 {
		s.Turn(t.Context())
	}
	if found := strings.Join(names(t, dir), " "); found != "x-20261119T120000Z.db "+valid+" x-20261121T120000Z.db" {
		t.Errorf("files: %s", found)
	}
	state := s.State()
	if state.OK || !strings.HasPrefix(state.Detail, "not enough space for backups: 1073.7 MB free, ") || !state.Since.Equal(now) {
		t.Errorf("%+v", state)
	}
	if lines := log.String(); strings.Count(lines, "\n") != 1 || strings.Contains(lines, dir) || !strings.Contains(lines, `"msg":"no backups are made","cause":"not enough space`) {
		t.Errorf("log: %s", lines)
	}
	s.Set(func() time.Time { return now }, plenty)
	s.Turn(t.Context())
	state = s.State()
	if lines := log.String(); !state.OK || state.Since != nil || state.Detail != "" || !strings.Contains(lines, "backups work again") {
		t.Errorf("%+v, log: %s", state, lines)
	}
}

// TestRoomByPruning checks that deleting an old backup frees space for a new one.
func TestRoomByPruning(t *testing.T) {
	t.Parallel()
	db, dir, now := newDatabase(t, 1), t.TempDir(), noon
	for i := range 2 {
		saveAs(t, db, dir, noon.AddDate(0, 0, i-5))
	}
	s, log := newScheduler(t, db, dir, 1, &now)
	s.Set(func() time.Time { return now }, func(string) (osutil.Space, error) {
		return disk(int64(4-len(names(t, dir)))<<30, 10<<30)(dir) // including the copy
	})
	s.Turn(t.Context())
	if found := names(t, dir); !slices.Equal(found, []string{backup.FileName(db, noon)}) || !s.State().OK {
		t.Errorf("files %q, log %s", found, log)
	}
}

// TestSchedulerFails checks that a failure and its end are logged once.
func TestSchedulerFails(t *testing.T) {
	t.Parallel()
	parent, now := filepath.Join(t.TempDir(), "disk"), noon
	s, log := newScheduler(t, newDatabase(t, 1), filepath.Join(parent, "backups"), 2, &now)
	for range 2 {
		s.Turn(t.Context())
	}
	state := s.State()
	if state.OK || state.Since == nil || state.Last != nil || !strings.HasPrefix(state.Detail, "the folder for backups cannot be used: ") ||
		s.Waits() != backup.AfterFailure(day) {
		t.Errorf("%+v", state)
	}
	must(t, os.Mkdir(parent, 0o700))
	s.Turn(t.Context())
	if state := s.State(); !state.OK || state.Last == nil || state.Since != nil || state.Detail != "" || s.Waits() != day {
		t.Errorf("%+v", state)
	}
	var entries []string
	for line := range strings.Lines(log.String()) {
		var entry struct{ Level, Msg, Cause string }
		must(t, json.Unmarshal([]byte(line), &entry))
		entries = append(entries, entry.Level+" "+entry.Msg)
	}
	if !slices.Equal(entries, []string{"ERROR no backups are made", "INFO backups work again"}) || strings.Contains(log.String(), parent) {
		t.Errorf("log %s", log)
	}
}

// TestDamageInBackups checks that damaged records do not prevent a backup, but appear in the state and
// the log.
func TestDamageInBackups(t *testing.T) {
	t.Parallel()
	db, dir, now := newDatabase(t, 5), t.TempDir(), noon
	execSQL(t, db, `UPDATE firefighters SET checksum = ~checksum WHERE row & 0xff <= 2`)
	s, log := newScheduler(t, db, dir, 2, &now)
	for range 2 {
		s.Turn(t.Context())
	}
	if state := s.State(); !state.OK || state.Trouble != backup.BadDatabase || state.Detail != "damaged records in the newest backup: 2; see firefighters check" {
		t.Errorf("%+v", state)
	}
	if lines := log.String(); strings.Count(lines, "\n") != 1 || !strings.Contains(lines, `"msg":"records are damaged, also in the backups: see firefighters check","records":2`) {
		t.Errorf("log %s", lines)
	}
	execSQL(t, db, `UPDATE firefighters SET checksum = ~checksum WHERE row & 0xff <= 2`)
	s.Turn(t.Context())
	if state := s.State(); !state.OK || state.Detail != "" {
		t.Errorf("%+v", state)
	}
}

// TestForeignSchemaInBackups checks that a backup that Restore rejects is created, and reported in the
// state and the log, also after startup, until there is a restorable one.
func TestForeignSchemaInBackups(t *testing.T) {
	t.Parallel()
	db, dir, now, log := newDatabase(t, 5), t.TempDir(), noon, &syncBuffer{}
	start := func() *backup.Scheduler {
		s := backup.NewScheduler(format, db, backup.Options{Dir: dir, Every: day, Keep: 8}, slog.New(slog.NewJSONHandler(log, nil)))
		s.Set(func() time.Time { return now }, plenty)
		return s
	}
	execSQL(t, db, `CREATE INDEX more ON firefighters (first_name)`)
	s := start()
	s.Turn(t.Context())
	again := start()
	again.Begin(t.Context())
	for _, s := range []*backup.Scheduler{s, again} {
		if state := s.State(); state.OK || state.Last == nil || state.Since == nil || state.Detail != backup.ErrRefused.Error() || state.Trouble != backup.BadDatabase {
			t.Errorf("%+v", state)
		}
	}
	if found := names(t, dir); len(found) != 1 || strings.Count(log.String(), `"msg":"new backups cannot be restored"`) != 2 {
		t.Errorf("files %q, log %s", found, log)
	}
	execSQL(t, db, `DROP INDEX more`)
	s.Turn(t.Context())
	if state := s.State(); !state.OK || state.Detail != "" {
		t.Errorf("%+v", state)
	}
}

// TestSchedulerInSharedFolder checks that backups of another database with the same name are not
// deleted.
func TestSchedulerInSharedFolder(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), noon
	db, stranger := newDatabase(t, 1), newDatabase(t, 1)
	var want []string
	for _, days := range []int{-3, -2, 1} {
		want = append(want, filepath.Base(saveAs(t, stranger, dir, noon.AddDate(0, 0, days))))
	}
	s, log := newScheduler(t, db, dir, 1, &now)
	for range 3 {
		s.Turn(t.Context())
		now = now.Add(day)
	}
	want = append(want, backup.FileName(db, noon.AddDate(0, 0, 2)))
	if found := names(t, dir); !slices.Equal(found, want) {
		t.Errorf("files %q, want %q", found, want)
	}
	if strings.Count(log.String(), "this folder holds backups of another database") != 1 {
		t.Errorf("log %s", log)
	}
}

// TestNewestIsInvalid checks that an invalid backup does not count, so that the last backup is an
// older valid one until there is a new one.
func TestNewestIsInvalid(t *testing.T) {
	t.Parallel()
	db, dir, now := newDatabase(t, 7), t.TempDir(), noon
	older := saveAs(t, db, dir, noon.Add(-2*time.Hour))
	damage(t, saveAs(t, db, dir, noon.Add(-time.Hour)))
	s, _ := newScheduler(t, db, dir, 9, &now)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	due := false
	s.Set(func() time.Time { return now }, func(dir string) (osutil.Space, error) { due = true; stop(); return plenty(dir) })
	s.Run(ctx)
	if state := s.State(); !due || !state.OK || !state.Last.Equal(noon.Add(-2*time.Hour)) {
		t.Errorf("due: %v, %+v", due, state)
	}
	s.Turn(t.Context())
	if found := names(t, dir); len(found) != 3 || records(t, older) != 7 || !s.State().Last.Equal(noon) {
		t.Errorf("files %q", found)
	}
}

// TestStopInBackup checks that a stopped scheduler cancels its backup.
func TestStopInBackup(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), noon
	s, log := newScheduler(t, newDatabase(t, 1), dir, 2, &now)
	ctx, cancel := context.WithCancel(t.Context())
	s.Set(func() time.Time { return now }, func(dir string) (osutil.Space, error) { cancel(); return plenty(dir) }) // once it has begun
	s.Run(ctx)
	if found := names(t, dir); len(found) > 0 || log.String() != "" || !s.State().OK {
		t.Errorf("files %q, log %s", found, log)
	}
}

// TestSchedulerWaits checks that a backup created by another process is not a failure.
func TestSchedulerWaits(t *testing.T) {
	t.Parallel()
	db, dir, now := newDatabase(t, 1), t.TempDir(), noon
	s, log := newScheduler(t, db, dir, 2, &now)
	_, err := backup.Job{Format: format, Source: db, Target: filepath.Join(t.TempDir(), "by-hand.db"),
		Progress: func(int, int) { s.Turn(t.Context()) }}.Run(t.Context())
	must(t, err)
	if !s.State().OK || log.String() != "" || len(names(t, dir)) > 0 || s.Waits() != backup.AfterFailure(day) {
		t.Errorf("%+v, log %s", s.State(), log)
	}
}
