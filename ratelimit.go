package main

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

// limiter bounds how many requests each key may send: so many per second, and
// twice as many at once after a rest. Those who come without a key that is
// known here share one bucket, so that they take neither memory nor time of
// the database, and nothing from those who have one. A nil limiter bounds
// nothing.
type limiter struct {
	rate    int64
	now     func() time.Duration // since it began; unlike the time of day it never jumps
	unknown bucket

	policy, unknownPolicy []string // the header RateLimit-Policy
}

// bucket is the moment up to which the requests sent so far, one at a time at
// the rate, would last: as the generic cell rate algorithm has it.
type bucket struct{ busyUntil atomic.Int64 }

// burstSeconds is how many seconds' worth of requests may come at once.
const burstSeconds = 2

func newLimiter(rate int) *limiter {
	if rate == 0 {
		return nil
	}
	began := time.Now()
	policy := func(name string) []string {
		return []string{fmt.Sprintf(`"%s";q=%d;w=%d`, name, burstSeconds*rate, burstSeconds)}
	}
	return &limiter{
		rate:          int64(rate),
		now:           func() time.Duration { return time.Since(began) },
		policy:        policy("key"),
		unknownPolicy: policy("unknown"),
	}
}

// take takes a request from the bucket, and gives how many more it has.
func (l *limiter) take(b *bucket) (left int64, ok bool) {
	interval := int64(time.Second) / l.rate
	full := burstSeconds * l.rate * interval
	for {
		now, busy := int64(l.now()), b.busyUntil.Load()
		next := max(now, busy) + interval
		if next-now > full {
			return 0, false
		}
		if b.busyUntil.CompareAndSwap(busy, next) {
			return (full - (next - now)) / interval, true
		}
	}
}

// admit lets a request in, by its key if that is known, and says in the
// answer's headers how many more may come (draft-ietf-httpapi-ratelimit-headers-11):
// what is left, within a window in which it is no more than the rate.
func (l *limiter) admit(c *credential, answer http.Header) error {
	if l == nil {
		return nil
	}
	name, policy, b := "key", l.policy, (*bucket)(nil)
	if c != nil {
		b = c.bucket
	} else {
		name, policy, b = "unknown", l.unknownPolicy, &l.unknown
	}
	left, ok := l.take(b)
	window := max(1, (left+l.rate-1)/l.rate)
	answer["Ratelimit-Policy"] = policy
	answer["Ratelimit"] = []string{fmt.Sprintf(`"%s";r=%d;t=%d`, name, left, window)}
	switch {
	case ok:
		return nil
	case c == nil:
		return &problem{Status: http.StatusTooManyRequests, header: retryLater,
			Detail: "There are too many requests without a known API key. Wait a second."}
	}
	return &problem{Status: http.StatusTooManyRequests, header: retryLater,
		Detail: fmt.Sprintf("This API key may send %d requests per second. Wait a second.", l.rate)}
}
