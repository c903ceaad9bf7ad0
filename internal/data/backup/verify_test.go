package backup_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// TestVerify checks that the newest backup is found and verified, and that nothing changes.
func TestVerify(t *testing.T) {
	t.Parallel()
	db, dir := newDatabase(t, 3), t.TempDir()
	if _, err := backup.Newest(toy{}, db, dir); !errors.Is(err, backup.ErrNone) {
		t.Errorf("without a backup: %v", err)
	}
	saveAs(t, newDatabase(t, 1), dir, noon.Add(2*day))
	if _, err := backup.Newest(toy{}, db, dir); !errors.Is(err, backup.ErrOthers) {
		t.Errorf("with one of another database: %v", err)
	}
	saveAs(t, db, dir, noon)
	addRecords(t, db, 2)
	saved := saveAs(t, db, dir, noon.Add(day))
	verify := func() (backup.Copy, []string, error) {
		t.Helper()
		before := contents(t, dir)
		newest, err := backup.Newest(toy{}, db, dir)
		if err != nil || newest.Path != saved {
			t.Fatalf("the newest is %s, %v", newest.Path, err)
		}
		defer func() {
			if !maps.Equal(before, contents(t, dir)) {
				t.Error("the backups have changed")
			}
		}()
		return newest.Verify(t.Context(), toy{})
	}
	if found, faults, err := verify(); err != nil || len(faults) > 0 || found.Text != "5 records" {
		t.Errorf("%+v, %q, %v", found, faults, err)
	}
	text, err := os.ReadFile(saved)
	must(t, err)
	addItems(t, saved, "fault", "a key is wrong")
	must(t, sqlite.MergeWAL(saved))
	if _, faults, err := verify(); !errors.Is(err, backup.ErrUnsound) || !slices.Equal(faults, []string{"a key is wrong"}) {
		t.Errorf("one with a fault: %q, %v", faults, err)
	}
	must(t, os.WriteFile(saved, text[:5000], 0o600))
	if _, _, err := verify(); err == nil || backup.Reason(err) == "" {
		t.Error("one that was cut off passes")
	}
	must(t, os.WriteFile(saved, text, 0o600))
	damage(t, saved)
	if _, _, err := verify(); !errors.Is(err, sqlite.ErrCorrupt) {
		t.Errorf("a damaged one: %v", err)
	}
}

// TestVerifyEncrypted checks what can be checked without the key.
func TestVerifyEncrypted(t *testing.T) {
	t.Parallel()
	db, saved, _ := encrypted(t)
	dir := t.TempDir()
	copyOf(t, saved, filepath.Join(dir, "x-20261120T120000Z.db.age"))
	newest, err := backup.Newest(toy{}, db, dir)
	must(t, err)
	if found, _, err := newest.Verify(t.Context(), toy{}); err != nil || !newest.Encrypted || found.Bytes == 0 {
		t.Errorf("%+v, %v", found, err)
	}
	must(t, os.Truncate(newest.Path, 5000))
	if _, _, err := newest.Verify(t.Context(), toy{}); !errors.Is(err, sqlite.ErrCorrupt) {
		t.Errorf("one that was cut off: %v", err)
	}
}

// TestMonthlyVerification checks that the scheduler verifies the first backup and then one
// each month. A failure stays until a newer one passes, also after a restart.
func TestMonthlyVerification(t *testing.T) {
	t.Parallel()
	db, dir, now := newDatabase(t, 3), t.TempDir(), noon
	s, log := newScheduler(t, db, dir, 9, &now)
	s.Begin(t.Context())
	good := noon
	for days := range 63 {
		if s.Step(t.Context()); days%30 == 0 {
			good = now
		}
		if state := s.State(); !state.OK || state.Verified == nil || !state.Verified.Equal(good) {
			t.Fatalf("at %v: %+v, log %s", now, state, log)
		}
		now = now.Add(day)
	}
	addItems(t, db, "fault", "a key is wrong")
	now = now.Add(31 * day)
	s.Step(t.Context())
	again, _ := newScheduler(t, db, dir, 9, &now)
	again.Begin(t.Context())
	for _, s := range []*backup.Scheduler{s, again} {
		if state := s.State(); state.OK || state.Trouble != backup.BadBackup || state.Since == nil || !state.Verified.Equal(good) ||
			state.Detail != "the newest backup is not sound: it does not pass the check" {
			t.Errorf("after a failure: %+v", state)
		}
	}
	for range 3 {
		s.Step(t.Context())
	}
	if n := strings.Count(log.String(), `"level":"ERROR","msg":"the newest backup is not sound: see firefighters check --backup-dir","cause":"it does not pass the check"`); n != 1 {
		t.Errorf("one backup was verified %d times: %s", n, log)
	}
	execSQL(t, db, `DELETE FROM items WHERE kind = 'fault'`)
	now = now.Add(day)
	if s.Step(t.Context()); !s.State().OK || !s.State().Verified.Equal(now) {
		t.Errorf("with a newer one: %+v, log %s", s.State(), log)
	}
}
