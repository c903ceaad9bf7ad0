package backup_test

import (
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/backup"
)

// TestMonthlyVerification checks that the scheduler verifies the first backup and then one each
// month. A failure remains until a newer backup passes, also after a restart.
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
	execSQL(t, db, `UPDATE tenants SET live_count = live_count + 1`)
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
		t.Errorf("the backup was verified %d times: %s", n, log)
	}
	execSQL(t, db, `UPDATE tenants SET live_count = live_count - 1`)
	now = now.Add(day)
	if s.Step(t.Context()); !s.State().OK || !s.State().Verified.Equal(now) {
		t.Errorf("state with a newer backup: %+v, log %s", s.State(), log)
	}
}

// TestVerificationOfAnotherFolder checks that the first backup in another folder is verified at once,
// and that the state of the earlier folder does not count for it.
func TestVerificationOfAnotherFolder(t *testing.T) {
	t.Parallel()
	db, now := newDatabase(t, 3), noon
	for _, dir := range []string{t.TempDir(), t.TempDir()} {
		s, log := newScheduler(t, db, dir, 9, &now)
		s.Begin(t.Context())
		if state := s.State(); state.Verified != nil {
			t.Errorf("before the first backup in %s, one was verified at %v", dir, state.Verified)
		}
		s.Step(t.Context())
		if state := s.State(); state.Verified == nil || !state.Verified.Equal(now) {
			t.Errorf("the first backup in %s: %+v, log %s", dir, state, log)
		}
		now = now.Add(day)
	}
}
