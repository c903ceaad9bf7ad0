package backup

import (
	"slices"
	"time"
)

// reading is what two clocks say at one moment: the wall clock, which may be
// set, and the monotonic clock, which counts from the start of the program and may
// stand still while the computer sleeps.
type reading struct {
	wall time.Time
	up   time.Duration
}

// systemClocks returns a function that reads the clocks of the system.
func systemClocks() func() reading {
	start := time.Now()
	return func() reading { now := time.Now(); return newReading(now.Round(0), now.Sub(start)) }
}

// lastWall is the latest time by the wall clock of a reading. RFC 3339 and the names
// of backups end a year later: where the clock stands still, backups are named by the
// seconds that follow.
var lastWall = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

func newReading(wall time.Time, up time.Duration) reading {
	if wall.After(lastWall) {
		wall = lastWall
	}
	return reading{wall, up}
}

// wait is the time until the next backup. It goes by the clock that is ahead.
// So a wall clock that is set forward causes one backup too many, and one that is
// set back none too few. After a sleep of the computer the backup is due.
type wait struct {
	from reading
	long time.Duration
}

func (w wait) over(now reading) bool {
	return max(now.wall.Sub(w.from.wall), now.up-w.from.up) >= w.long
}

// unknownAge is the wait after a start if the clock is behind all backups, which
// says nothing of their age. It is not 0 because the program may be started
// again and again.
const unknownAge = time.Hour

// firstWait returns the wait after a start, by the times at which the existing
// backups were written.
func firstWait(written []time.Time, every time.Duration, now reading) wait {
	if len(written) == 0 {
		return wait{now, 0}
	}
	for _, t := range slices.SortedFunc(slices.Values(written), func(a, b time.Time) int { return b.Compare(a) }) {
		if age := now.wall.Sub(t); age >= 0 {
			return wait{reading{t, now.up - age}, every}
		}
	}
	return wait{now, min(every, unknownAge)}
}

// afterFailure returns how soon a backup that failed is tried again.
func afterFailure(every time.Duration) time.Duration {
	return min(every, max(time.Minute, every/24))
}
