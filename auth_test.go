package main

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/web/callers"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

// TestRemovedAtThisMoment: a key that is still in memory is unknown once its
// department is gone.
func TestRemovedAtThisMoment(t *testing.T) {
	t.Parallel()
	b := startBare(t, time.Now)
	b.do(t, "GET", collection, "").wants(t, 200)
	_, err := b.server.Store.RemoveTenant(1)
	must(t, err)
	for _, a := range []answer{b.do(t, "GET", collection, ""), b.do(t, "POST", collection, ana), b.do(t, "GET", "/api/v1/changes", "")} {
		if a.wants(t, http.StatusUnauthorized); !strings.Contains(a.body, "unknown") {
			t.Errorf("%s", a.body)
		}
	}
}

// limited starts a server with a rate limit, for which time stands still.
func limited(t *testing.T, perSecond int) *bareServer {
	t.Helper()
	b := startBare(t, time.Now)
	noon := time.Now()
	limit := httpapi.NewRateLimit(perSecond, func() time.Time { return noon })
	b.server.Callers = callers.New(b.server.Store, slog.New(slog.DiscardHandler), limit)
	must(t, b.server.Callers.Reload())
	return b
}

// TestRateLimit: every request of a key counts, and its bucket outlives a change
// of the keys. Beyond the limit no unknown key reaches the database. Package
// httpapi tests how buckets are filled.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	b := limited(t, 2)
	b.do(t, "GET", collection, "").wants(t, 200).remaining(t, `"key";r=3;t=2`)
	b.do(t, "GET", collection+"/x", "").wants(t, 400).remaining(t, `"key";r=2;t=1`)
	b.do(t, "HEAD", collection, "").wants(t, 200).remaining(t, `"key";r=1;t=1`)
	other := b.as(b.newKey(t, time.Time{}))
	must(t, b.server.Callers.Reload())
	b.do(t, "GET", collection, "").wants(t, 200).remaining(t, `"key";r=0;t=1`)
	b.do(t, "GET", collection, "").wants(t, 429).remaining(t, `"key";r=0;t=1`)
	b.do(t, "POST", collection, strings.Repeat("x", 100000)).wants(t, 429)
	other.do(t, "GET", collection, "").wants(t, 200).remaining(t, `"key";r=3;t=2`)
	for _, path := range []string{"/healthz", "/readyz", "/nowhere"} {
		b.do(t, "GET", path, "").remaining(t, "")
	}
	for i, key := range []string{rand.Text(), "mistyped", "", rand.Text()} {
		b.as(key).do(t, "GET", collection, "").wants(t, 401).remaining(t, fmt.Sprintf(`"unknown";r=%d;t=%d`, 3-i, max(1, 2-i)))
	}
	must(t, b.server.Store.Close())
	b.as(rand.Text()).do(t, "GET", collection, "").wants(t, 429) // and not 503
}

// remaining checks the headers of the rate limit, "" for none.
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
