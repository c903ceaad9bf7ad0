package store_test

import (
	"bytes"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// TestErasures checks that each permanent deletion marks the file as one with traces, until a rewrite
// that began after it has succeeded.
func TestErasures(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	hasTraces := func(want bool) {
		t.Helper()
		_, traces, err := s.Erasures()
		must(t, err)
		read(t, s, func(c *sqlite.Conn) error {
			if found, err := store.HasTraces(c); err != nil || found != want || traces != want {
				t.Errorf("traces: %t and %t, %v", traces, found, err)
			}
			return nil
		})
	}
	hasTraces(false)
	gone := createDeleted(t, s, ours, record.Fields{FirstName: "Canary", LastName: "B"})
	hasTraces(false)
	purge(t, s, ours, gone.ID)
	hasTraces(true)
	if erased, err := s.Purge(ours, 0, []record.Stored{{Firefighter: gone}}, nil); erased != 0 || err != nil {
		t.Errorf("purged %d, %v", erased, err)
	}
	must(t, s.DB().ReadTx(func(c *sqlite.Conn) error {
		_, err := c.QueryInt(`SELECT count(*) FROM firefighters`)
		if again := s.Rewrite(t.Context()); again == nil {
			t.Error("rewrote the file while a reader used the old one")
		}
		return err
	}))
	hasTraces(true)
	must(t, s.Rewrite(t.Context()))
	hasTraces(false)
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(s.DB().Path() + suffix)
		if must(t, err); bytes.Contains(content, []byte("Canary")) {
			t.Errorf("the file%s contains the name", suffix)
		}
	}
	must(t, s.AddDepartments([]store.Department{{Name: "Ladder 1"}}))
	other, err := s.Tenant("Ladder 1")
	must(t, err)
	_, err = s.RemoveTenant(other)
	must(t, err)
	hasTraces(true)
	again := openStore(t, s.DB().Path(), time.Now)
	must(t, again.Rewrite(t.Context()))
	hasTraces(false)
}

// TestLeftovers checks which names are leftovers, which do not mark the file as one with traces: expired invitations, the names of imported files
// without people, and the labels of sessions that ended a day ago and are not in the history.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	now := noon
	s := newStoreAt(t, func() time.Time { return now })
	sessions := map[string]store.KeyID{}
	for _, name := range []string{"Active Canary", "Ended", "Author", "Importer"} {
		code := ""
		must(t, s.Invite(store.NewInvitation{Tenant: ours, Name: name, Scope: store.ScopeWrite, Login: name}, func(text string) error { code = text; return nil }))
		_, k := openSession(t, s, code)
		sessions[name] = k.ID
	}
	f, err := s.Create(ours, sessions["Author"], ana, nil)
	must(t, err)
	add := func(file string, by store.KeyID) []string {
		t.Helper()
		n := adding(store.Person{Fields: ana}, store.Person{Fields: eva})
		n.File, n.By = file, by
		_, ids := imports(t, s, ours, n)
		return ids
	}
	kept, gone := add("kept.csv", sessions["Importer"]), add("Eva Canary.csv", 0)
	files := func(want ...string) {
		t.Helper()
		all, err := s.Imports(ours)
		must(t, err)
		for i, imported := range all {
			if imported.File != want[i] {
				t.Errorf("import %d has the file %q", imported.Number, imported.File)
			}
		}
	}
	erase := func(ids ...string) {
		t.Helper()
		for _, id := range ids {
			must(t, s.Delete(ours, 0, id, asIs))
		}
		purge(t, s, ours, ids...)
	}
	erase(kept[0], gone[0])
	files("Eva Canary.csv", "kept.csv")
	erase(gone[1])
	files("", "kept.csv")

	must(t, s.Invite(store.NewInvitation{Tenant: ours, Name: "Canary", Scope: store.ScopeRead}, func(string) error { return nil }))
	for name, id := range sessions {
		if name != "Active Canary" {
			must(t, s.EndSession(store.Key{ID: id}))
		}
	}
	wants := func(invitations int64, labels ...string) {
		t.Helper()
		before, _, err := s.Erasures()
		must(t, err)
		must(t, s.EraseLeftovers())
		if after, _, err := s.Erasures(); err != nil || after != before {
			t.Errorf("leftovers count as %d permanent deletions, %v", after-before, err)
		}
		if n := scanInt(t, s, `SELECT count(*) FROM invitations`); n != invitations {
			t.Errorf("%d invitations", n)
		}
		var got []string
		must(t, s.ListKeys("", func(k store.Key, _ string) {
			if k.IsSession() {
				got = append(got, k.Label)
			}
			if k.Label != k.Login {
				t.Errorf("%q has the login %q", k.Label, k.Login)
			}
		}))
		if !slices.Equal(got, labels) {
			t.Errorf("the sessions are of %q", got)
		}
	}
	wants(1, "Active Canary", "Ended", "Author", "Importer")
	now = now.Add(time.Hour)
	wants(0, "Active Canary", "Ended", "Author", "Importer")
	now = now.Add(24 * time.Hour)
	wants(0, "Active Canary", "", "Author", "Importer")
	erase(f.ID)
	wants(0, "Active Canary", "", "", "Importer")
	must(t, s.Invite(store.NewInvitation{Tenant: ours, Name: "Ended again", Scope: store.ScopeWrite, Login: "Ended"}, func(string) error { return nil }))
	if n := scanInt(t, s, `SELECT count(*) FROM invitations WHERE name = 'Ended again'`); n != 1 {
		t.Error("an erased label names an invitation")
	}
}

// TestPurgeShortensReplays checks that the response to a repeated import names no one after a purge in
// its department.
func TestPurgeShortensReplays(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	const body = `{"number":1,"rows":[{"name":"Eva Canary"}],"added":1}`
	for _, tenant := range []record.TenantID{ours, theirs} {
		n := adding(store.Person{Fields: eva})
		n.Key = &store.IdempotencyKey{By: store.KeyID(tenant), Key: "x", Hash: hash}
		n.Replay = func(int64, []string) []byte { return []byte(body) }
		_, ids := imports(t, s, tenant, n)
		want := body
		if tenant == ours {
			must(t, s.Delete(ours, 0, ids[0], asIs))
			purge(t, s, ours, ids...)
			want = `{"number":1,"rows":[],"added":1}`
		}
		if _, got, err := s.Replay(tenant, n.Key); err != nil || string(got) != want {
			t.Errorf("department %d: %s, %v", tenant, got, err)
		}
	}
}
