package store_test

import (
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

const lifetime = 90 * 24 * time.Hour

// openSession opens a session and returns it and its secret.
func openSession(t *testing.T, s *store.Store, keyOrCode string) (string, store.Key) {
	t.Helper()
	secret, k, err := s.OpenSession(keyOrCode, "", lifetime)
	must(t, err)
	return secret, k
}

// opensNothing checks that a key or code opens no session.
func opensNothing(t *testing.T, s *store.Store, what, keyOrCode string) {
	t.Helper()
	if secret, k, err := s.OpenSession(keyOrCode, "", lifetime); !errors.Is(err, store.ErrNotFound) || secret != "" || k != (store.Key{}) {
		t.Errorf("%s opens %+v, %v", what, k, err)
	}
}

// state returns the state of a key as a server reads it.
func state(t *testing.T, s *store.Store, id store.KeyID) string {
	t.Helper()
	for _, k := range allKeys(t, s) {
		if k.ID == id {
			return k.State(s.Clock().Now())
		}
	}
	return "not there"
}

// TestOpenSession checks that a session has the properties of the key that opened it, but a
// different key.
func TestOpenSession(t *testing.T) {
	t.Parallel()
	s := newStoreAt(t, func() time.Time { return noon })
	expiry := noon.Add(time.Hour)
	for i, tt := range []struct {
		key   store.NewKey
		label string
	}{
		{store.NewKey{Tenant: "Engine 7", Label: "desk", Scope: store.ScopeRead, ExpiresAt: expiry}, "desk"},
		{store.NewKey{Tenant: "Ladder 1", Scope: store.ScopeAdmin}, "key 3"},
		{store.NewKey{Tenant: "Ladder 1", Label: strings.Repeat("č", 100), Scope: store.ScopeWrite}, strings.Repeat("č", 100)},
	} {
		key := createKey(t, s, tt.key)
		tenant, err := s.Tenant(tt.key.Tenant)
		must(t, err)
		secret, k := openSession(t, s, " "+key+"\n")
		want := store.Key{ID: store.KeyID(2*i + 2), Tenant: tenant, Scope: tt.key.Scope, Label: tt.label, CreatedAt: noon.UnixMilli(),
			ExpiresAt: max(0, tt.key.ExpiresAt.UnixMilli()), Lifetime: lifetime.Milliseconds(), OpenedBy: store.KeyID(2*i + 1)}
		if k != want || !k.IsSession() || allKeys(t, s)[store.HashKey(secret)] != want || secret == key {
			t.Errorf("got\n%+v\nwant\n%+v", k, want)
		}
		opensNothing(t, s, "a session", secret)
	}
	if n := scanInt(t, s, `SELECT count(*) FROM keys`); n != 6 {
		t.Errorf("%d keys", n)
	}
}

// TestNameSession checks that a session has the name of its person, as do later sessions with the
// same login in the department.
func TestNameSession(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	_, k := openSession(t, s, inviteLogin(t, s, ours, "root"))
	_, other := openSession(t, s, invite(t, s, ours, "Ivo", 0))
	version, err := s.KeysVersion()
	must(t, err)
	must(t, s.NameSession(k.ID, strings.Repeat("č", 100)))
	must(t, s.NameSession(k.ID, "Ana Čović"))
	if after, err := s.KeysVersion(); err != nil || after == version {
		t.Errorf("a server does not detect the change: %v", err)
	}
	for _, tt := range []struct {
		code, want string
	}{
		{inviteLogin(t, s, ours, "root"), "Ana Čović"},
		{inviteLogin(t, s, theirs, "root"), "root"},
		{inviteLogin(t, s, ours, "eva"), "eva"},
		{invite(t, s, ours, "root", 0), "root"},
	} {
		if _, k := openSession(t, s, tt.code); k.Label != tt.want {
			t.Errorf("the label is %q, want %q", k.Label, tt.want)
		}
	}
	for _, k := range allKeys(t, s) {
		if k.ID == other.ID && k.Label != "Ivo" {
			t.Errorf("the label of the other session is %q", k.Label)
		}
	}
	key := newKey(t, s, "Engine 7", "")
	for _, id := range []store.KeyID{key, 99} {
		if err := s.NameSession(id, "Ana"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("key %d: %v", id, err)
		}
	}
}

// TestNoSession checks that an invalid text opens no session and adds no row.
func TestNoSession(t *testing.T) {
	t.Parallel()
	now := noon
	s := newStoreAt(t, func() time.Time { return now })
	revoked := createKey(t, s, store.NewKey{Tenant: "Engine 7", Scope: store.ScopeRead})
	expired := createKey(t, s, store.NewKey{Tenant: "Engine 7", Scope: store.ScopeRead, ExpiresAt: noon.Add(time.Hour)})
	_, err := s.RevokeKey(ours, 1)
	must(t, err)
	now = now.Add(time.Hour)
	for what, text := range map[string]string{"nothing": "", "a space": " ", "a revoked key": revoked, "an expired key": expired,
		"an unknown key": rand.Text(), "an unknown code": "K7MQ-3XWP-9HTD"} {
		opensNothing(t, s, what, text)
	}
	if n := len(listedKeys(t, s, "")); n != 2 {
		t.Errorf("%d keys", n)
	}
}

// TestSessionEnds checks that a session expires without use, and no later than its key.
func TestSessionEnds(t *testing.T) {
	t.Parallel()
	now := noon
	s := newStoreAt(t, func() time.Time { return now })
	key := createKey(t, s, store.NewKey{Tenant: "Engine 7", Scope: store.ScopeRead, ExpiresAt: noon.Add(2 * lifetime)})
	_, k := openSession(t, s, key)
	check := func(at time.Time, want string, expiry time.Time) {
		t.Helper()
		for _, now := range allKeys(t, s) {
			if now.ID == k.ID && (now.State(at) != want || now.Expiry() != expiry.UnixMilli()) {
				t.Errorf("%s, expires %v", now.State(at), time.UnixMilli(now.Expiry()))
			}
		}
	}
	end := noon.Add(lifetime)
	check(end.Add(-time.Millisecond), "active", end)
	check(end, "expired", end)
	must(t, s.WriteKeyUses(map[store.KeyID]int64{k.ID: noon.Add(time.Hour).UnixMilli()}))
	check(end, "active", end.Add(time.Hour))
	check(end.Add(time.Hour), "expired", end.Add(time.Hour))
	must(t, s.WriteKeyUses(map[store.KeyID]int64{k.ID: end.Add(time.Hour).UnixMilli()}))
	check(end.Add(lifetime-time.Millisecond), "active", noon.Add(2*lifetime))
	check(end.Add(lifetime), "expired", noon.Add(2*lifetime))
	exec(t, s, `UPDATE keys SET expires_at = ? WHERE id = 1`, end.UnixMilli())
	check(end, "expired", end)
	exec(t, s, `UPDATE keys SET expires_at = NULL`)
	check(end.Add(lifetime), "active", end.Add(lifetime+time.Hour))
}

// TestSessionEndsWithKey checks that a session ends with the key that opened it.
func TestSessionEndsWithKey(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for what, end := range map[string]func(id store.KeyID){
		"revoked": func(id store.KeyID) { _, err := s.RevokeKey(store.AnyTenant, id); must(t, err) },
		"erased":  func(id store.KeyID) { exec(t, s, `DELETE FROM keys WHERE id = ?`, id) },
	} {
		_, k := openSession(t, s, createKey(t, s, store.NewKey{Tenant: "Engine 7", Scope: store.ScopeRead}))
		if got := state(t, s, k.ID); got != "active" {
			t.Errorf("%s: the session is %s at first", what, got)
		}
		version, err := s.KeysVersion()
		must(t, err)
		end(k.OpenedBy)
		if got := state(t, s, k.ID); got != "revoked" {
			t.Errorf("%s: the session is %s", what, got)
		}
		if after, err := s.KeysVersion(); err != nil || after == version {
			t.Errorf("%s: a server does not detect the change: %v", what, err)
		}
	}
}

// TestRevokedSession checks that the key stays valid when its session is revoked.
func TestRevokedSession(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	_, k := openSession(t, s, createKey(t, s, store.NewKey{Tenant: "Engine 7", Scope: store.ScopeRead}))
	if _, err := s.RevokeKey(theirs, k.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("revoked by another department: %v", err)
	}
	if already, err := s.RevokeKey(ours, k.ID); already || err != nil {
		t.Errorf("%t, %v", already, err)
	}
	if got := state(t, s, k.ID) + " " + state(t, s, 1); got != "revoked active" {
		t.Error(got)
	}
	all, err := s.KeysOf(ours)
	must(t, err)
	if len(all) != 2 || all[0].ID != k.ID || all[1].ID != 1 || all[0].State(time.Now()) != "revoked" {
		t.Errorf("the keys are %+v", all)
	}
	if none, err := s.KeysOf(theirs); len(none) > 0 || err != nil {
		t.Errorf("another department has %+v, %v", none, err)
	}
}

func TestScopes(t *testing.T) {
	t.Parallel()
	all := []string{"", "READ", "admin", "any", "calendar", "phone", "read", "write"}
	if devices := slices.DeleteFunc(slices.Clone(all), func(scope string) bool { return !store.IsDeviceScope(scope) }); !slices.Equal(devices, []string{"calendar", "phone"}) {
		t.Errorf("the scopes for devices are %q", devices)
	}
	if valid := slices.DeleteFunc(all, func(scope string) bool { return !store.ValidScope(scope) }); !slices.Equal(valid, []string{"admin", "read", "write"}) {
		t.Errorf("the valid scopes are %q", valid)
	}
	for scope, want := range map[string]string{"read": "read", "write": "read write", "admin": "read write admin", "phone": "phone", "calendar": "calendar", "": "", "any": ""} {
		var covered []string
		for _, needed := range []string{"read", "write", "admin", "phone", "calendar", "", "any"} {
			if store.ScopeCovers(scope, needed) {
				covered = append(covered, needed)
			}
		}
		if got := strings.Join(covered, " "); got != want {
			t.Errorf("%q covers %q, want %q", scope, got, want)
		}
	}
}

// TestWrongKeyOnlyReads checks that an invalid key or code is rejected while another caller writes.
func TestWrongKeyOnlyReads(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	must(t, s.DB().Write(func(*sqlite.Tx) error {
		outcome := make(chan error, 1)
		go func() {
			_, _, err := s.OpenSession("wrong", "", lifetime)
			outcome <- err
		}()
		select {
		case err := <-outcome:
			if !errors.Is(err, store.ErrNotFound) {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Error("OpenSession waits for the writer")
		}
		return nil
	}))
}

// TestCarrySession checks that a session is valid in a restored database, whether that has it or not, and
// that an invalid one is not carried.
func TestCarrySession(t *testing.T) {
	t.Parallel()
	s, to := newStore(t), newStore(t)
	secret, session := openSession(t, s, createKey(t, s, store.NewKey{Tenant: "Ladder 1", Scope: store.ScopeAdmin}))
	carry, err := s.CarrySession(session.ID)
	must(t, err)
	for range 2 {
		must(t, carry(to))
	}
	got, known := allKeys(t, to)[store.HashKey(secret)]
	if !known || got.Tenant != theirs || got.Scope != store.ScopeAdmin || !got.IsSession() || got.LastUsedAt == 0 || got.OpenedBy != 0 {
		t.Errorf("the session is %+v", got)
	}
	must(t, s.EndSession(session))
	if _, err := s.CarrySession(session.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a session that has ended: %v", err)
	}
}
