package daemon

import (
	"fmt"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/integrity"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

// clockWatch is the state of watchClock.
type clockWatch struct {
	began  time.Time     // with a monotonic reading
	wall   time.Time     // the time at the last call
	passed time.Duration // from began to the last call, by the monotonic clock
}

// watchClock warns if someone has set the clock of the computer since the last call.
func (d *daemon) watchClock() error {
	now := time.Now()
	if d.clock.began.IsZero() {
		d.clock = clockWatch{began: now, wall: now.Round(0)}
	}
	return d.seeClock(now.Round(0), now.Sub(d.clock.began))
}

// seeClock warns if a wall clock has moved unlike the monotonic clock: back, or ahead past the end of
// keys and sessions. The monotonic clock may stop while the computer sleeps.
func (d *daemon) seeClock(wall time.Time, passed time.Duration) error {
	last := d.clock
	d.clock.wall, d.clock.passed = wall, passed
	ahead := wall.Sub(last.wall) - (passed - last.passed)
	if ahead.Abs() <= integrity.ClockTolerance {
		return nil
	}
	if ahead < 0 {
		database.WarnOfClock(d.env, d.service.Store.Clock(), d.DB)
	} else if err := d.warnOfExpired(last.wall, wall); err != nil {
		return err
	}
	d.noteWarnings()
	return nil
}

// warnOfExpired warns if keys or sessions expired between two times.
func (d *daemon) warnOfExpired(from, to time.Time) error {
	expired := 0
	err := d.service.Store.Keys(func(_ store.KeyHash, k store.Key) {
		if k.State(from) == store.StateActive && k.State(to) != store.StateActive {
			expired++
		}
	})
	if expired > 0 {
		d.env.Warn(fmt.Sprintf("the clock of this computer moved from %s to %s at once: %s expired",
			from.UTC().Format(time.RFC3339), to.UTC().Format(time.RFC3339), cli.Count(expired, "key or session", "keys and sessions")),
			database.ClockHint(d.DB))
	}
	return err
}
