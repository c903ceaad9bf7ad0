package sqlite

import (
	"sync/atomic"
	"time"
)

// LatestMilli is the latest time of a Clock, 9999-12-31T23:59:59.999Z in milliseconds. RFC 3339
// cannot express a later one.
const LatestMilli = 253_402_300_799_999

// Clock is a clock that never goes back, except by Set, and stops at LatestMilli. Expired keys and
// sessions stay expired, even on a machine that starts in 1970.
type Clock struct {
	system func() time.Time
	latest atomic.Int64 // milliseconds
}

// Now returns the later of the system's time and the latest time seen, in UTC.
func (c *Clock) Now() time.Time {
	now := c.Earlier()
	for {
		latest := c.latest.Load()
		if now.UnixMilli() <= latest {
			return time.UnixMilli(latest).UTC()
		}
		if c.latest.CompareAndSwap(latest, now.UnixMilli()) {
			return now
		}
	}
}

// Behind returns how far the system's clock is behind the latest time seen. A positive value means
// that the clock is wrong now, or was far ahead once.
func (c *Clock) Behind() time.Duration { return c.Now().Sub(c.Earlier()) }

// Earlier returns the system's time, which is never later than Now. Use it for actions that must
// not happen too early.
func (c *Clock) Earlier() time.Time {
	now := c.system().UTC()
	if now.UnixMilli() > LatestMilli {
		return time.UnixMilli(LatestMilli).UTC()
	}
	return now
}

// Set sets the latest time seen, in milliseconds.
func (c *Clock) Set(latest int64) { c.latest.Store(min(latest, LatestMilli)) }
