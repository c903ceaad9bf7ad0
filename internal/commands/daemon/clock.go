package daemon

import (
	"fmt"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/integrity"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

// checkClock warns if the clock has moved since the last call, at which it showed d.clock, while passed
// went by on the monotonic clock: back, or ahead past the end of keys and sessions.
func (d *daemon) checkClock(wall time.Time, passed time.Duration) error {
	last, expired, env := d.clock, 0, d.env
	env.Warnings = new([]string)
	defer func() {
		if len(*env.Warnings) > 0 {
			d.noteWarnings(*env.Warnings...)
		}
	}()
	d.clock = wall
	ahead := wall.Round(0).Sub(last.Round(0)) - passed
	if ahead < -integrity.ClockTolerance {
		database.WarnOfClock(env, d.service.Store.Clock(), d.DB)
	}
	if ahead <= integrity.ClockTolerance { // the monotonic clock may stop while the computer sleeps
		return nil
	}
	err := d.service.Store.Keys(func(_ store.KeyHash, k store.Key) {
		if k.State(last) == store.StateActive && k.State(wall) != store.StateActive {
			expired++
		}
	})
	if expired > 0 {
		env.Warn(fmt.Sprintf("the clock of this computer moved from %s to %s at once: %s expired", last.UTC().Format(time.RFC3339),
			wall.UTC().Format(time.RFC3339), cli.Count(expired, "key or session", "keys and sessions")), database.ClockHint(d.DB))
	}
	return err
}
