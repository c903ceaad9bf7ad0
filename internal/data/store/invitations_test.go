package store_test

import (
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// invite creates an invitation and returns its code.
func invite(t *testing.T, s *store.Store, tenant record.TenantID, name string, by store.KeyID) (code string) {
	t.Helper()
	must(t, s.Invite(store.NewInvitation{Tenant: tenant, Name: name, Scope: store.ScopeWrite, By: by}, func(text string) error { code = text; return nil }))
	return code
}

// inviteLogin creates an invitation for the person logged in on the PC, and returns its code.
func inviteLogin(t *testing.T, s *store.Store, tenant record.TenantID, login string) (code string) {
	t.Helper()
	n := store.NewInvitation{Tenant: tenant, Name: login, Scope: store.ScopeAdmin, Login: login}
	must(t, s.Invite(n, func(text string) error { code = text; return nil }))
	return code
}

// invitations returns the names in the open invitations.
func invitations(t *testing.T, s *store.Store, tenant record.TenantID) string {
	t.Helper()
	all, err := s.Invitations(tenant)
	must(t, err)
	var names []string
	for _, i := range all {
		names = append(names, i.Name)
	}
	return strings.Join(names, " ")
}

func TestInvite(t *testing.T) {
	t.Parallel()
	s := newStoreAt(t, func() time.Time { return noon })
	code := invite(t, s, ours, "Ana", 0)
	if !regexp.MustCompile(`^([34679ACDEFGHJKMNPQRTUVWXY]{4}-){2}[34679ACDEFGHJKMNPQRTUVWXY]{4}$`).MatchString(code) {
		t.Errorf("the code is %q", code)
	}
	second, other := invite(t, s, ours, "Eva", 0), invite(t, s, theirs, "Ivo", 0)
	all, err := s.Invitations(ours)
	must(t, err)
	created := noon.UnixMilli()
	if len(all) != 2 || all[0].Name != "Eva" || all[1].ID != 1 || all[1].Scope != "write" || all[1].CreatedAt != created || all[1].ExpiresAt != created+900_000 {
		t.Errorf("open are %+v", all)
	}
	_, k := openSession(t, s, " "+strings.ToLower(strings.ReplaceAll(code, "-", " - ")))
	want := store.Key{ID: 1, Tenant: ours, Scope: "write", Label: "Ana", CreatedAt: created, Lifetime: lifetime.Milliseconds()}
	if k != want {
		t.Errorf("%+v\nnot\n%+v", k, want)
	}
	opensNothing(t, s, "a used code", code)
	if got := invitations(t, s, ours) + ", " + invitations(t, s, theirs); got != "Eva, Ivo" {
		t.Errorf("open are %q", got)
	}
	for _, tenant := range []record.TenantID{theirs, 99} {
		if err := s.Withdraw(tenant, all[0].ID); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("withdrawn by department %d: %v", tenant, err)
		}
	}
	must(t, s.Withdraw(ours, all[0].ID))
	if err := s.Withdraw(ours, all[0].ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("withdrawn twice: %v", err)
	}
	opensNothing(t, s, "a withdrawn code", second)
	if _, k := openSession(t, s, other); k.Tenant != theirs {
		t.Errorf("%+v", k)
	}
	if n := scanInt(t, s, `SELECT count(*) FROM invitations`); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

// TestCodeNotShown checks that no invitation is created if show fails, the department does not
// exist or the scope is unknown.
func TestCodeNotShown(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	failure := errors.New("the pipe is closed")
	err := s.Invite(store.NewInvitation{Tenant: ours, Name: "Ana", Scope: store.ScopeRead}, func(string) error { return failure })
	if !errors.Is(err, failure) {
		t.Errorf("%v", err)
	}
	shown := func(string) error { t.Error("a code was shown"); return nil }
	if err := s.Invite(store.NewInvitation{Tenant: 99, Name: "Ana", Scope: store.ScopeRead}, shown); !errors.Is(err, store.ErrRemoved) {
		t.Errorf("no department: %v", err)
	}
	if err := s.Invite(store.NewInvitation{Tenant: ours, Name: "Ana", Scope: "root"}, shown); err == nil {
		t.Error("the scope root is accepted")
	}
	if n := scanInt(t, s, `SELECT count(*) FROM invitations`); n != 0 {
		t.Errorf("%d rows", n)
	}
}

// TestCodeExpires checks that a code expires after 15 minutes and that the next invitation deletes
// the expired one.
func TestCodeExpires(t *testing.T) {
	t.Parallel()
	now := noon
	s := newStoreAt(t, func() time.Time { return now })
	first, second := invite(t, s, ours, "Ana", 0), invite(t, s, ours, "Eva", 0)
	now = now.Add(15*time.Minute - time.Millisecond)
	openSession(t, s, second)
	now = now.Add(time.Millisecond)
	opensNothing(t, s, "an expired code", first)
	if got := invitations(t, s, ours); got != "" {
		t.Errorf("open are %q", got)
	}
	invite(t, s, theirs, "Ivo", 0)
	if n := scanInt(t, s, `SELECT count(*) FROM invitations`); n != 1 {
		t.Errorf("%d rows", n)
	}
}

// TestInviterEnds checks that an invitation ends with the key or session that created it.
func TestInviterEnds(t *testing.T) {
	t.Parallel()
	now := noon
	s := newStoreAt(t, func() time.Time { return now })
	for what, end := range map[string]func(k store.Key){
		"the session is revoked": func(k store.Key) { _, err := s.RevokeKey(ours, k.ID); must(t, err) },
		"the key is revoked":     func(k store.Key) { _, err := s.RevokeKey(ours, k.OpenedBy); must(t, err) },
		"the key has expired":    func(k store.Key) { now = now.Add(5 * time.Minute) },
	} {
		key := createKey(t, s, store.NewKey{Tenant: "Engine 7", Scope: store.ScopeAdmin, ExpiresAt: now.Add(5 * time.Minute)})
		_, k := openSession(t, s, key)
		code := invite(t, s, ours, "Ana", k.ID)
		if got := invitations(t, s, ours); got != "Ana" {
			t.Errorf("%s: open at first: %q", what, got)
		}
		end(k)
		now = now.Add(time.Second)
		opensNothing(t, s, "a code, although "+what+",", code)
		if got := invitations(t, s, ours); got != "" {
			t.Errorf("%s: open: %q", what, got)
		}
	}
}

// TestSignedOutInviter checks that an invitation stays valid when its creator signs out, but not
// when the key that opened the session is revoked.
func TestSignedOutInviter(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	key := createKey(t, s, store.NewKey{Tenant: "Engine 7", Scope: store.ScopeAdmin})
	_, k := openSession(t, s, key)
	codes := []string{invite(t, s, ours, "Ana", k.ID), invite(t, s, ours, "Eva", k.ID)}
	must(t, s.EndSession(k))
	if got := state(t, s, k.ID); got != "revoked" {
		t.Errorf("the session that was signed out is %s", got)
	}
	if _, ana := openSession(t, s, codes[0]); ana.Label != "Ana" {
		t.Errorf("the invitation opens %+v", ana)
	}
	_, err := s.RevokeKey(ours, k.OpenedBy)
	must(t, err)
	opensNothing(t, s, "a code of a revoked key", codes[1])

	_, invited := openSession(t, s, invite(t, s, ours, "Ivo", 0))
	code := invite(t, s, ours, "Mia", invited.ID)
	must(t, s.EndSession(invited))
	if _, mia := openSession(t, s, code); mia.Label != "Mia" {
		t.Errorf("the invitation by an invited person opens %+v", mia)
	}
}

// TestCodeUsedOnce checks that only one of many concurrent uses of a code opens a session.
func TestCodeUsedOnce(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	code := invite(t, s, ours, "Ana", 0)
	var wg sync.WaitGroup
	opened := make(chan string, 20)
	for range cap(opened) {
		wg.Go(func() {
			if secret, _, err := s.OpenSession(code, "", lifetime); err == nil {
				opened <- secret
			} else if !errors.Is(err, store.ErrNotFound) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	close(opened)
	if len(opened) != 1 || len(allKeys(t, s)) != 1 {
		t.Errorf("%d sessions, %d keys", len(opened), len(allKeys(t, s)))
	}
	if _, there := allKeys(t, s)[store.HashKey(<-opened)]; !there {
		t.Error("the secret does not belong to the session")
	}
}
