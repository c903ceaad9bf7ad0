package httpapi

import (
	"fmt"
	"net/http"
	"time"

	"golang.org/x/time/rate"
)

// burstSeconds is the size of a burst, as seconds of the regular rate.
const burstSeconds = 2

// RateLimit limits the requests per second of each caller. Unknown callers from one source share a
// bucket and do not affect known callers. A nil *RateLimit sets no limit.
type RateLimit struct {
	now            func() time.Time
	perSecond      int
	known, unknown quota
	sources        Sources[rate.Limiter]
}

// quota describes the limit for one kind of caller in responses.
type quota struct {
	name    string
	policy  []string // the header RateLimit-Policy
	refusal *Problem
}

// NewRateLimit returns a limit of perSecond requests for each caller, or nil if perSecond is 0.
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

// NewBucket returns the bucket of a new caller. It is nil without a limit.
func (l *RateLimit) NewBucket() *rate.Limiter {
	if l == nil {
		return nil
	}
	return rate.NewLimiter(rate.Limit(l.perSecond), burstSeconds*l.perSecond)
}

// Admit takes a token from the caller's bucket and sets the RateLimit headers
// (draft-ietf-httpapi-ratelimit-headers-11). The error is a *Problem.
func (l *RateLimit) Admit(bucket *rate.Limiter, h http.Header) error {
	if l == nil {
		return nil
	}
	return l.admit(&l.known, bucket, h)
}

// AdmitUnknown is Admit with the bucket of the request's source.
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
	window := max(1, (left+l.perSecond-1)/l.perSecond) // seconds to use up the tokens at the regular rate
	h["Ratelimit-Policy"] = q.policy
	h["Ratelimit"] = []string{fmt.Sprintf(`"%s";r=%d;t=%d`, q.name, left, window)}
	if !ok {
		return q.refusal
	}
	return nil
}
