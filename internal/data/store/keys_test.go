package store_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
)

// createKey creates a key and returns it.
func createKey(t *testing.T, s *store.Store, k store.NewKey) (key string) {
	t.Helper()
	must(t, s.CreateKey(k, func(text string) error { key = text; return nil }))
	return key
}

// allKeys returns the keys that Keys yields.
func allKeys(t *testing.T, s *store.Store) map[store.KeyHash]store.Key {
	t.Helper()
	all := map[store.KeyHash]store.Key{}
	must(t, s.Keys(func(hash store.KeyHash, k store.Key) { all[hash] = k }))
	return all
}

// listedKeys returns the keys that ListKeys yields, each with its department.
func listedKeys(t *testing.T, s *store.Store, tenant string) (all []string) {
	t.Helper()
	must(t, s.ListKeys(tenant, func(k store.Key, tenant string) { all = append(all, fmt.Sprintf("%+v %s", k, tenant)) }))
	return all
}

func TestKeys(t *testing.T) {
	t.Parallel()
	s := newStoreAt(t, func() time.Time { return noon })
	created := noon.UnixMilli()
	first := createKey(t, s, store.NewKey{Tenant: "Engine 7", Label: "desk", Scope: store.ScopeRead, ExpiresAt: noon.Add(time.Hour)})
	second := createKey(t, s, store.NewKey{Tenant: "Rescue 3", New: true, Scope: store.ScopeWrite})
	want := map[store.KeyHash]store.Key{
		store.HashKey(first):  {ID: 1, Tenant: ours, Scope: "read", Label: "desk", CreatedAt: created, ExpiresAt: created + 3_600_000},
		store.HashKey(second): {ID: 2, Tenant: 3, Scope: "write", CreatedAt: created},
	}
	if got := allKeys(t, s); !maps.Equal(got, want) {
		t.Errorf("the keys are %+v, want %+v", got, want)
	}
	one, two := fmt.Sprintf("%+v Engine 7", want[store.HashKey(first)]), fmt.Sprintf("%+v Rescue 3", want[store.HashKey(second)])
	for tenant, want := range map[string][]string{"": {one, two}, "Engine 7": {one}, "Rescue 3": {two}, "Ladder 1": nil, "none": nil} {
		if got := listedKeys(t, s, tenant); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", tenant, got, want)
		}
	}
	for key, want := range map[string]bool{first: true, second: true, first + "x": false, "": false} {
		if has, err := s.HasKey(store.HashKey(key)); err != nil || has != want {
			t.Errorf("%q: %t, %v", key, has, err)
		}
	}
	expiry := "2026-07-01T13:00:00.000Z"
	checkKeyInfo(t, s, 1, store.KeyInfo{Department: "Engine 7", Label: "desk", Scope: "read", ExpiresAt: &expiry})
	checkKeyInfo(t, s, 2, store.KeyInfo{Department: "Rescue 3", Scope: "write"})
	if _, err := s.KeyInfo(3); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a key that does not exist: %v", err)
	}
}

func checkKeyInfo(t *testing.T, s *store.Store, id store.KeyID, want store.KeyInfo) {
	t.Helper()
	got, err := s.KeyInfo(id)
	if err == nil && got.ExpiresAt != nil && want.ExpiresAt != nil && *got.ExpiresAt == *want.ExpiresAt {
		got.ExpiresAt = want.ExpiresAt
	}
	if err != nil || got != want {
		t.Errorf("key %d: %+v, %v", id, got, err)
	}
}

// TestKeyNotShown checks that neither a key nor its department is created if show fails.
func TestKeyNotShown(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	failure := errors.New("the pipe is closed")
	err := s.CreateKey(store.NewKey{Tenant: "Rescue 3", New: true, Scope: store.ScopeWrite}, func(string) error { return failure })
	if _, none := s.Tenant("Rescue 3"); !errors.Is(err, failure) || len(allKeys(t, s)) != 0 || none == nil {
		t.Errorf("the error is %v, the keys are %v, the department: %v", err, allKeys(t, s), none)
	}
}

func TestRevokeKey(t *testing.T) {
	t.Parallel()
	now := noon
	s := newStoreAt(t, func() time.Time { return now })
	key := createKey(t, s, store.NewKey{Tenant: "Engine 7", Scope: store.ScopeRead})
	for _, want := range []bool{false, true, true} {
		if already, err := s.RevokeKey(store.AnyTenant, 1); err != nil || already != want {
			t.Errorf("already revoked: %t, %v", already, err)
		}
		now = now.Add(time.Hour)
	}
	if k := allKeys(t, s)[store.HashKey(key)]; k.RevokedAt != noon.UnixMilli() {
		t.Errorf("the key is %+v", k)
	}
	if _, err := s.RevokeKey(store.AnyTenant, 2); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a key that does not exist: %v", err)
	}
}

func TestKeyState(t *testing.T) {
	t.Parallel()
	now := noon.UnixMilli()
	for _, tt := range []struct {
		key  store.Key
		want string
	}{
		{store.Key{}, "active"},
		{store.Key{ExpiresAt: now + 1}, "active"},
		{store.Key{ExpiresAt: now}, "expired"},
		{store.Key{RevokedAt: 1, ExpiresAt: now}, "revoked"},
		{store.Key{RevokedAt: now}, "revoked"},
		{store.Key{CreatedAt: now, Lifetime: 9}, "active"}, // a session
		{store.Key{CreatedAt: now, Lifetime: 9, ExpiresAt: now}, "expired"},
	} {
		if got := tt.key.State(noon); got != tt.want || tt.key.Expired(now) != (tt.key.ExpiresAt == now) {
			t.Errorf("%+v is %s", tt.key, got)
		}
	}
}

// TestKeysVersion checks that the version changes with every change to keys, also by another
// program, but not with the use of a key.
func TestKeysVersion(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	version := func() int64 { t.Helper(); n, err := s.KeysVersion(); must(t, err); return n }
	for i, change := range []func() error{
		func() error {
			return s.CreateKey(store.NewKey{Tenant: "Engine 7", Scope: store.ScopeRead}, func(string) error { return nil })
		},
		func() error { _, err := s.RevokeKey(store.AnyTenant, 1); return err },
		func() error { return tryExec(t, s, `UPDATE keys SET expires_at = 7`) },
		func() error { return tryExec(t, s, `DELETE FROM keys`) },
	} {
		before := version()
		if must(t, change()); version() == before {
			t.Errorf("change %d does not change the version", i)
		}
	}
	key := createKey(t, s, store.NewKey{Tenant: "Engine 7", Scope: store.ScopeRead})
	before := version()
	must(t, s.WriteKeyUses(map[store.KeyID]int64{1: 7_000, 99: 8_000}))
	if k := allKeys(t, s)[store.HashKey(key)]; k.LastUsedAt != 7_000 || version() != before {
		t.Errorf("after a use: %+v, version %d, want %d", k, version(), before)
	}
}
