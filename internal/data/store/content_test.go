package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/apikey"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

func TestCount(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	create(t, s, ours, ana)
	must(t, s.Delete(ours, 0, create(t, s, ours, ana).ID, asIs))
	create(t, s, theirs, ana)
	read(t, s, func(c *sqlite.Conn) error {
		n, err := store.CountContent(t.Context(), c)
		if n != (store.Counts{Records: 2, Departments: 2}) {
			t.Errorf("counted %+v", n)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := store.CountContent(ended, c); !errors.Is(err, context.Canceled) {
			t.Errorf("after the end: %v", err)
		}
		return err
	})
}

// TestMarks: they are of the departments made first, whose name is the first.
func TestMarks(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(2e12)
	s := openStore(t, newFile(t), func() time.Time { return now })
	check := func(count int, first string, want ...string) {
		t.Helper()
		read(t, s, func(c *sqlite.Conn) error {
			got, err := store.TenantMarks(c)
			name, nameErr := store.FirstTenant(c)
			if len(got) != count || !slices.Equal(got[:len(want)], want) || name != first {
				t.Errorf("%d departments, %q first: %q", len(got), name, got)
			}
			return errors.Join(err, nameErr)
		})
	}
	check(0, "")
	must(t, s.AddDepartments([]store.Department{{Name: "Z"}}))
	now = now.Add(time.Hour)
	must(t, s.AddDepartments([]store.Department{{Name: "A"}}))
	check(2, "Z", "1 2000000000000", "2 2000003600000")
	for i := range 100 {
		must(t, s.AddDepartments([]store.Department{{Name: fmt.Sprint(i)}}))
	}
	check(100, "Z", "1 2000000000000", "2 2000003600000")
	read(t, s, func(c *sqlite.Conn) error {
		latest, err := store.LatestTime(c)
		if !latest.Equal(now) || latest.Location() != time.UTC {
			t.Errorf("the latest time is %v", latest)
		}
		return err
	})
}

// TestMark: it changes with every change of a record, a key or a name, also at
// one moment.
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
			t.Errorf("after %d changes the mark is %s again", len(seen), now)
		}
		seen[now] = true
	}
}

// TestRevocations: keys that were revoked after a backup stay revoked, and time
// does not go back.
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
	var r store.Revocations
	read(t, s, func(c *sqlite.Conn) (err error) { r, err = store.ReadRevocations(c); return err })
	for _, want := range []int64{2, 0} {
		must(t, sqlite.FinishCopy(backup, func(c *sqlite.Conn) error {
			revoked, err := r.Write(c)
			if revoked != want {
				t.Errorf("%d keys were revoked, not %d", revoked, want)
			}
			return err
		}))
	}
	restored := openStore(t, backup, func() time.Time { return noon })
	got := allKeys(t, restored)
	for i, want := range []time.Time{noon.Add(time.Hour), now, now, {}} {
		if k := got[apikey.Hash(keys[i])]; k.RevokedAt != max(0, want.UnixMilli()) {
			t.Errorf("key %d: %+v", i+1, k)
		}
	}
	if !restored.Clock().Now().Equal(now) || len(got) != 4 {
		t.Errorf("the time is %v, the keys are %v", restored.Clock().Now(), got)
	}
}

// TestRevokedPhones: a restore does not let a revoked phone in again, nor its calendar.
func TestRevokedPhones(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	p := addPhone(t, s, store.NewPhone{Tenant: ours, Name: "Ana's phone", Birthdays: true})
	kept := addPhone(t, s, store.NewPhone{Tenant: ours, Name: "Eva's phone", Birthdays: true})
	backup := filepath.Join(t.TempDir(), "backup.db")
	must(t, os.WriteFile(backup, nil, 0o600))
	read(t, s, func(c *sqlite.Conn) error { return c.CopyTo(t.Context(), backup, nil) })
	_, err := s.RevokeKey(ours, p.ID)
	must(t, err)
	var r store.Revocations
	read(t, s, func(c *sqlite.Conn) (err error) { r, err = store.ReadRevocations(c); return err })
	must(t, sqlite.FinishCopy(backup, func(c *sqlite.Conn) error { _, err := r.Write(c); return err }))
	all := allKeys(t, openStore(t, backup, time.Now))
	for secret, want := range map[string]string{p.Key: "revoked", p.Calendar: "revoked", kept.Key: "active", kept.Calendar: "active"} {
		if k := all[apikey.Hash(secret)]; k.State(time.Now()) != want {
			t.Errorf("not %s: %+v", want, k)
		}
	}
}

// TestRenew: versions count another history, no code works any more, and nobody is
// sent to an old address. Sessions stay. A database of an older schema stays as it is.
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
		t.Errorf("%v; the address is %q", err, address)
	}
	if _, _, err := s.OpenSession(code, "", time.Hour); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a code from before: %v", err)
	}
	noPhone(t, s, "a code from before", phone)
	if _, err := s.Sync(ours, token, noLimit); !errors.Is(err, store.ErrPosition) {
		t.Errorf("a token from before: %v", err)
	}
	if _, there := allKeys(t, s)[apikey.Hash(secret)]; !there {
		t.Error("the session is gone")
	}
}
