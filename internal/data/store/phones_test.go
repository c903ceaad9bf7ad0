package store_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

// addPhone creates the keys of a phone and returns them.
func addPhone(t *testing.T, s *store.Store, n store.NewPhone) (p store.Phone) {
	t.Helper()
	must(t, s.AddPhone(n, func(phone store.Phone) error { p = phone; return nil }))
	return p
}

// invitePhone creates an invitation of a phone and returns its code.
func invitePhone(t *testing.T, s *store.Store, n store.NewInvitation) (code string) {
	t.Helper()
	n.Tenant, n.Scope = ours, store.ScopePhone
	must(t, s.Invite(n, func(text string) error { code = text; return nil }))
	return code
}

// isPhone checks that p is a phone of the department ours, and that its keys, the first of which
// has this id, match it.
func isPhone(t *testing.T, s *store.Store, p store.Phone, id store.KeyID, birthdays bool) {
	t.Helper()
	if p.ID != id || p.Key == "" || (p.Calendar != "") != birthdays || p.Key == p.Calendar {
		t.Errorf("%+v", p)
	}
	all, created := allKeys(t, s), s.Clock().Now().UnixMilli()
	want := store.Key{ID: id, Tenant: ours, Scope: "phone", Label: "Ana's phone", CreatedAt: created, Birthdays: birthdays}
	if got := all[store.HashKey(p.Key)]; got != want {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	if birthdays {
		want := store.Key{ID: id + 1, Tenant: ours, Scope: "calendar", Label: "Ana's phone", CreatedAt: created, OpenedBy: id}
		if got := all[store.HashKey(p.Calendar)]; got != want {
			t.Errorf("got\n%+v\nwant\n%+v", got, want)
		}
	}
}

func TestAddPhone(t *testing.T) {
	t.Parallel()
	s := newStoreAt(t, func() time.Time { return noon })
	isPhone(t, s, addPhone(t, s, store.NewPhone{Tenant: ours, Name: "Ana's phone"}), 1, false)
	isPhone(t, s, addPhone(t, s, store.NewPhone{Tenant: ours, Name: "Ana's phone", Birthdays: true}), 2, true)
	failure := errors.New("the client is gone")
	if err := s.AddPhone(store.NewPhone{Tenant: ours, Name: "Ana's phone", Birthdays: true}, func(store.Phone) error { return failure }); err != failure {
		t.Errorf("%v", err)
	}
	shown := func(store.Phone) error { t.Error("show was called"); return nil }
	if err := s.AddPhone(store.NewPhone{Tenant: 99, Name: "Ana's phone"}, shown); !errors.Is(err, store.ErrRemoved) {
		t.Errorf("an unknown department: %v", err)
	}
	if n := len(allKeys(t, s)); n != 3 {
		t.Errorf("there are %d keys", n)
	}
	version, err := s.KeysVersion()
	must(t, err)
	exec(t, s, `UPDATE keys SET birthdays = 0 WHERE id = 2`)
	if now, err := s.KeysVersion(); err != nil || now != version+1 {
		t.Errorf("a running server does not detect a change of birthdays: %d after %d, %v", now, version, err)
	}
}

func keysOf(t *testing.T, s *store.Store) []store.Key {
	t.Helper()
	all, err := s.KeysOf(ours)
	must(t, err)
	return all
}

// TestPhoneEnds checks that a calendar ends with its phone, but a phone not with its calendar.
func TestPhoneEnds(t *testing.T) {
	t.Parallel()
	now := noon
	s := newStoreAt(t, func() time.Time { return now })
	for range 3 {
		addPhone(t, s, store.NewPhone{Tenant: ours, Name: "Ana's phone", Birthdays: true})
		now = now.Add(time.Minute)
	}
	states := func(want string) {
		t.Helper()
		got := ""
		for id := range store.KeyID(6) {
			got += state(t, s, id+1) + " "
		}
		if got != want+" " {
			t.Errorf("%s, want %s", got, want)
		}
	}
	states("active active active active active active")
	revoke := func(id store.KeyID) {
		t.Helper()
		_, err := s.RevokeKey(ours, id)
		must(t, err)
	}
	revoke(1)
	revoke(4)
	states("revoked revoked active revoked active active")
	if k := keysOf(t, s)[4]; k.ID != 2 || k.RevokedAt != now.UnixMilli() {
		t.Errorf("the calendar of the first is %+v", k)
	}
	exec(t, s, `UPDATE keys SET expires_at = ? WHERE id = 3`, now.Add(time.Minute).UnixMilli())
	exec(t, s, `UPDATE keys SET revoked_at = NULL WHERE id = 4`)
	states("revoked revoked active active active active")
	now = now.Add(time.Minute)
	states("revoked revoked expired expired active active")
}

// TestPhoneInvitation checks that a code can be looked up before it is used, and creates the keys
// only once.
func TestPhoneInvitation(t *testing.T) {
	t.Parallel()
	s := newStoreAt(t, func() time.Time { return noon })
	for i, birthdays := range []bool{false, true} {
		code := invitePhone(t, s, store.NewInvitation{Name: "Ana's phone", Birthdays: birthdays})
		for _, text := range []string{code, " " + code[:4] + " " + code[5:]} {
			got, err := s.PhoneInvitation(text)
			if err != nil || got.Name != "Ana's phone" || got.Department != "Engine 7" || got.Birthdays != birthdays || got.Scope != "phone" || got.ExpiresAt != noon.UnixMilli()+900_000 {
				t.Errorf("%q: %+v, %v", text, got, err)
			}
		}
		if all, err := s.Invitations(ours); err != nil || len(all) != 1 || all[0].Scope != "phone" || all[0].Birthdays != birthdays {
			t.Errorf("open: %+v, %v", all, err)
		}
		failure := errors.New("the client is gone")
		if err := s.UsePhoneInvitation(code, func(store.Phone) error { return failure }); err != failure {
			t.Errorf("%v", err)
		}
		var p store.Phone
		must(t, s.UsePhoneInvitation(code, func(phone store.Phone) error { p = phone; return nil }))
		isPhone(t, s, p, store.KeyID(i+1), birthdays)
		noPhone(t, s, "a used code", code)
	}
}

// noPhone checks that a code does not create a phone.
func noPhone(t *testing.T, s *store.Store, what, code string) {
	t.Helper()
	shown := func(store.Phone) error { t.Errorf("%s creates a phone", what); return nil }
	if err := s.UsePhoneInvitation(code, shown); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("%s: %v", what, err)
	}
	if i, err := s.PhoneInvitation(code); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("%s is an invitation: %+v, %v", what, i, err)
	}
}

// TestPhoneCodesThatEnd checks that a code ends after 15 minutes, with its creator, and when it is
// withdrawn. The code of a person creates no phone.
func TestPhoneCodesThatEnd(t *testing.T) {
	t.Parallel()
	now := noon
	s := newStoreAt(t, func() time.Time { return now })
	by := newKey(t, s, "Engine 7", "desk")
	bys, withdrawn, late := invitePhone(t, s, store.NewInvitation{Name: "A", By: by}), invitePhone(t, s, store.NewInvitation{Name: "B"}), invitePhone(t, s, store.NewInvitation{Name: "C"})
	_, err := s.PhoneInvitation(bys)
	must(t, err)
	_, err = s.RevokeKey(ours, by)
	must(t, err)
	noPhone(t, s, "the code of somebody who ended", bys)
	must(t, s.Withdraw(ours, 2))
	noPhone(t, s, "a withdrawn code", withdrawn)
	now = now.Add(15*time.Minute - time.Millisecond)
	_, err = s.PhoneInvitation(late)
	must(t, err)
	now = now.Add(time.Millisecond)
	noPhone(t, s, "an expired code", late)
	person := invite(t, s, ours, "Ana", 0)
	noPhone(t, s, "the code of a person", person)
	openSession(t, s, person)
	for _, text := range []string{"", "wrong", createKey(t, s, store.NewKey{Tenant: "Engine 7", Scope: "phone"})} {
		noPhone(t, s, fmt.Sprintf("%q", text), text)
	}
}

// TestDevicesSignInNowhere checks that neither the key of a device nor the code of a phone opens a
// session, and that the attempt does not use up the code.
func TestDevicesSignInNowhere(t *testing.T) {
	t.Parallel()
	s := newStoreAt(t, func() time.Time { return noon })
	p := addPhone(t, s, store.NewPhone{Tenant: ours, Name: "Ana's phone", Birthdays: true})
	code := invitePhone(t, s, store.NewInvitation{Name: "Ana's phone"})
	opensNothing(t, s, "a phone", p.Key)
	opensNothing(t, s, "a calendar", p.Calendar)
	opensNothing(t, s, "the code of a phone", code)
	must(t, s.UsePhoneInvitation(code, func(store.Phone) error { return nil }))
}

// TestPhoneCodeAtOnce checks that only one of many concurrent uses of a code creates a phone.
func TestPhoneCodeAtOnce(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	code := invitePhone(t, s, store.NewInvitation{Name: "Ana's phone"})
	var all sync.WaitGroup
	var created atomic.Int64
	for range 20 {
		all.Go(func() {
			err := s.UsePhoneInvitation(code, func(store.Phone) error { return nil })
			if err == nil {
				created.Add(1)
			} else if !errors.Is(err, store.ErrNotFound) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := len(keysOf(t, s)); created.Load() != 1 || n != 1 {
		t.Errorf("%d phones, %d keys", created.Load(), n)
	}
}

// TestWrongCodeOnlyReads checks that an invalid code is rejected while another caller writes.
func TestWrongCodeOnlyReads(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	must(t, s.DB().Write(func(*sqlite.Tx) error {
		noPhone(t, s, "a wrong code", "wrong")
		return nil
	}))
}
