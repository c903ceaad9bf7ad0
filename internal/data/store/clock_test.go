package store_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

// TestClockAcrossRuns checks that the clock continues from the latest time seen when the machine
// restarts with an earlier time.
func TestClockAcrossRuns(t *testing.T) {
	t.Parallel()
	path := newFile(t)
	latest := time.Time{}
	for _, now := range []time.Time{noon, noon.Add(2 * time.Hour), noon, noon.AddDate(-50, 0, 0), noon.Add(3 * time.Hour)} {
		s, err := store.Open(path, func() time.Time { return now })
		must(t, err)
		if now.After(latest) {
			latest = now
		}
		if got := s.Clock().Now(); !got.Equal(latest) {
			t.Errorf("at %v the time is %v, want %v", now, got, latest)
		}
		must(t, s.SaveClock())
		if saved := s.ClockSaved(); saved != latest.UnixMilli() {
			t.Errorf("at %v the stored time is %v", now, time.UnixMilli(saved).UTC())
		}
		must(t, s.Close())
	}
}

// TestClockIsSavedByCommits checks that each commit stores the time and that a transaction that is
// rolled back does not.
func TestClockIsSavedByCommits(t *testing.T) {
	t.Parallel()
	now := noon
	s := newStoreAt(t, func() time.Time { return now })
	check := func(want time.Time) {
		t.Helper()
		inFile := scanInt(t, s, `SELECT latest_time FROM service`)
		if saved := s.ClockSaved(); saved != want.UnixMilli() || inFile != saved {
			t.Errorf("saved: %v, in the file: %v, want %v", time.UnixMilli(saved).UTC(), time.UnixMilli(inFile).UTC(), want)
		}
	}
	check(noon)
	now = noon.Add(time.Hour)
	err := s.DB().Write(func(tx *sqlite.Tx) error {
		tx.Exec(`UPDATE service SET address = 'x'`)
		return errors.New("for the test")
	})
	if err == nil {
		t.Error("a failed write returned nil")
	}
	check(noon)
	err = s.DB().Write(func(tx *sqlite.Tx) error { // only the COMMIT fails
		_, err := tx.Exec(`PRAGMA defer_foreign_keys = 1`)
		if err == nil {
			_, err = tx.Exec(`INSERT INTO keys (hash, tenant_id, scope, created_at) VALUES (zeroblob(32), 99, 'read', 0)`)
		}
		return err
	})
	if err == nil {
		t.Error("a key without a department was created")
	}
	check(noon)
	create(t, s, ours, ana)
	check(now)
	must(t, s.SaveClock())
	check(now)
	exec(t, s, `UPDATE service SET latest_time = latest_time + 1`) // another program whose clock is ahead
	later := scanInt(t, s, `SELECT latest_time FROM service`)
	must(t, s.SaveClock())
	if saved := scanInt(t, s, `SELECT latest_time FROM service`); saved != later {
		t.Errorf("saved %d, want %d", saved, later)
	}
}

// TestResetClock checks that after a reset the clock continues from the system time, and commits
// store it.
func TestResetClock(t *testing.T) {
	t.Parallel()
	now := noon
	s := newStoreAt(t, func() time.Time { return now })
	check := func(want time.Time) {
		t.Helper()
		inFile, saved := scanInt(t, s, `SELECT latest_time FROM service`), s.ClockSaved()
		if inFile != want.UnixMilli() || saved != inFile || !s.Clock().Now().Equal(want) {
			t.Errorf("in the file: %d, saved: %d, now: %v, want %v", inFile, saved, s.Clock().Now(), want)
		}
	}
	for _, seen := range []func(){func() { create(t, s, ours, ana) }, func() { s.Clock().Now() }} { // saved, and not
		now = noon.AddDate(10, 0, 0)
		seen()
		now = noon
		must(t, s.ResetClock())
		check(noon)
	}
	now = noon.Add(2 * time.Second)
	create(t, s, ours, ana)
	check(now)
}

// TestResetClockInGroup checks that writes in the same transaction do not store the old time.
func TestResetClockInGroup(t *testing.T) {
	t.Parallel()
	path := newFile(t)
	synctest.Test(t, func(t *testing.T) {
		ahead := false
		s := openStore(t, path, func() time.Time {
			if ahead {
				return time.Now().AddDate(10, 0, 0)
			}
			return time.Now()
		})
		ahead = true
		must(t, s.SaveClock())
		ahead = false
		try := func(do func() error) func() {
			return func() {
				if err := do(); err != nil {
					t.Error(err)
				}
			}
		}
		inGroup(t, s, try(s.SaveClock), try(s.ResetClock), try(s.SaveClock))
		if got := s.ClockSaved(); got != time.Now().UnixMilli() || got != s.Clock().Now().UnixMilli() {
			t.Errorf("saved: %v, now: %v", time.UnixMilli(got).UTC(), s.Clock().Now())
		}
	})
}

// TestResetElsewhere checks that a store detects a reset by another process and does not store the
// old time.
func TestResetElsewhere(t *testing.T) {
	t.Parallel()
	check := func(s *store.Store) error { return s.DB().Read(s.CheckMark) }
	for name, hear := range map[string]func(*store.Store) error{
		"it looks":  check,
		"it saves":  (*store.Store).SaveClock,
		"it writes": func(s *store.Store) error { create(t, s, ours, ana); return check(s) },
	} {
		path, now := newFile(t), noon.AddDate(10, 0, 0)
		clock := func() time.Time { return now }
		s, other := openStore(t, path, clock), openStore(t, path, clock)
		must(t, s.AddDepartments([]store.Department{{Name: "Engine 7"}}))
		must(t, s.SaveClock())
		must(t, check(s))
		if got := s.Clock().Now(); !got.Equal(now) {
			t.Errorf("%s: %v before the reset", name, got)
		}
		now = noon
		must(t, other.ResetClock())
		must(t, hear(s))
		inFile := scanInt(t, other, `SELECT latest_time FROM service`)
		if saved := s.ClockSaved(); saved != noon.UnixMilli() || inFile != saved || !s.Clock().Now().Equal(noon) {
			t.Errorf("%s: in the file: %d, saved: %d, now: %v", name, inFile, saved, s.Clock().Now())
		}
	}
}
