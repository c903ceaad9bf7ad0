package callers

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newStore returns a store with a clock, without departments.
func newStore(t *testing.T, now func() time.Time) *store.Store {
	t.Helper()
	schema, err := os.ReadFile("../../../schema.sql")
	must(t, err)
	path := filepath.Join(t.TempDir(), "x.db")
	must(t, os.WriteFile(path, nil, 0o600))
	must(t, store.Format(string(schema), 1).Migrate(path, 0, 1, func(c *sqlite.Conn) error { return store.Create(c, string(schema)) }))
	s, err := store.Open(path, now)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// newKey creates a key of the only department.
func newKey(t *testing.T, s *store.Store) (key string) {
	t.Helper()
	must(t, s.CreateKey(store.NewKey{Scope: store.ScopeWrite}, func(text string) error {
		key = text
		return nil
	}))
	return key
}

// TestSession: a session is known until it ends, by itself or with the key that opened it.
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
	is := func(secret string, id store.KeyID) {
		t.Helper()
		if got, err := c.Session(secret); got.ID != id || (id == 0) != errors.Is(err, store.ErrNotFound) {
			t.Errorf("the session %d: %+v, %v", id, got, err)
		}
	}
	for _, text := range []string{"", first, "ff_", strings.ToUpper(first), rand.Text()} {
		is(text, 0)
	}
	secret, session := open(first)
	for range 4 { // each use prolongs it
		is(secret, session.ID)
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
	is(secret, 0)

	mine, own := open(first)
	other, others := open(newKey(t, s))
	is(mine, own.ID)
	is(other, others.ID)
	must(t, c.EndSession(own))
	is(mine, 0)
	is(other, others.ID)
	_, err := s.RevokeKey(store.AnyTenant, others.OpenedBy)
	must(t, errors.Join(err, c.Reload()))
	is(other, 0)
}

// TestReloadKeys: keys that are read again have all changes, and keep what only this process knows.
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
