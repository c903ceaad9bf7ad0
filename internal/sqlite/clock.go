package sqlite

import (
	"sync/atomic"
	"time"
)

// Clock never goes back, but for Set. What has expired once stays expired, also
// on a machine that starts in 1970.
type Clock struct {
	system func() time.Time
	latest atomic.Int64 // milliseconds
}

// Now returns the system's time, or the latest time seen if that is later. It
// is in UTC.
func (c *Clock) Now() time.Time {
	now := c.system()
	for {
		latest := c.latest.Load()
		if now.UnixMilli() <= latest {
			return time.UnixMilli(latest).UTC()
		}
		if c.latest.CompareAndSwap(latest, now.UnixMilli()) {
			return now.UTC()
		}
	}
}

// Behind returns how far the system's clock is behind the latest time seen.
// Either the clock is wrong now, or it was far ahead once.
func (c *Clock) Behind() time.Duration { return c.Now().Sub(c.system()) }

// Earlier returns the system's time, which is never later than Now. It is for
// what must not happen too soon.
func (c *Clock) Earlier() time.Time { return c.system().UTC() }

// Set sets the latest time seen, in milliseconds.
func (c *Clock) Set(latest int64) { c.latest.Store(latest) }
