package store_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// checkRecord checks that got is want and that Get returns it.
func checkRecord(t *testing.T, s *store.Store, got, want record.Firefighter) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, err := s.Get(ours, want.ID); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Get returns %+v, %v, want %+v", got, err, want)
	}
}

// TestCheck checks that a Check receives the current record, and that its error is returned and
// prevents the change.
func TestCheck(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	f := create(t, s, ours, ana)
	objection := errors.New("an objection")
	calls := 0
	objects := func(seen record.Firefighter) error {
		if calls++; seen != f {
			t.Errorf("the check received %+v", seen)
		}
		return objection
	}
	_, replaced := s.Replace(ours, 0, f.ID, eva, objects)
	deleted := s.Delete(ours, 0, f.ID, objects)
	if !errors.Is(replaced, objection) || !errors.Is(deleted, objection) || calls != 2 {
		t.Errorf("replace: %v, delete: %v, %d calls", replaced, deleted, calls)
	}
	if got, err := s.Get(ours, f.ID); err != nil || got != f || actions(history(t, s, ours, f.ID)) != "create" {
		t.Errorf("the record is %+v, %v", got, err)
	}
}

// TestDamagedRecord checks that a damaged record is never returned, and that Replace repairs it.
func TestDamagedRecord(t *testing.T) {
	t.Parallel()
	for _, damage := range []string{`first_name = 'Anb'`, `email = NULL, email_key = NULL`, `date_of_birth = '1990-05-16T00:00:00Z'`,
		`checksum = checksum + 1`, `checksum = ~checksum`} {
		t.Run(damage, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			f, gone := create(t, s, ours, ana), create(t, s, ours, ana)
			exec(t, s, `UPDATE firefighters SET `+damage)
			damaged := &record.DamagedError{}
			_, got := s.Get(ours, f.ID)
			_, listed := s.List(ours, parse(t, "search=09"))
			for _, err := range []error{got, listed} {
				if !errors.As(err, &damaged) || damaged.ID != f.ID && damaged.ID != gone.ID {
					t.Errorf("the error is %v", err)
				}
			}
			must(t, s.Delete(ours, 0, gone.ID, asIs))
			f = replace(t, s, ours, f.ID, ana)
			if p := list(t, s, ours, "search=09"); p.Total != 1 || p.Items[0] != f {
				t.Errorf("after the repair: %+v", p)
			}
			if last := history(t, s, ours, gone.ID); !strings.HasSuffix(last[1].Summary(), ", (damaged)") {
				t.Errorf("the history contains %s", last[1].Before)
			}
		})
	}
}

// TestDamagedDelete checks that damage does not restore a deleted record.
func TestDamagedDelete(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	f := createDeleted(t, s, ours, ana)
	exec(t, s, `UPDATE firefighters SET deleted_at = NULL`)
	if _, err := s.Get(ours, f.ID); !errors.As(err, new(*record.DamagedError)) {
		t.Errorf("the error is %v", err)
	}
}

func TestAddDepartments(t *testing.T) {
	t.Parallel()
	s := openStore(t, newFile(t), time.Now)
	if empty, err := s.Empty(); err != nil || !empty {
		t.Errorf("empty: %t, %v", empty, err)
	}
	must(t, s.AddDepartments([]store.Department{{Name: "A", People: []record.Fields{ana, eva}}, {Name: "B"}, {Name: "C", People: people(1)}}))
	must(t, s.AddDepartments([]store.Department{{Name: "C", People: people(2)}}))
	for i, want := range []int64{2, 0, 3} {
		if total := list(t, s, record.TenantID(i+1), "").Total; total != want {
			t.Errorf("department %d has %d records, want %d", i+1, total, want)
		}
	}
	if items := list(t, s, 1, "sortDir=asc").Items; items[0].Fields != ana || items[1].Fields != eva {
		t.Errorf("the people are %+v", items)
	}
	for _, bad := range [][]store.Department{{{Name: "D", People: []record.Fields{ana, {FirstName: "A", LastName: "B", Email: "x"}}}}, {{Name: ""}}} {
		if err := s.AddDepartments(bad); err == nil {
			t.Errorf("%+v were added", bad)
		}
	}
	if _, err := s.Tenant("D"); !errors.As(err, new(*store.NoTenantError)) {
		t.Errorf("a part of a batch was added: %v", err)
	}
	if empty, err := s.Empty(); err != nil || empty {
		t.Errorf("empty: %t, %v", empty, err)
	}
	checkCounts(t, s)
}

// TestEdit checks that new fields are computed from the current ones and validated.
func TestEdit(t *testing.T) {
	t.Parallel()
	s := newStoreAt(t, func() time.Time { return noon })
	f := create(t, s, ours, ana)
	rename := func(fields record.Fields) (record.Fields, error) {
		if fields != ana {
			t.Errorf("the fields were %+v", fields)
		}
		fields.LastName, fields.PhoneNumber = " Horvat ", ""
		return fields, nil
	}
	got, err := s.Edit(ours, 3, f.ID, rename, asIs)
	must(t, err)
	want := f
	want.LastName, want.PhoneNumber = "Horvat", ""
	checkRecord(t, s, got, want)
	if h := history(t, s, ours, f.ID); actions(h) != "create replace" || string(h[1].Before) != string(f.AppendJSON(nil)) || *h[1].Key != 3 {
		t.Errorf("the history is %+v", h)
	}
	objection := errors.New("an objection")
	to := func(fields record.Fields, err error) func(record.Fields) (record.Fields, error) {
		return func(record.Fields) (record.Fields, error) { return fields, err }
	}
	for name, tt := range map[string]struct {
		id     string
		change func(record.Fields) (record.Fields, error)
		check  store.Check
		want   func(error) bool
	}{
		"refused":      {f.ID, to(eva, objection), asIs, func(err error) bool { return errors.Is(err, objection) }},
		"checked":      {f.ID, to(eva, nil), func(record.Firefighter) error { return objection }, func(err error) bool { return errors.Is(err, objection) }},
		"against rule": {f.ID, to(record.Fields{FirstName: "A"}, nil), asIs, func(err error) bool { return errors.As(err, new(record.FieldErrors)) }},
		"nobody":       {nobody, to(eva, nil), asIs, func(err error) bool { return errors.Is(err, store.ErrNotFound) }},
	} {
		if got, err := s.Edit(ours, 0, tt.id, tt.change, tt.check); !tt.want(err) || got != (record.Firefighter{}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	checkRecord(t, s, got, want)
	exec(t, s, `UPDATE firefighters SET last_name = 'X'`)
	if _, err := s.Edit(ours, 0, f.ID, to(eva, nil), asIs); !errors.As(err, new(*record.DamagedError)) {
		t.Errorf("damaged: %v", err)
	}
}
