package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

// TestMark checks that StateMark changes with every change to a record, a key or a name, even
// within one millisecond.
func TestMark(t *testing.T) {
	t.Parallel()
	s := newStoreAt(t, func() time.Time { return time.UnixMilli(2e12) })
	mark := func() (mark string) {
		t.Helper()
		read(t, s, func(c *sqlite.Conn) (err error) { mark, err = store.StateMark(c); return err })
		return mark
	}
	f := create(t, s, theirs, ana)
	seen := map[string]bool{mark(): true}
	for _, change := range []func() error{
		func() error { _, err := s.Create(ours, 0, ana, nil); return err },
		func() error { _, err := s.Replace(theirs, 0, f.ID, ana, asIs); return err },
		func() error { return s.Delete(theirs, 0, f.ID, asIs) },
		func() error { return s.Undelete(theirs, 0, []string{f.ID}) },
		func() error {
			return s.CreateKey(store.NewKey{Tenant: "Engine 7", Scope: store.ScopeRead}, func(string) error { return nil })
		},
		func() error { _, err := s.RevokeKey(store.AnyTenant, 1); return err },
		func() error { return s.RenameTenant(ours, "Engine 8", false) },
	} {
		must(t, change())
		now := mark()
		if seen[now] || mark() != now {
			t.Errorf("after %d changes the mark %s occurs again", len(seen), now)
		}
		seen[now] = true
	}
}

// TestChangesAfter checks the numbers of people in a backup, and of changes that a restore undoes.
func TestChangesAfter(t *testing.T) {
	t.Parallel()
	now := noon
	s := newStoreAt(t, func() time.Time { return now })
	f := create(t, s, theirs, ana)
	create(t, s, ours, ana)
	var seen time.Time
	count := func(want, changes, changed int64) {
		t.Helper()
		var people int64
		read(t, s, func(c *sqlite.Conn) (err error) { people, err = store.CountPeople(c); return err })
		if n, m, err := s.ChangesAfter(seen); people != want || n != changes || m != changed || err != nil {
			t.Errorf("%d people, %d changes of %d people, %v", people, n, m, err)
		}
	}
	count(2, 2, 2)
	read(t, s, func(c *sqlite.Conn) (err error) { seen, err = store.LatestTime(c); return err })
	count(2, 0, 0)
	now = now.Add(time.Second)
	must(t, s.Delete(theirs, 0, f.ID, asIs))
	must(t, s.Undelete(theirs, 0, []string{f.ID}))
	must(t, s.Delete(theirs, 0, f.ID, asIs))
	create(t, s, ours, ana)
	count(2, 4, 2)
}

// TestRevocations checks that keys revoked after a backup stay revoked when it is restored, and
// that time does not go back.
func TestRevocations(t *testing.T) {
	t.Parallel()
	now := noon
	s := newStoreAt(t, func() time.Time { return now })
	var keys []string
	for range 4 {
		keys = append(keys, createKey(t, s, store.NewKey{Tenant: "Engine 7", Scope: store.ScopeRead}))
	}
	revoke := func(ids ...store.KeyID) {
		t.Helper()
		now = now.Add(time.Hour)
		for _, id := range ids {
			_, err := s.RevokeKey(store.AnyTenant, id)
			must(t, err)
		}
	}
	revoke(1)
	backup := filepath.Join(t.TempDir(), "backup.db")
	must(t, os.WriteFile(backup, nil, 0o600))
	read(t, s, func(c *sqlite.Conn) error { return c.CopyTo(t.Context(), backup, nil) })
	createKey(t, s, store.NewKey{Tenant: "Engine 7", Scope: store.ScopeRead})
	revoke(2, 3, 5)
	want := []string{"age1a", "age1b"}
	must(t, s.SetSettings(store.Settings{Folder: "/mnt/stick", Recipients: want, Machine: "this"}, store.SettingChange{}))
	var r store.Revocations
	read(t, s, func(c *sqlite.Conn) (err error) { r, err = store.ReadRevocations(c); return err })
	for _, want := range []int64{2, 0} {
		must(t, sqlite.FinishCopy(backup, func(c *sqlite.Conn) error {
			revoked, err := r.Write(c)
			if revoked != want {
				t.Errorf("%d keys were revoked, want %d", revoked, want)
			}
			return err
		}))
	}
	restored := openStore(t, backup, func() time.Time { return noon })
	got := allKeys(t, restored)
	for i, want := range []time.Time{noon.Add(time.Hour), now, now, {}} {
		if k := got[store.HashKey(keys[i])]; k.RevokedAt != max(0, want.UnixMilli()) {
			t.Errorf("key %d: %+v", i+1, k)
		}
	}
	if kept, err := restored.Settings(); err != nil || !reflect.DeepEqual(kept, store.Settings{Recipients: want}) {
		t.Errorf("the settings are %+v, %v", kept, err)
	}
	if !restored.Clock().Now().Equal(now) || len(got) != 4 {
		t.Errorf("the time is %v, the keys are %v", restored.Clock().Now(), got)
	}
}

// TestRenew checks that a renewed database has a new history, no valid invitation codes and no
// address, but keeps its sessions.
func TestRenew(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	key := createKey(t, s, store.NewKey{Tenant: "Engine 7", Scope: store.ScopeRead})
	secret, _, err := s.OpenSession(key, "", time.Hour)
	must(t, err)
	var code string
	must(t, s.Invite(store.NewInvitation{Tenant: ours, Name: "Ana", Scope: store.ScopeRead}, func(made string) error { code = made; return nil }))
	phone := invitePhone(t, s, store.NewInvitation{Name: "Ana's phone"})
	token := syncBook(t, s, ours, "", noLimit).Token
	must(t, s.SetAddress("http://127.0.0.1:8080"))
	before := s.Mark()
	must(t, s.RenewHistory())
	after := s.Mark()
	if after.Follows(before) {
		t.Errorf("the mark %+v follows %+v", after, before)
	}
	address, err := s.Address()
	if err != nil || address != "" {
		t.Errorf("error %v, address %q", err, address)
	}
	if _, _, err := s.OpenSession(code, "", time.Hour); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an old code: %v", err)
	}
	noPhone(t, s, "a code from before", phone)
	if _, err := s.Sync(ours, token, noLimit); !errors.Is(err, store.ErrPosition) {
		t.Errorf("an old token: %v", err)
	}
	if _, there := allKeys(t, s)[store.HashKey(secret)]; !there {
		t.Error("the session no longer exists")
	}
}
