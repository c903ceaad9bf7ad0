package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

var hash = bytes.Repeat([]byte{7}, 32)

// adding returns an import that writes these people.
func adding(people ...store.Person) store.NewImport {
	return store.NewImport{File: "people.csv", Hash: hash, Decide: func(store.Roster) ([]store.Person, error) { return people, nil }}
}

func imports(t testing.TB, s *store.Store, tenant record.TenantID, n store.NewImport) (number int64, ids []string) {
	t.Helper()
	number, ids, err := s.Import(tenant, n)
	must(t, err)
	return number, ids
}

func takeBack(t testing.TB, s *store.Store, number int64) store.Undone {
	t.Helper()
	done, err := s.UndoImport(ours, 0, number, nil)
	must(t, err)
	return done
}

// TestImport checks that an import adds and changes people in order, in one transaction, and that
// the history contains each change.
func TestImport(t *testing.T) {
	t.Parallel()
	now := noon
	s := newStoreAt(t, func() time.Time { return now })
	desk := newKey(t, s, "Engine 7", "desk")
	known := create(t, s, ours, eva)
	create(t, s, theirs, ana)
	n := adding(store.Person{Fields: ana}, store.Person{ID: known.ID, Fields: ana}, store.Person{Fields: eva})
	n.By, n.File = desk, strings.Repeat("é", 300)
	var progress []int
	n.Progress = func(done int) error { progress = append(progress, done); return nil }
	number, added := imports(t, s, ours, n)
	if number != 1 || len(added) != 3 || added[1] != known.ID || !slices.Equal(progress, []int{1, 2, 3}) {
		t.Fatalf("import %d: %q, progress %v", number, added, progress)
	}
	for tenant, want := range map[record.TenantID]int{ours: 3, theirs: 0} {
		people, err := s.Imported(tenant, number)
		if err != nil || len(people) != want ||
			want > 0 && !slices.Equal(slices.Sorted(slices.Values(people)), slices.Sorted(slices.Values(added))) {
			t.Errorf("department %d: import %d is of %v, %v", tenant, number, people, err)
		}
	}
	var got []record.Fields
	for _, f := range list(t, s, ours, "sortDir=asc").Items {
		got = append(got, f.Fields)
	}
	if !slices.Equal(got, []record.Fields{ana, ana, eva}) {
		t.Errorf("the people are %+v", got)
	}
	checkHistory(t, history(t, s, ours, "")[1:], "create | "+added[0]+" | key 1 desk | ",
		"replace | "+known.ID+" | key 1 desk | "+string(known.AppendJSON(nil)), "create | "+added[2]+" | key 1 desk | ")
	want := []store.Import{{Number: 1, At: now, Key: desk, Label: "desk", File: strings.Repeat("é", 200), Added: 2, Changed: 1}}
	checkImports(t, s, ours, want)
	checkImports(t, s, theirs, nil)
	now = now.Add(time.Hour)
	if number, _ := imports(t, s, ours, adding(store.Person{Fields: ana})); number != 2 {
		t.Errorf("the next is import %d", number)
	}
	if number, _ := imports(t, s, theirs, adding(store.Person{Fields: ana})); number != 1 {
		t.Errorf("the first of another department is import %d", number)
	}
	checkImports(t, s, ours, append([]store.Import{{Number: 2, At: now, File: "people.csv", Added: 1}}, want...))
	checkCounts(t, s)
}

func checkImports(t *testing.T, s *store.Store, tenant record.TenantID, want []store.Import) {
	t.Helper()
	if got, err := s.Imports(tenant); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v; the imports are\n%+v\nnot\n%+v", err, got, want)
	}
}

// TestNoImport checks that an import that fails or has nothing to write changes nothing, even if it
// fails halfway.
func TestNoImport(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	another := create(t, s, theirs, ana)
	objection := errors.New("an objection")
	for name, tt := range map[string]struct {
		tenant record.TenantID
		n      store.NewImport
		want   error
	}{
		"nothing to write":     {ours, adding(), nil},
		"an objection":         {ours, store.NewImport{Decide: func(store.Roster) ([]store.Person, error) { return []store.Person{{Fields: ana}}, objection }}, objection},
		"nobody":               {ours, adding(store.Person{Fields: ana}, store.Person{ID: nobody, Fields: ana}), store.ErrNotFound},
		"another department's": {ours, adding(store.Person{Fields: ana}, store.Person{ID: another.ID, Fields: ana}), store.ErrNotFound},
		"no department":        {99, adding(store.Person{Fields: ana}), store.ErrRemoved},
		"a misspelt one":       {0, store.NewImport{Department: "engine 7", Hash: hash, Decide: adding(store.Person{Fields: ana}).Decide}, &store.NoTenantError{}},
		"a new one, nothing":   {0, store.NewImport{Department: "Rescue 3", New: true, Decide: adding().Decide}, nil},
	} {
		number, ids, err := s.Import(tt.tenant, tt.n)
		if number != 0 || ids != nil || !errors.Is(err, tt.want) && !errors.As(err, new(*store.NoTenantError)) {
			t.Errorf("%s: %d, %q, %v", name, number, ids, err)
		}
	}
	if n := scanInt(t, s, `SELECT (SELECT count(*) FROM changes) + (SELECT count(*) FROM imports) + (SELECT count(*) FROM tenants)`); n != 3 {
		t.Errorf("%d rows were left", n)
	}
}

// TestImportCreatesDepartment checks that an import creates its department, or adds to it if it
// exists by then.
func TestImportCreatesDepartment(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for want := range 2 {
		n := adding(store.Person{Fields: ana})
		n.Department, n.New = "engine 7", true
		n.Decide = func(r store.Roster) ([]store.Person, error) {
			seen := 0
			err := r.Each(t.Context(), func(*record.Stored) { seen++ })
			if seen != want {
				t.Errorf("%d people, want %d", seen, want)
			}
			return []store.Person{{Fields: ana}}, err
		}
		imports(t, s, 0, n)
	}
	tenant, err := s.Tenant("engine 7")
	if err != nil || list(t, s, tenant, "").Total != 2 {
		t.Errorf("%v", err)
	}
}

// TestRoster checks that a roster contains all records that are not deleted, including damaged
// ones, in order of creation.
func TestRoster(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	a, gone, b, another := create(t, s, ours, ana), createDeleted(t, s, ours, ana), create(t, s, ours, eva), createDeleted(t, s, theirs, ana)
	exec(t, s, `UPDATE firefighters SET last_name = 'X' WHERE id = ?`, b.ID)
	must(t, s.ReadRoster(ours, func(r store.Roster) error {
		var got []string
		err := r.Each(t.Context(), func(f *record.Stored) { got = append(got, fmt.Sprint(f.ID, f.LastName, f.Damaged)) })
		if want := []string{a.ID + "Čović" + "false", b.ID + "X" + "true"}; !slices.Equal(got, want) {
			t.Errorf("the roster is %q, want %q", got, want)
		}
		deleted, deletedErr := r.Deleted([]string{a.ID, gone.ID, nobody, another.ID})
		if len(deleted) != 1 || !deleted[gone.ID] {
			t.Errorf("deleted: %v", deleted)
		}
		return errors.Join(err, deletedErr)
	}))
	objection := errors.New("an objection")
	if err := s.ReadRoster(0, func(r store.Roster) error {
		return errors.Join(r.Each(t.Context(), func(*record.Stored) { t.Error("a record of an unknown department") }), objection)
	}); !errors.Is(err, objection) {
		t.Errorf("the error is %v", err)
	}
}

// TestRepeatedImport checks that a repeated import changes nothing and receives the first response.
func TestRepeatedImport(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	n := adding(store.Person{Fields: ana})
	n.Key = keyFor(1, "a", "x")
	n.Replay = func(number int64, ids []string) []byte {
		return fmt.Appendf(nil, `{"number":%d,"people":%d}`, number, len(ids))
	}
	imports(t, s, ours, n)
	_, _, err := s.Import(ours, n)
	if repeated, ok := errors.AsType[*store.RepeatedError](err); !ok || repeated.ID != "import/1" {
		t.Errorf("the error is %v", err)
	}
	if id, body, err := s.Replay(ours, n.Key); err != nil || id != "import/1" || string(body) != `{"number":1,"people":1}` {
		t.Errorf("stored: %s %s, %v", id, body, err)
	}
	n.Key = keyFor(1, "a", "y")
	if _, _, err := s.Import(ours, n); !errors.Is(err, store.ErrReused) {
		t.Errorf("the error is %v", err)
	}
	n.Key, n.Decide = keyFor(1, "b", "x"), adding().Decide
	imports(t, s, ours, n)
	if _, body, err := s.Replay(ours, n.Key); err != nil || body != nil {
		t.Errorf("an empty import: %s, %v", body, err)
	}
	if total := list(t, s, ours, "").Total; total != 1 {
		t.Errorf("%d records", total)
	}
}

func TestSameFile(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	other := adding(store.Person{Fields: ana})
	other.Hash = make([]byte, 32)
	for _, n := range []store.NewImport{adding(store.Person{Fields: ana}), adding(store.Person{Fields: ana}), other} {
		imports(t, s, ours, n)
	}
	check := func(tenant record.TenantID, want int64) {
		t.Helper()
		same, err := s.SameFile(tenant, hash)
		if err != nil || (same == nil) != (want == 0) || same != nil && same.Number != want {
			t.Errorf("the same file: %+v, %v; want %d", same, err, want)
		}
	}
	check(ours, 2)
	check(theirs, 0)
	takeBack(t, s, 2)
	check(ours, 1)
	takeBack(t, s, 1)
	check(ours, 0)
}

// TestStopped checks that an import or undo that is stopped changes nothing.
func TestStopped(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	stop := errors.New("stop")
	n := adding(store.Person{Fields: ana}, store.Person{Fields: eva})
	imports(t, s, ours, n)
	n.Progress = func(done int) error { return stop }
	if _, _, err := s.Import(ours, n); !errors.Is(err, stop) {
		t.Errorf("the import: %v", err)
	}
	if _, err := s.UndoImport(ours, 0, 1, func(done, total int) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the undo: %v", err)
	}
	if done := takeBack(t, s, 1); done.Deleted != 2 {
		t.Errorf("a later undo: %+v", done)
	}
	checkCounts(t, s)
}

// TestUndoImport checks that an undo deletes the people the import added, restores those it
// changed, and skips those who have changed since.
func TestUndoImport(t *testing.T) {
	t.Parallel()
	now := noon
	s := newStoreAt(t, func() time.Time { return now })
	desk := newKey(t, s, "Engine 7", "desk")
	known := make([]record.Firefighter, 4)
	people := []store.Person{{Fields: ana}, {Fields: ana}, {Fields: ana}, {Fields: ana}, {Fields: ana}}
	for i := range known {
		known[i] = create(t, s, ours, eva)
		people = append(people, store.Person{ID: known[i].ID, Fields: ana})
	}
	_, in := imports(t, s, ours, adding(people...))
	_, err := s.Replace(ours, 0, in[1], eva, asIs)
	must(t, err)
	must(t, s.Delete(ours, 0, in[2], asIs))
	must(t, s.Delete(ours, 0, in[3], asIs))
	_, err = s.Purge(ours, 0, stored(t, s, ours, in[3]), nil)
	must(t, err)
	exec(t, s, `DELETE FROM firefighters WHERE id = ?`, in[4]) // another program
	_, err = s.Replace(ours, 0, known[1].ID, ana, asIs)        // unchanged fields
	must(t, err)
	exec(t, s, `UPDATE changes SET before = '{"id":' WHERE record_id = ? AND action = 'replace'`, known[2].ID)
	exec(t, s, `UPDATE changes SET before = replace(before, '"B"', '" "') WHERE record_id = ? AND action = 'replace'`, known[3].ID)
	exec(t, s, `UPDATE firefighters SET invitation_status = 'sent' WHERE id = ?`, known[0].ID)

	now = now.Add(time.Hour)
	done, err := s.UndoImport(ours, desk, 1, nil)
	must(t, err)
	want := store.Undone{Deleted: 1, Restored: 1, Left: []store.NotUndone{{in[1], "Eva B", "replace"}, {in[2], "Ana Čović", "delete"},
		{in[4], "", ""}, {known[1].ID, "Ana Čović", "replace"}, {known[2].ID, "Ana Čović", ""}, {known[3].ID, "Ana Čović", ""}, {"", "", "purge"}}}
	if !reflect.DeepEqual(done, want) {
		t.Errorf("done:\n%+v\nwant:\n%+v", done, want)
	}
	sent := "sent"
	restored := known[0]
	restored.InvitationStatus, restored.UpdatedAt = &sent, now.UnixMilli()
	if got, err := s.Get(ours, known[0].ID); err != nil || !reflect.DeepEqual(got, restored) {
		t.Errorf("restored: %+v, %v", got, err)
	}
	if f, err := s.GetDeleted(ours, in[0]); err != nil || f.DeletedAt != now.UnixMilli() {
		t.Errorf("deleted: %+v, %v", f, err)
	}
	if h := history(t, s, ours, in[0]); actions(h) != "create delete" || *h[1].Key != int64(desk) {
		t.Errorf("the history: %+v", h)
	}
	back, ok := errors.AsType[*store.UndoneError](func() error { now = now.Add(time.Hour); _, err := s.UndoImport(ours, 0, 1, nil); return err }())
	if !ok || back.Number != 1 || !back.At.Equal(now.Add(-time.Hour)) {
		t.Errorf("a second undo: %+v", back)
	}
	checkImports(t, s, ours, []store.Import{{Number: 1, At: noon, File: "people.csv", Added: 5, Changed: 4, UndoneAt: now.Add(-time.Hour)}})
	for tenant, number := range map[record.TenantID]int64{ours: 2, theirs: 1} {
		if _, err := s.UndoImport(tenant, 0, number, nil); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("department %d, import %d: %v", tenant, number, err)
		}
	}
	checkCounts(t, s)
}
