package backup_test

import (
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
)

// TestFirstWait: when the first backup after a start is due.
func TestFirstWait(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		ages []time.Duration // of the existing backups
		left time.Duration
	}{
		{"there is none", nil, 0},
		{"the newest is young", []time.Duration{5 * day, time.Hour}, 23 * time.Hour},
		{"the newest is old", []time.Duration{5 * day, 25 * time.Hour}, -time.Hour},
		{"one is of the future", []time.Duration{-400 * day, 10 * time.Hour}, 14 * time.Hour},
		{"all are of the future", []time.Duration{-400 * day, -day}, backup.UnknownAge},
	} {
		at := func(later time.Duration) backup.Reading {
			return backup.NewReading(noon.Add(later), 3*time.Second+later)
		}
		var written []time.Time
		for _, age := range tt.ages {
			written = append(written, noon.Add(-age))
		}
		wait := backup.FirstWait(written, day, at(0))
		if !wait.Over(at(tt.left)) || wait.Over(at(tt.left-time.Second)) {
			t.Errorf("%s: it is not due in %v", tt.name, tt.left)
		}
	}
}

// TestFirstWaitByUptime: the age of a backup counts too where the wall clock is set back
// after the start.
func TestFirstWaitByUptime(t *testing.T) {
	t.Parallel()
	wait := backup.FirstWait([]time.Time{noon.Add(-10 * time.Hour)}, day, backup.NewReading(noon, time.Hour))
	back := noon.Add(-365 * day)
	if wait.Over(backup.NewReading(back, 15*time.Hour-1)) || !wait.Over(backup.NewReading(back, 15*time.Hour)) {
		t.Error("it is not due 14 hours after the start")
	}
}

// TestWait: the clock that is ahead counts.
func TestWait(t *testing.T) {
	t.Parallel()
	wait := backup.NewWait(backup.NewReading(noon, time.Hour), day)
	for _, tt := range []struct {
		name     string
		wall, up time.Duration // that have passed
		want     bool
	}{
		{"neither", day - 1, day - 1, false},
		{"both", day, day, true},
		{"the computer has slept", day, time.Hour, true},
		{"the clock was set back", -365 * day, day, true},
		{"the clock was set back a moment ago", -365 * day, time.Hour, false},
	} {
		if over := wait.Over(backup.NewReading(noon.Add(tt.wall), time.Hour+tt.up)); over != tt.want {
			t.Errorf("%s: it is over: %v", tt.name, over)
		}
	}
}

// TestClockJumps lets a year pass in which the clock is set now and then, and
// counts the backups.
func TestClockJumps(t *testing.T) {
	t.Parallel()
	at := func(is bool, jump time.Duration) time.Duration {
		if is {
			return jump
		}
		return 0
	}
	for _, tt := range []struct {
		name        string
		jump        func(day int) time.Duration // of the clock, at the end of a day
		least, most int                         // backups in a year
	}{
		{"none", func(int) time.Duration { return 0 }, 364, 366},
		{"once a year ahead", func(d int) time.Duration { return at(d == 100, 365*day) }, 364, 367},
		{"once to 1970", func(d int) time.Duration { return at(d == 100, noon.Sub(time.Unix(0, 0))*-1) }, 364, 366},
		{"back every day", func(int) time.Duration { return -day }, 364, 366},
		{"to and fro", func(d int) time.Duration { return at(d%2 == 0, 2*365*day) + at(d%2 == 1, -2*365*day) }, 364, 2 * 366},
		{"asleep for 16 hours a day", func(int) time.Duration { return 16 * time.Hour }, 364, 2 * 366},
	} {
		wall, made := noon, 0
		next := backup.FirstWait(nil, day, backup.NewReading(wall, 0))
		for up := time.Duration(0); up < 365*day; up += time.Minute {
			if up%day == 0 {
				wall = wall.Add(tt.jump(int(up / day)))
			}
			if now := backup.NewReading(wall, up); next.Over(now) {
				made, next = made+1, backup.NewWait(now, day)
			}
			wall = wall.Add(time.Minute)
		}
		if made < tt.least || made > tt.most {
			t.Errorf("%s: %d backups in a year", tt.name, made)
		}
	}
}

func TestAfterFailure(t *testing.T) {
	t.Parallel()
	for every, want := range map[time.Duration]time.Duration{day: time.Hour, time.Hour: 150 * time.Second,
		10 * time.Minute: time.Minute, time.Second: time.Second} {
		if got := backup.AfterFailure(every); got != want {
			t.Errorf("every %v: again after %v", every, got)
		}
	}
}
