package backup_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// TestTrouble checks the Trouble of each state, from the first backup on.
func TestTrouble(t *testing.T) {
	t.Parallel()
	parent, now := filepath.Join(t.TempDir(), "disk"), noon
	db, dir := newDatabase(t, 1), filepath.Join(parent, "backups")
	s, _ := newScheduler(t, db, dir, 2, &now)
	isSameDisk := false
	s.SetPlace(func(a, b string) bool { return isSameDisk && a != db && b != db || a == b }) // as for a file of an overlay
	is := func(when string, want backup.Trouble) {
		t.Helper()
		if state := s.State(); state.Trouble != want {
			t.Errorf("%s: %q, %+v", when, state.Trouble, state)
		}
	}
	is("before the first", backup.NotYet)
	s.Turn(t.Context())
	is("without a folder", backup.BadFolder)
	must(t, os.Mkdir(parent, 0o700))
	s.Turn(t.Context())
	is("after the first", "")
	now = now.Add(2 * day)
	is("after two intervals", "")
	now = now.Add(time.Second)
	is("after more than two intervals", backup.Old)
	s.Set(func() time.Time { return now }, func(string) (osutil.Space, error) { return osutil.Space{Total: 100}, nil })
	s.Turn(t.Context())
	is("without room", backup.NoRoom)
	s.Set(func() time.Time { return now }, plenty)
	s.Turn(t.Context())
	is("with room again", "")
	isSameDisk = true
	s.Step(t.Context())
	is("on the disk of the database", backup.SameDisk)
	must(t, backup.WriteNote(db, "backupDisk", dir))
	s.Step(t.Context())
	is("with the disk away", backup.DiskAway)
}

// TestStateWaitsForNoDisk checks that State returns while a disk hangs.
func TestStateWaitsForNoDisk(t *testing.T) {
	t.Parallel()
	now := noon
	s, _ := newScheduler(t, newDatabase(t, 1), t.TempDir(), 2, &now)
	s.SetPlace(func(string, string) bool {
		answered := make(chan backup.State, 1)
		go func() { answered <- s.State() }()
		select {
		case <-answered:
		case <-time.After(time.Minute):
			t.Error("State waits for the disk")
		}
		return true
	})
	s.Step(t.Context())
}
