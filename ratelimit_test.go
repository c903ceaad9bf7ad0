package main

import (
	"fmt"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"firefighters/internal/apikey"
)

// limited is a server with a limit of rate, on a clock that the test sets.
func limited(t *testing.T, rate int) (s *testServer, clock *atomic.Int64) {
	t.Helper()
	s = openServer(t, filepath.Join(t.TempDir(), "x.db"), time.Now)
	clock = new(atomic.Int64)
	s.server.auth.limiter = newLimiter(rate)
	s.server.auth.limiter.now = func() time.Duration { return time.Duration(clock.Load()) }
	return s, clock
}

// remaining checks an answer's account of the limit, "" for none.
func (a answer) remaining(t *testing.T, limit string) {
	t.Helper()
	if got := a.header.Get("RateLimit"); got != limit {
		t.Errorf("%d with RateLimit: %s, not %s", a.status, got, limit)
	}
	policy, _, _ := strings.Cut(limit, ";")
	if got := a.header.Get("RateLimit-Policy"); !strings.HasPrefix(got, policy) || (got == "") != (limit == "") {
		t.Errorf("RateLimit-Policy: %s", got)
	}
	if got := a.header.Get("Retry-After"); (got == "1") != (a.status == 429) {
		t.Errorf("%d with Retry-After: %q", a.status, got)
	}
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	s, clock := limited(t, 3)
	one, other := s.as(storeKey(t, s.server.store, time.Time{})), s.as(storeKey(t, s.server.store, time.Time{}))
	must(t, s.server.auth.reload())
	get := func(c client) answer { return c.do(t, "GET", collection, "") }
	for _, limit := range []string{`"key";r=5;t=2`, `"key";r=4;t=2`, `"key";r=3;t=1`, `"key";r=2;t=1`, `"key";r=1;t=1`, `"key";r=0;t=1`} {
		get(one).wants(t, 200).remaining(t, limit)
	}
	for range 3 {
		a := get(one).wants(t, 429)
		a.remaining(t, `"key";r=0;t=1`)
		if got := a.header.Get("RateLimit-Policy"); got != `"key";q=6;w=2` {
			t.Errorf("RateLimit-Policy: %s", got)
		}
	}
	get(other).wants(t, 200).remaining(t, `"key";r=5;t=2`)
	clock.Store(int64(time.Second / 3))
	one.do(t, "GET", collection+"/x", "").wants(t, 400).remaining(t, `"key";r=0;t=1`) // any answer counts
	one.do(t, "POST", collection, strings.Repeat("x", 100000)).wants(t, 429)
	one.do(t, "HEAD", collection, "").wants(t, 429)
	clock.Store(int64(time.Second / 3 * 2))
	storeKey(t, s.server.store, time.Time{})
	must(t, s.server.auth.reload())
	get(one).wants(t, 200) // and what the bucket held has outlived that
	get(one).wants(t, 429)
	clock.Store(int64(time.Hour))
	get(one).wants(t, 200).remaining(t, `"key";r=5;t=2`)
	for _, path := range []string{"/healthz", "/readyz", "/nowhere"} {
		one.do(t, "GET", path, "").remaining(t, "")
	}
}

// TestRateLimitOfUnknownKeys: those who have no key share one bucket, take
// nothing from those who have, and do not reach the database beyond it.
func TestRateLimitOfUnknownKeys(t *testing.T) {
	t.Parallel()
	s, clock := limited(t, 2)
	good := s.as(storeKey(t, s.server.store, time.Time{}))
	must(t, s.server.auth.reload())
	good.do(t, "GET", collection, "").wants(t, 200)
	random := func() answer { return s.as(apikey.New()).do(t, "GET", collection, "") }
	random().wants(t, 401).remaining(t, `"unknown";r=3;t=2`)
	s.as("mistyped").do(t, "GET", collection, "").wants(t, 401).remaining(t, `"unknown";r=2;t=1`)
	s.as("").do(t, "GET", collection, "").wants(t, 401).remaining(t, `"unknown";r=1;t=1`)
	random().wants(t, 401).remaining(t, `"unknown";r=0;t=1`)
	for range 20 {
		random().wants(t, 429).remaining(t, `"unknown";r=0;t=1`)
	}
	good.do(t, "GET", collection, "").wants(t, 200).remaining(t, `"key";r=2;t=1`)
	clock.Store(int64(time.Second))
	fresh := s.as(storeKey(t, s.server.store, time.Time{}))
	fresh.do(t, "GET", collection, "").wants(t, 200).remaining(t, `"key";r=3;t=2`)
	fresh.do(t, "GET", collection, "").wants(t, 200).remaining(t, `"key";r=2;t=1`)
	if known := len(*s.server.auth.byHash.Load()); known != 2 {
		t.Errorf("%d keys are kept, not 2", known)
	}
}

// TestRateLimitSparesDatabase: beyond the limit no unknown key reaches it. It
// is closed, so that one that does has a 503.
func TestRateLimitSparesDatabase(t *testing.T) {
	t.Parallel()
	store, _, err := openStore(filepath.Join(t.TempDir(), "x.db"), true, time.Now)
	must(t, err)
	must(t, store.close())
	server := newServer(store, slog.New(slog.DiscardHandler))
	server.auth.limiter = newLimiter(2)
	server.auth.limiter.now = func() time.Duration { return 0 }
	listening := httptest.NewServer(server)
	defer listening.Close()
	for i := range 20 {
		status := 503
		if i >= 4 {
			status = 429
		}
		newClient(t, listening.URL, apikey.New()).do(t, "GET", collection, "").wants(t, status)
	}
}

// TestRateLimitFlag goes through the front door, where time goes by.
func TestRateLimitFlag(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	s := startWith(t, db, "serve", "--db", db, "--rate-limit", "1")
	eventually(t, "a refusal", func() bool {
		return s.do(t, "GET", collection, "").status == 429
	})
	eventually(t, "to be let in again", func() bool {
		return s.do(t, "GET", collection, "").status == 200
	})
	start(t).do(t, "GET", collection, "").wants(t, 200).remaining(t, "")
}

// TestRates: whatever the rate is, a bucket gives twice that at once and then
// that much per second.
func TestRates(t *testing.T) {
	t.Parallel()
	for _, rate := range []int{1, 2, 3, 7, 50, 999, 10_000, maxRateLimit} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			l, now, b := newLimiter(rate), time.Duration(0), &bucket{}
			l.now = func() time.Duration { return now }
			taken := func() (n int) {
				for _, ok := l.take(b); ok; _, ok = l.take(b) {
					n++
				}
				return n
			}
			if n := taken(); n != 2*rate {
				t.Errorf("%d at once", n)
			}
			b = &bucket{}
			var all atomic.Int64
			var together sync.WaitGroup
			for range 4 {
				together.Go(func() { all.Add(int64(taken())) })
			}
			if together.Wait(); all.Load() != int64(2*rate) {
				t.Errorf("%d at once, together", all.Load())
			}
			for range 5 {
				now += time.Second
				if n := taken(); n < rate || n > rate+1 {
					t.Errorf("%d in a second", n)
				}
			}
			now += time.Hour
			if n := taken(); n != 2*rate {
				t.Errorf("%d at once after a rest", n)
			}
		})
	}
}
