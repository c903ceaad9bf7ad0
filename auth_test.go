package main

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/apikey"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

// TestSession: an authenticator knows a session until it ends, by itself or with the
// key that opened it.
func TestSession(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	b := startBare(t, func() time.Time { return now })
	auth, s := b.server, b.server.store
	open := func(key string) (secret string, k store.Key) {
		t.Helper()
		secret, k, err := s.OpenSession(key, "", time.Hour)
		must(t, err)
		return secret, k
	}
	is := func(secret string, id store.KeyID) {
		t.Helper()
		if got, err := auth.Session(secret); got.ID != id || (id == 0) != errors.Is(err, store.ErrNotFound) {
			t.Errorf("the session %d: %+v, %v", id, got, err)
		}
	}
	for _, text := range []string{"", b.key, "ff_", strings.ToUpper(b.key), apikey.New()} {
		is(text, 0)
	}
	secret, first := open(b.key)
	for range 4 { // each use prolongs it
		is(secret, first.ID)
		now = now.Add(50 * time.Minute)
	}
	if got, err := auth.Session(secret); err != nil || !got.IsSession() || got.Tenant != first.Tenant || got.Scope != store.ScopeWrite || got.OpenedBy != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	must(t, auth.writeUses())
	if key := keyWith(t, s, first.ID); key.LastUsedAt != now.UnixMilli() || key.Expiry() != now.Add(time.Hour).UnixMilli() {
		t.Errorf("%+v", key)
	}
	now = now.Add(time.Hour)
	is(secret, 0)

	mine, own := open(b.key)
	other, others := open(b.newKey(t, time.Time{}))
	is(mine, own.ID)
	is(other, others.ID)
	must(t, auth.EndSession(own))
	is(mine, 0)
	is(other, others.ID)
	_, err := s.RevokeKey(store.AnyTenant, others.OpenedBy)
	must(t, errors.Join(err, auth.ReloadKeys()))
	is(other, 0)
}

// TestReloadKeys: keys that are read again have all changes, and keep what only this process knows.
func TestReloadKeys(t *testing.T) {
	t.Parallel()
	b := startBare(t, time.Now)
	auth, s := b.server, b.server.store
	must(t, auth.ReloadKeys())
	first := (*auth.byHash.Load())[store.KeyHash(apikey.Hash(b.key))]
	first.used.Store(7)
	b.newKey(t, time.Time{})
	b.newKey(t, time.Time{})
	_, err := s.RevokeKey(store.AnyTenant, 2)
	must(t, err)
	must(t, auth.ReloadKeys())
	var states []string
	for _, c := range *auth.byHash.Load() {
		states = append(states, fmt.Sprint(c.ID, " ", c.State(time.Now()), " ", c.used.Load()))
	}
	slices.Sort(states)
	if want := []string{"1 active 7", "2 revoked 0", "3 active 0"}; !slices.Equal(states, want) {
		t.Errorf("%q, not %q", states, want)
	}
}

// keyWith returns the key with this id as it is stored.
func keyWith(t *testing.T, s *store.Store, id store.KeyID) (key store.Key) {
	t.Helper()
	must(t, s.Keys(func(_ store.KeyHash, k store.Key) {
		if k.ID == id {
			key = k
		}
	}))
	return key
}

// TestRemovedAtThisMoment: a key that is still in memory is unknown once its
// department is gone.
func TestRemovedAtThisMoment(t *testing.T) {
	t.Parallel()
	b := startBare(t, time.Now)
	b.do(t, "GET", collection, "").wants(t, 200)
	_, err := b.server.store.RemoveTenant(1)
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
	b.server.limit = httpapi.NewRateLimit(perSecond, func() time.Time { return noon })
	must(t, b.server.ReloadKeys())
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
	must(t, b.server.ReloadKeys())
	b.do(t, "GET", collection, "").wants(t, 200).remaining(t, `"key";r=0;t=1`)
	b.do(t, "GET", collection, "").wants(t, 429).remaining(t, `"key";r=0;t=1`)
	b.do(t, "POST", collection, strings.Repeat("x", 100000)).wants(t, 429)
	other.do(t, "GET", collection, "").wants(t, 200).remaining(t, `"key";r=3;t=2`)
	for _, path := range []string{"/healthz", "/readyz", "/nowhere"} {
		b.do(t, "GET", path, "").remaining(t, "")
	}
	for i, key := range []string{apikey.New(), "mistyped", "", apikey.New()} {
		b.as(key).do(t, "GET", collection, "").wants(t, 401).remaining(t, fmt.Sprintf(`"unknown";r=%d;t=%d`, 3-i, max(1, 2-i)))
	}
	must(t, b.server.store.Close())
	b.as(apikey.New()).do(t, "GET", collection, "").wants(t, 429) // and not 503
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
