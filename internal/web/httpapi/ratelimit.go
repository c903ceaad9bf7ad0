package httpapi

import (
	"fmt"
	"net/http"
	"time"

	"golang.org/x/time/rate"
)

// burstSeconds is how many seconds' worth of requests may come at once.
const burstSeconds = 2

// RateLimit limits how many requests each caller may send: so many per second,
// and twice as many at once. The unknown callers of a source share one bucket, so
// that they take nothing from the known ones. A nil *RateLimit limits nothing.
type RateLimit struct {
	now            func() time.Time
	perSecond      int
	known, unknown quota
	sources        Sources[rate.Limiter]
}

// quota is what the responses to one kind of callers say of the limit.
type quota struct {
	name    string
	policy  []string // the header RateLimit-Policy
	refusal *Problem
}

// NewRateLimit returns a limit of perSecond requests for each caller by the
// clock now. It returns nil for 0.
func NewRateLimit(perSecond int, now func() time.Time) *RateLimit {
	if perSecond == 0 {
		return nil
	}
	newQuota := func(name, refusal string) quota {
		policy := fmt.Sprintf(`"%s";q=%d;w=%d`, name, burstSeconds*perSecond, burstSeconds)
		return quota{name, []string{policy}, &Problem{Kind: TooMany, Header: RetryLater, Detail: refusal}}
	}
	return &RateLimit{
		now:       now,
		perSecond: perSecond,
		known:     newQuota("key", fmt.Sprintf("This API key may send %d requests per second. Wait a second.", perSecond)),
		unknown:   newQuota("unknown", "There are too many requests without a known API key. Wait a second."),
	}
}

// NewBucket returns the bucket of a new caller.
func (l *RateLimit) NewBucket() *rate.Limiter {
	if l == nil {
		return nil
	}
	return rate.NewLimiter(rate.Limit(l.perSecond), burstSeconds*l.perSecond)
}

// Admit takes a request from the caller's bucket. It sets the headers that say how
// much is left (draft-ietf-httpapi-ratelimit-headers-11). The error is a *Problem.
func (l *RateLimit) Admit(bucket *rate.Limiter, h http.Header) error {
	if l == nil {
		return nil
	}
	return l.admit(&l.known, bucket, h)
}

// AdmitUnknown takes a request from the bucket of its source, as Admit does.
func (l *RateLimit) AdmitUnknown(r *http.Request, h http.Header) error {
	if l == nil {
		return nil
	}
	return l.admit(&l.unknown, l.sources.Of(r, l.NewBucket), h)
}

func (l *RateLimit) admit(q *quota, bucket *rate.Limiter, h http.Header) error {
	now := l.now()
	ok := bucket.AllowN(now, 1)
	left := max(0, int(bucket.TokensAt(now)))
	window := max(1, (left+l.perSecond-1)/l.perSecond) // seconds in which what is left is not more than the rate
	h["Ratelimit-Policy"] = q.policy
	h["Ratelimit"] = []string{fmt.Sprintf(`"%s";r=%d;t=%d`, q.name, left, window)}
	if !ok {
		return q.refusal
	}
	return nil
}
