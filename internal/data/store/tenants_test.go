package store_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

func tenants(t *testing.T, s *store.Store) (all []store.TenantInfo) {
	t.Helper()
	must(t, s.Tenants(func(d store.TenantInfo) { all = append(all, d) }))
	return all
}

func TestTenants(t *testing.T) {
	t.Parallel()
	s := newStoreAt(t, func() time.Time { return noon })
	create(t, s, ours, ana)
	createDeleted(t, s, ours, ana)
	createDeleted(t, s, theirs, ana)
	createDeleted(t, s, theirs, ana)
	for _, expires := range []time.Time{{}, noon, noon.Add(1), noon.Add(time.Hour)} {
		createKey(t, s, store.NewKey{Tenant: "Engine 7", Scope: store.ScopeRead, ExpiresAt: expires})
	}
	_, err := s.RevokeKey(store.AnyTenant, 1)
	must(t, err)
	created := noon.UnixMilli()
	want := []store.TenantInfo{{ID: ours, Name: "Engine 7", Country: osutil.Country(), CreatedAt: created, Records: 1, Deleted: 1, ActiveKeys: 1},
		{ID: theirs, Name: "Ladder 1", Country: "HR", CreatedAt: created, Deleted: 2}}
	must(t, s.SetCountry(theirs, "HR"))
	if country, err := s.Country(theirs); country != "HR" || err != nil {
		t.Errorf("the country is %q, %v", country, err)
	}
	if got := tenants(t, s); !slices.Equal(got, want) {
		t.Errorf("the departments are %+v, want %+v", got, want)
	}
}

// TestSimilarNames checks that a department gets a name similar to another only after confirmation.
func TestSimilarNames(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for _, name := range []string{"engine 7", "Engine  7", "Éngine 7", "E N G I N E 7", "Engine\u20097", "ENGINE７"} {
		taken, ok := errors.AsType[*store.TakenError](s.RenameTenant(theirs, name, false))
		if want := (store.TakenError{Name: name, Existing: "Engine 7"}); !ok || *taken != want {
			t.Errorf("%q: %+v", name, taken)
		}
	}
	if taken, ok := errors.AsType[*store.TakenError](s.RenameTenant(theirs, "Engine 7", true)); !ok || *taken != (store.TakenError{Name: "Engine 7", Existing: "Engine 7"}) {
		t.Errorf("%+v", taken)
	}
	must(t, s.RenameTenant(theirs, "ladder1", false))
	must(t, s.RenameTenant(theirs, "engine7", true))
}

// TestChooseTenant checks that the only department needs no name, and that a further department is
// created only on request.
func TestChooseTenant(t *testing.T) {
	t.Parallel()
	empty, several := openStore(t, newFile(t), time.Now), newStore(t)
	for _, tt := range []struct {
		s      *store.Store
		name   string
		isNew  bool
		create string // the department to create
		err    string
	}{
		{empty, "", false, "default", ""},
		{empty, "Engine 7", false, "Engine 7", ""},
		{several, "", false, "", "the database has 2 departments"},
		{several, "", true, "", "the database has 2 departments"},
		{several, "defualt", false, "", `there is no department "defualt"`},
		{several, "defualt", true, "defualt", ""},
		{several, " Engine 7 ", false, "", ""},
		{several, "Engine 7", true, "", ""},
	} {
		tenant, create, err := tt.s.TenantOrNew(tt.name, tt.isNew)
		if create != tt.create || tt.err == "" && err != nil || tt.err != "" && (err == nil || err.Error() != tt.err) || (tenant == 0) != (tt.err != "" || create != "") {
			t.Errorf("%q, new %v: %d, %q, %v", tt.name, tt.isNew, tenant, create, err)
		}
	}
	must(t, empty.CreateKey(store.NewKey{Scope: store.ScopeRead}, func(string) error { return nil }))
	if tenant, err := empty.Tenant(""); err != nil || tenant != 1 {
		t.Errorf("the only department: %d, %v", tenant, err)
	}
	if _, err := openStore(t, newFile(t), time.Now).Tenant(""); err == nil || err.Error() != "the database has no department" {
		t.Errorf("no department: %v", err)
	}
}

// TestChooseAlike checks that departments whose names differ only in invisible characters must be named
// exactly.
func TestChooseAlike(t *testing.T) {
	t.Parallel()
	s := openStore(t, newFile(t), time.Now)
	must(t, s.AddDepartments([]store.Department{{Name: "Engine\u200b 7"}, {Name: "Engine 7\u200b"}, {Name: "Ladder\u200b 1"}}))
	_, err := s.Tenant("Engine 7")
	if missing, ok := errors.AsType[*store.NoTenantError](err); !ok || len(missing.Names) != 3 {
		t.Errorf("several: %v", err)
	}
	for name, want := range map[string]record.TenantID{"Engine\u200b 7": 1, "Engine 7\u200b": 2, "Ladder 1": 3} {
		if tenant, err := s.Tenant(name); err != nil || tenant != want {
			t.Errorf("%q: %d, %v", name, tenant, err)
		}
	}
}

// TestRemoveTenant checks that only an empty department is removed, with all of its rows and no
// others.
func TestRemoveTenant(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	newKey(t, s, "Engine 7", "")
	newKey(t, s, "Ladder 1", "")
	newKey(t, s, "Ladder 1", "")
	newKey(t, s, "Ladder 1", "")
	exec(t, s, `UPDATE keys SET session_lifetime = 1 WHERE id = (SELECT max(id) FROM keys)`) // a session
	exec(t, s, `INSERT INTO invitations (hash, tenant_id, name, scope, created_at, expires_at)
		SELECT randomblob(32), id, 'Ana', 'read', 0, 0 FROM tenants WHERE id <= 2`)
	f := createWith(t, s, theirs, keyFor(2, "a", "x"))
	create(t, s, ours, ana)
	refused := func(want store.NotEmptyError) {
		t.Helper()
		_, err := s.RemoveTenant(theirs)
		for _, err := range []error{err, s.HasNoRecords(theirs)} {
			if full, ok := errors.AsType[*store.NotEmptyError](err); !ok || *full != want {
				t.Errorf("%v", err)
			}
		}
	}
	refused(store.NotEmptyError{Name: "Ladder 1", Records: 1})
	must(t, s.Delete(theirs, 0, f.ID, asIs))
	refused(store.NotEmptyError{Name: "Ladder 1", Deleted: 1})
	_, err := s.Purge(theirs, 0, stored(t, s, theirs, f.ID), nil)
	must(t, err)
	must(t, s.HasNoRecords(theirs))
	exec(t, s, `INSERT INTO replays (key_id, idempotency_key, tenant_id, created_at, request_hash, record_id, answer)
		VALUES (2, 'left', ?, 0, x'00', 'none', '{}'), (1, 'ours', ?, 0, x'00', 'none', '{}')`, theirs, ours)
	exec(t, s, `INSERT INTO imports (tenant_id, number, at, file, hash, added, changed, first_change, last_change)
		SELECT id, 1, 0, '', zeroblob(32), 0, 0, 1, 1 FROM tenants`)
	version, err := s.KeysVersion()
	must(t, err)
	if keys, err := s.RemoveTenant(theirs); keys != 2 || err != nil {
		t.Errorf("%d keys, %v", keys, err)
	}
	for table, want := range map[string]int64{"tenants": 1, "keys": 1, "firefighters": 1, "changes": 1, "replays": 1, "invitations": 1, "imports": 1} {
		if got := scanInt(t, s, `SELECT count(*) FROM `+table); got != want {
			t.Errorf("%s has %d rows, want %d", table, got, want)
		}
	}
	if now, err := s.KeysVersion(); now <= version || err != nil {
		t.Errorf("the version of the keys is %d after %d, %v", now, version, err)
	}
	for what, do := range map[string]func() error{
		"Create":     func() error { _, err := s.Create(theirs, 0, ana, nil); return err },
		"TenantName": func() error { _, err := s.TenantName(theirs); return err },
		"Version":    func() error { _, err := s.Version(theirs); return err },
		"List":       func() error { _, err := s.List(theirs, parse(t, "")); return err },
		"Search":     func() error { _, err := s.List(theirs, parse(t, "search=ana")); return err },
	} {
		if err := do(); !errors.Is(err, store.ErrRemoved) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestTenantNumbers checks that ids increase even after the newest departments are removed.
func TestTenantNumbers(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	last := record.TenantID(theirs)
	next := func(add func() error) {
		t.Helper()
		must(t, add())
		all := tenants(t, s)
		if newest := all[len(all)-1]; newest.ID <= last {
			t.Errorf("%q has the id %d after %d", newest.Name, newest.ID, last)
		} else {
			last = newest.ID
		}
	}
	remove := func(id record.TenantID) {
		t.Helper()
		_, err := s.RemoveTenant(id)
		must(t, err)
	}
	next(func() error { return s.AddDepartments([]store.Department{{Name: "A"}, {Name: "B"}, {Name: "C"}}) })
	remove(last - 1)
	remove(last)
	next(func() error { return s.AddDepartments([]store.Department{{Name: "B"}}) })
	remove(last)
	next(func() error {
		return s.CreateKey(store.NewKey{Tenant: "B", New: true, Scope: store.ScopeRead}, func(string) error { return nil })
	})
	for _, d := range tenants(t, s) {
		remove(d.ID)
	}
	must(t, s.AddDepartments([]store.Department{{Name: "B"}}))
	if id := tenants(t, s)[0].ID; id <= last {
		t.Errorf("after all were removed: id %d after %d", id, last)
	}
}
