package backup_test

import (
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
)

// TestFirstWait checks when the first backup after startup is due.
func TestFirstWait(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		ages []time.Duration // of the existing backups, sorted
		left time.Duration
	}{
		{"the newest is young", []time.Duration{time.Hour, 5 * day}, 23 * time.Hour},
		{"the newest is old", []time.Duration{25 * time.Hour, 5 * day}, -time.Hour},
		{"one is of the future", []time.Duration{10 * time.Hour, -400 * day}, 14 * time.Hour},
		{"all are of the future", []time.Duration{-400 * day, -day}, backup.UnknownAge},
	} {
		var files []backup.File
		for _, age := range tt.ages {
			files = append(files, backup.File{Time: noon.Add(-age)})
		}
		wait := backup.FirstWait(files, day, noon)
		if !wait.Over(noon.Add(tt.left)) || wait.Over(noon.Add(tt.left-time.Second)) {
			t.Errorf("%s: not due in %v", tt.name, tt.left)
		}
	}
}

func TestAfterFailure(t *testing.T) {
	t.Parallel()
	for every, want := range map[time.Duration]time.Duration{day: time.Hour, time.Hour: 150 * time.Second,
		10 * time.Minute: time.Minute, time.Second: time.Second} {
		if got := backup.AfterFailure(every); got != want {
			t.Errorf("every %v: next attempt after %v", every, got)
		}
	}
}
