package httpapi

import (
	"fmt"
	"net/http"
	"sync"
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
	sources        Sources[unknownCallers]
}

// unknownCallers are the callers without a known key of one source.
type unknownCallers struct {
	bucket *rate.Limiter
	mu     sync.Mutex
	wrong  WrongSecrets
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
	return l.admit(&l.known, bucket, 1, h)
}

// AdmitUnknown takes a request from the bucket of its source, as Admit does. It
// takes nothing where the request repeats a secret that Wrong has noted within the last
// minute: repeated is then set, and the caller gives the same answer as before.
func (l *RateLimit) AdmitUnknown(r *http.Request, secret string, h http.Header) (repeated bool, err error) {
	if l == nil {
		return false, nil
	}
	from := l.callersOf(r)
	from.mu.Lock()
	repeated = from.wrong.Has(secret, l.now())
	from.mu.Unlock()
	if repeated {
		return true, l.admit(&l.unknown, from.bucket, 0, h)
	}
	return false, l.admit(&l.unknown, from.bucket, 1, h)
}

// Wrong notes that the secret of a request was wrong.
func (l *RateLimit) Wrong(r *http.Request, secret string) {
	if l == nil {
		return
	}
	from := l.callersOf(r)
	from.mu.Lock()
	defer from.mu.Unlock()
	from.wrong.Add(secret, l.now())
}

func (l *RateLimit) callersOf(r *http.Request) *unknownCallers {
	return l.sources.Of(r, func() *unknownCallers { return &unknownCallers{bucket: l.NewBucket()} })
}

func (l *RateLimit) admit(q *quota, bucket *rate.Limiter, requests int, h http.Header) error {
	now := l.now()
	ok := bucket.AllowN(now, requests)
	left := max(0, int(bucket.TokensAt(now)))
	window := max(1, (left+l.perSecond-1)/l.perSecond) // seconds in which what is left is not more than the rate
	h["Ratelimit-Policy"] = q.policy
	h["Ratelimit"] = []string{fmt.Sprintf(`"%s";r=%d;t=%d`, q.name, left, window)}
	if !ok {
		return q.refusal
	}
	return nil
}
