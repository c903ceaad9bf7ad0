package sqlite

import (
	"sync/atomic"
	"time"
)

// LatestMilli is the latest time that a Clock says, 9999-12-31T23:59:59.999Z in
// milliseconds. RFC 3339, and so JSON, has no later one.
const LatestMilli = 253_402_300_799_999

// Clock never goes back, but for Set, and ends at LatestMilli. What has expired
// once stays expired, also on a machine that starts in 1970.
type Clock struct {
	system func() time.Time
	latest atomic.Int64 // milliseconds
}

// Now returns the system's time, or the latest time seen if that is later. It
// is in UTC.
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

// Behind returns how far the system's clock is behind the latest time seen.
// Either the clock is wrong now, or it was far ahead once.
func (c *Clock) Behind() time.Duration { return c.Now().Sub(c.Earlier()) }

// Earlier returns the system's time, which is never later than Now. It is for
// what must not happen too soon.
func (c *Clock) Earlier() time.Time {
	now := c.system().UTC()
	if now.UnixMilli() > LatestMilli {
		return time.UnixMilli(LatestMilli).UTC()
	}
	return now
}

// Set sets the latest time seen, in milliseconds.
func (c *Clock) Set(latest int64) { c.latest.Store(min(latest, LatestMilli)) }
