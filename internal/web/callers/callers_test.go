package callers

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newStore returns a store without departments, with a test clock.
func newStore(t *testing.T, now func() time.Time) *store.Store {
	t.Helper()
	return openStore(t, newDatabase(t), now)
}

// newDatabase returns the path of a new database without departments.
func newDatabase(t *testing.T) string {
	t.Helper()
	schema, err := os.ReadFile("../../../schema.sql")
	must(t, err)
	path := filepath.Join(t.TempDir(), "x.db")
	must(t, os.WriteFile(path, nil, 0o600))
	must(t, store.Format(string(schema), 1).Migrate(path, 0, 1, func(c *sqlite.Conn) error { return store.Create(c, string(schema)) }))
	return path
}

func openStore(t *testing.T, path string, now func() time.Time) *store.Store {
	t.Helper()
	s, err := store.Open(path, now)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// newKey creates a key for the only department.
func newKey(t *testing.T, s *store.Store) (key string) { return newKeyUntil(t, s, time.Time{}) }

// newKeyUntil is newKey with an expiry.
func newKeyUntil(t *testing.T, s *store.Store, expires time.Time) (key string) {
	t.Helper()
	must(t, s.CreateKey(store.NewKey{Scope: store.ScopeWrite, ExpiresAt: expires}, func(text string) error {
		key = text
		return nil
	}))
	return key
}

// TestSession checks that a session works until it ends or its key is revoked or expires.
func TestSession(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	s := newStore(t, func() time.Time { return now })
	c, first := New(s, slog.New(slog.DiscardHandler), nil), newKey(t, s)
	open := func(key string) (secret string, k store.Key) {
		t.Helper()
		secret, k, err := s.OpenSession(key, "", time.Hour)
		must(t, err)
		return secret, k
	}
	is := func(secret string, id store.KeyID, want error) {
		t.Helper()
		if got, err := c.Session(secret); got.ID != id || !errors.Is(err, want) {
			t.Errorf("session %d: %+v, %v", id, got, err)
		}
	}
	for _, text := range []string{"", first, "ff_", strings.ToUpper(first), rand.Text()} {
		is(text, 0, store.ErrNotFound)
	}
	secret, session := open(first)
	for range 4 { // each use extends the session
		is(secret, session.ID, nil)
		now = now.Add(50 * time.Minute)
	}
	if got, err := c.Session(secret); err != nil || !got.IsSession() || got.Tenant != session.Tenant || got.Scope != store.ScopeWrite || got.OpenedBy != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	must(t, c.writeUses())
	if key := keyWith(t, s, session.ID); key.LastUsedAt != now.UnixMilli() || key.Expiry() != now.Add(time.Hour).UnixMilli() {
		t.Errorf("%+v", key)
	}
	now = now.Add(time.Hour)
	is(secret, 0, store.ErrNotFound)

	mine, own := open(first)
	other, others := open(newKey(t, s))
	is(mine, own.ID, nil)
	is(other, others.ID, nil)
	must(t, c.EndSession(own))
	is(mine, 0, ErrRevokedKey)
	is(other, others.ID, nil)
	_, err := s.RevokeKey(store.AnyTenant, others.OpenedBy)
	must(t, errors.Join(err, c.Reload()))
	is(other, 0, ErrRevokedKey)
}

// TestReloadKeys checks that a reload updates the keys and keeps the state that only memory has.
func TestReloadKeys(t *testing.T) {
	t.Parallel()
	s := newStore(t, time.Now)
	c, key := New(s, slog.New(slog.DiscardHandler), nil), newKey(t, s)
	must(t, c.Reload())
	c.known(key).used.Store(7)
	newKey(t, s)
	newKey(t, s)
	_, err := s.RevokeKey(store.AnyTenant, 2)
	must(t, err)
	must(t, c.Reload())
	var states []string
	for _, k := range *c.byHash.Load() {
		states = append(states, fmt.Sprint(k.ID, " ", k.State(time.Now()), " ", k.used.Load()))
	}
	slices.Sort(states)
	if want := []string{"1 active 7", "2 revoked 0", "3 active 0"}; !slices.Equal(states, want) {
		t.Errorf("got %q, want %q", states, want)
	}
}

// TestOldKeys checks that a revoked key ends within a second without Reload, and that
// the first request after a pause is reported.
func TestOldKeys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t, time.Now)
		c, key := New(s, slog.New(slog.DiscardHandler), nil), newKey(t, s)
		find(t, c, key, nil, "")
		_, err := s.RevokeKey(store.AnyTenant, 1)
		must(t, err)
		find(t, c, key, nil, "")
		if len(c.Woken()) > 0 {
			t.Error("woken without a pause")
		}
		time.Sleep(idleAfter + 1)
		find(t, c, key, ErrRevokedKey, "")
		if len(c.Woken()) == 0 || c.Idle() > 0 {
			t.Errorf("not woken after a pause, %v idle", c.Idle())
		}
	})
}

// find checks the error of Find and the RateLimit header.
func find(t *testing.T, c *Callers, key string, want error, limit string) {
	t.Helper()
	h := http.Header{}
	_, err := c.Find(httptest.NewRequest("GET", "/", nil), key, h)
	if p, ok := errors.AsType[*httpapi.Problem](err); ok {
		err = errLimit
		if p.Status != http.StatusTooManyRequests || p.Header.Get("Retry-After") != "1" {
			t.Errorf("%+v", p)
		}
	}
	if err != want || h.Get("RateLimit") != limit {
		t.Errorf("got %v with RateLimit %s, want %v with %s", err, h.Get("RateLimit"), want, limit)
	}
}

var errLimit = errors.New("beyond the limit")

// TestFindLimit checks that every request counts and that a bucket survives a reload. Unknown keys over
// the limit do not reach the database. Package httpapi tests how buckets are filled.
func TestFindLimit(t *testing.T) {
	t.Parallel()
	noon := time.Now()
	s := newStore(t, time.Now)
	limit := httpapi.NewRateLimit(2, func() time.Time { return noon })
	c, key := New(s, slog.New(slog.DiscardHandler), limit), newKey(t, s)
	must(t, c.Reload())
	find(t, c, key, nil, `"key";r=3;t=2`)
	find(t, c, key, nil, `"key";r=2;t=1`)
	other := newKey(t, s)
	must(t, c.Reload())
	find(t, c, key, nil, `"key";r=1;t=1`)
	find(t, c, key, nil, `"key";r=0;t=1`)
	find(t, c, key, errLimit, `"key";r=0;t=1`)
	find(t, c, other, nil, `"key";r=3;t=2`)
	find(t, c, rand.Text(), ErrUnknownKey, `"unknown";r=3;t=2`)
	find(t, c, "", ErrNoKey, `"unknown";r=2;t=1`)
	find(t, c, rand.Text(), ErrUnknownKey, `"unknown";r=1;t=1`)
	find(t, c, newKey(t, s), nil, `"key";r=3;t=2`) // not in memory yet
	must(t, s.Close())
	find(t, c, rand.Text(), errLimit, `"unknown";r=0;t=1`) // does not reach the closed store
}

// TestFindDevice checks that each wrong key of a device is logged, even a repeated one, and that a
// request without a key is not.
func TestFindDevice(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := newStore(t, time.Now)
	c, key := New(s, slog.New(slog.NewJSONHandler(&log, nil)), nil), newKey(t, s)
	ask := func(key string, want error) {
		t.Helper()
		if _, err := c.FindDevice(httptest.NewRequest("GET", "/", nil), key, http.Header{}); err != want {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	ask("", ErrNoKey)
	ask(key, nil)
	for range 3 {
		ask("wrong", ErrUnknownKey)
	}
	must(t, c.Finish())
	var counts []string
	for line := range strings.Lines(log.String()) {
		_, count, _ := strings.Cut(line, `"count":`)
		counts = append(counts, strings.TrimSpace(count))
	}
	if want := []string{`1,"code":"key_unknown"}`, `2,"code":"key_unknown"}`}; !slices.Equal(counts, want) {
		t.Errorf("unexpected log: %s", &log)
	}
}

// TestExpiredStaysExpired checks that an expired key stays expired if the clock is set back, both at
// run time and before a start.
func TestExpiredStaysExpired(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	now, path := noon, newDatabase(t)
	clock := func() time.Time { return now }
	s := openStore(t, path, clock)
	key := newKeyUntil(t, s, noon.Add(time.Hour))
	find(t, New(s, slog.New(slog.DiscardHandler), nil), key, nil, "")
	must(t, s.Close())
	for _, hour := range []int{2, 0, -24 * 365 * 50, 1} {
		now = noon.Add(time.Duration(hour) * time.Hour)
		s := openStore(t, path, clock)
		c := New(s, slog.New(slog.DiscardHandler), nil)
		find(t, c, key, ErrExpiredKey, "")
		now = noon
		find(t, c, key, ErrExpiredKey, "")
		must(t, c.WriteLate()) // as the daemon does each second
		must(t, s.Close())
	}
}

// keyWith returns the stored key with this id.
func keyWith(t *testing.T, s *store.Store, id store.KeyID) (key store.Key) {
	t.Helper()
	must(t, s.Keys(func(_ store.KeyHash, k store.Key) {
		if k.ID == id {
			key = k
		}
	}))
	return key
}
