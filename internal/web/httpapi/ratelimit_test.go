package httpapi_test

import (
	"errors"
	"net"
	"net/http"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

// newLimit returns a limit and a function that advances its clock.
func newLimit(perSecond int) (limit *httpapi.RateLimit, advance func(time.Duration)) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	limit = httpapi.NewRateLimit(perSecond, func() time.Time { return now })
	return limit, func(d time.Duration) { now = now.Add(d) }
}

// admit checks the status (0 for success) and the RateLimit header of a request.
func admit(t *testing.T, limit *httpapi.RateLimit, bucket *rate.Limiter, status int, remaining string) http.Header {
	t.Helper()
	h := http.Header{}
	var err error
	if bucket == nil {
		err = limit.AdmitUnknown(from("192.0.2.1"), h)
	} else {
		err = limit.Admit(bucket, h)
	}
	var p *httpapi.Problem
	if errors.As(err, &p); err != nil != (status != 0) || status != 0 && (p.Status != status || p.Header.Get("Retry-After") != "1") {
		t.Errorf("%v, want status %d", err, status)
	}
	if got := h.Get("RateLimit"); got != remaining {
		t.Errorf("RateLimit: %s, want %s", got, remaining)
	}
	return h
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	limit, advance := newLimit(3)
	one, other := limit.NewBucket(), limit.NewBucket()
	for _, remaining := range []string{`"key";r=5;t=2`, `"key";r=4;t=2`, `"key";r=3;t=1`, `"key";r=2;t=1`, `"key";r=1;t=1`, `"key";r=0;t=1`} {
		admit(t, limit, one, 0, remaining)
	}
	for range 3 {
		h := admit(t, limit, one, 429, `"key";r=0;t=1`)
		if got := h.Get("RateLimit-Policy"); got != `"key";q=6;w=2` {
			t.Errorf("RateLimit-Policy: %s", got)
		}
	}
	admit(t, limit, other, 0, `"key";r=5;t=2`)
	advance(time.Second / 3)
	admit(t, limit, one, 0, `"key";r=0;t=1`)
	admit(t, limit, one, 429, `"key";r=0;t=1`)
	advance(time.Second / 3)
	admit(t, limit, one, 0, `"key";r=0;t=1`)
	admit(t, limit, one, 429, `"key";r=0;t=1`)
	advance(time.Hour)
	admit(t, limit, one, 0, `"key";r=5;t=2`)
}

// from returns a request from an address.
func from(address string) *http.Request {
	return &http.Request{RemoteAddr: net.JoinHostPort(address, "1234")}
}

// TestRateLimitOfUnknown checks that the unknown callers of a source share a bucket and do not affect
// known callers or other sources.
func TestRateLimitOfUnknown(t *testing.T) {
	t.Parallel()
	limit, advance := newLimit(2)
	for _, remaining := range []string{`"unknown";r=3;t=2`, `"unknown";r=2;t=1`, `"unknown";r=1;t=1`, `"unknown";r=0;t=1`} {
		h := admit(t, limit, nil, 0, remaining)
		if got := h.Get("RateLimit-Policy"); got != `"unknown";q=4;w=2` {
			t.Errorf("RateLimit-Policy: %s", got)
		}
	}
	admit(t, limit, nil, 429, `"unknown";r=0;t=1`)
	admit(t, limit, limit.NewBucket(), 0, `"key";r=3;t=2`)
	if err := limit.AdmitUnknown(from("192.0.2.2"), http.Header{}); err != nil {
		t.Errorf("other source: %v", err)
	}
	advance(time.Second)
	admit(t, limit, nil, 0, `"unknown";r=1;t=1`)
}

func TestNoRateLimit(t *testing.T) {
	t.Parallel()
	limit := httpapi.NewRateLimit(0, time.Now)
	for range 1000 {
		if h := admit(t, limit, limit.NewBucket(), 0, ""); len(h) > 0 {
			t.Fatalf("headers without a limit: %v", h)
		}
	}
}
