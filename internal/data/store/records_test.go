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

func TestRecords(t *testing.T) {
	t.Parallel()
	now := noon
	s := newStoreAt(t, func() time.Time { return now })
	f := create(t, s, ours, record.Fields{FirstName: " Ana ", LastName: "Čović", Email: "ana@example.com", DateOfBirth: "1990-05-15"})
	want := record.Firefighter{ID: f.ID, Fields: record.Fields{FirstName: "Ana", LastName: "Čović", Email: "ana@example.com",
		DateOfBirth: "1990-05-15T00:00:00Z"}, CreatedAt: noon.UnixMilli(), UpdatedAt: noon.UnixMilli()}
	checkRecord(t, s, f, want)

	status, user := "sent\nby mail", strings.Repeat("u", 36)
	exec(t, s, `UPDATE firefighters SET invitation_status = ?, user_id = ?`, status, user)
	want.InvitationStatus, want.UserID = &status, &user
	if got, err := s.Get(ours, f.ID); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("with the platform's columns: %+v, %v", got, err)
	}

	now = noon.Add(time.Hour)
	f, err := s.Replace(ours, 0, f.ID, record.Fields{FirstName: "Eva", LastName: " B ", PhoneNumber: "112"}, asIs)
	must(t, err)
	want.UpdatedAt = now.UnixMilli()
	want.Fields = record.Fields{FirstName: "Eva", LastName: "B", PhoneNumber: "112"}
	checkRecord(t, s, f, want)

	must(t, s.Delete(ours, 0, f.ID, asIs))
	if _, err := s.Get(ours, f.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("after the delete: %v", err)
	}
}

// checkRecord fails unless got is want, and Get returns it.
func checkRecord(t *testing.T, s *store.Store, got, want record.Firefighter) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, err := s.Get(ours, want.ID); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Get returns %+v, %v, want %+v", got, err, want)
	}
}

// TestMissing: a deleted record, another department's and one that never
// existed are alike to every method, and stay as they are.
func TestMissing(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	another := create(t, s, theirs, ana)
	version := scanInt(t, s, `SELECT sum(version) FROM tenants`)
	for name, id := range map[string]string{"deleted": createDeleted(t, s, ours, ana).ID, "another's": another.ID, "nobody's": nobody,
		"upper case": strings.ToUpper(create(t, s, ours, ana).ID), "empty": ""} {
		t.Run(name, func(t *testing.T) {
			fails := func(record.Firefighter) error { t.Error("the check is asked"); return nil }
			_, got := s.Get(ours, id)
			_, replaced := s.Replace(ours, 0, id, eva, fails)
			for _, err := range []error{got, replaced, s.Delete(ours, 0, id, fails)} {
				if !errors.Is(err, store.ErrNotFound) {
					t.Errorf("the error is %v", err)
				}
			}
		})
	}
	if got, err := s.Get(theirs, another.ID); err != nil || got != another {
		t.Errorf("another department's record: %+v, %v", got, err)
	}
	if now := scanInt(t, s, `SELECT sum(version) FROM tenants`); now != version+3 {
		t.Errorf("the departments have changed %d times, not 3", now-version)
	}
}

func TestRefusedFields(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	f := create(t, s, ours, ana)
	bad := record.Fields{FirstName: " ", Email: "ana"}
	_, created := s.Create(ours, 0, bad, nil)
	_, replaced := s.Replace(ours, 0, f.ID, bad, asIs)
	_, missing := s.Replace(ours, 0, nobody, bad, asIs)
	for _, err := range []error{created, replaced, missing} {
		var errs record.FieldErrors
		if !errors.As(err, &errs) || len(errs) != 3 {
			t.Errorf("the error is %v", err)
		}
	}
	if p := list(t, s, ours, ""); p.Total != 1 || p.Items[0] != f {
		t.Errorf("the records are %+v", p.Items)
	}
}

// TestCheck: a check sees the record as it is. Its error comes back and leaves
// the record alone.
func TestCheck(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	f := create(t, s, ours, ana)
	objection := errors.New("an objection")
	asked := 0
	objects := func(seen record.Firefighter) error {
		if asked++; seen != f {
			t.Errorf("the check sees %+v", seen)
		}
		return objection
	}
	_, replaced := s.Replace(ours, 0, f.ID, eva, objects)
	deleted := s.Delete(ours, 0, f.ID, objects)
	if !errors.Is(replaced, objection) || !errors.Is(deleted, objection) || asked != 2 {
		t.Errorf("replace: %v, delete: %v, asked %d times", replaced, deleted, asked)
	}
	if got, err := s.Get(ours, f.ID); err != nil || got != f || actions(history(t, s, ours, f.ID)) != "create" {
		t.Errorf("the record is %+v, %v", got, err)
	}
}

func TestCreateWithoutDepartment(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	if _, err := s.Create(99, 0, ana, nil); err == nil {
		t.Error("a record was added to a department that does not exist")
	}
	if n := scanInt(t, s, `SELECT count(*) FROM changes`); n != 0 {
		t.Errorf("%d changes", n)
	}
}

// TestDamagedRecord: a record that is not what the service wrote is in no
// answer. A replace makes it whole.
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
				t.Errorf("the history has %s", last[1].Before)
			}
		})
	}
}

// TestDamagedDelete: damage does not bring a deleted record back.
func TestDamagedDelete(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	f := createDeleted(t, s, ours, ana)
	exec(t, s, `UPDATE firefighters SET deleted_at = NULL`)
	if _, err := s.Get(ours, f.ID); !errors.As(err, new(*record.DamagedError)) {
		t.Errorf("the error is %v", err)
	}
}

// TestTimes: a record is created and changed at the store's time.
func TestTimes(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(2e12)
	s := newStoreAt(t, func() time.Time { return now })
	f := create(t, s, ours, ana)
	now = now.Add(time.Hour)
	_, err := s.Replace(ours, 0, f.ID, eva, asIs)
	must(t, err)
	now = now.Add(time.Hour)
	must(t, s.Delete(ours, 0, f.ID, asIs))
	for column, want := range map[string]int64{"created_at": 2e12, "updated_at": 2e12 + 3_600_000, "deleted_at": 2e12 + 7_200_000} {
		if got := scanInt(t, s, `SELECT `+column+` FROM firefighters`); got != want {
			t.Errorf("%s is %d, not %d", column, got, want)
		}
	}
}

func TestAddDepartments(t *testing.T) {
	t.Parallel()
	s := openStore(t, newFile(t), time.Now)
	if empty, err := s.Empty(); err != nil || !empty {
		t.Errorf("empty: %t, %v", empty, err)
	}
	must(t, s.AddDepartments([]store.Department{{Name: "A", People: []record.Fields{ana, eva}}, {Name: "B"}, {Name: "C", People: people(3)}}))
	for i, want := range []int64{2, 0, 3} {
		if total := list(t, s, record.TenantID(i+1), "").Total; total != want {
			t.Errorf("department %d has %d records, not %d", i+1, total, want)
		}
	}
	if items := list(t, s, 1, "sortDir=asc").Items; items[0].Fields != ana || items[1].Fields != eva {
		t.Errorf("the people are %+v", items)
	}
	for _, bad := range [][]store.Department{{{Name: "D"}, {Name: "A"}}, {{Name: "D", People: []record.Fields{ana, {FirstName: "A", LastName: "B", Email: "x"}}}}, {{Name: ""}}} {
		if err := s.AddDepartments(bad); err == nil {
			t.Errorf("%+v were added", bad)
		}
	}
	if _, err := s.Tenant("D"); !errors.As(err, new(*store.NoTenantError)) {
		t.Errorf("half of a batch was added: %v", err)
	}
	if empty, err := s.Empty(); err != nil || empty {
		t.Errorf("empty: %t, %v", empty, err)
	}
	checkCounts(t, s)
}

func TestTenant(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for name, want := range map[string]record.TenantID{"Engine 7": ours, " Ladder 1\n": theirs} {
		if got, err := s.Tenant(name); err != nil || got != want {
			t.Errorf("%q is %d, %v", name, got, err)
		}
	}
	for _, name := range []string{"engine 7", "", "Engine"} {
		var none *store.NoTenantError
		if _, err := s.Tenant(name); !errors.As(err, &none) || none.Name != name {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestEdit: the new fields follow from what is there, and keep the rules.
func TestEdit(t *testing.T) {
	t.Parallel()
	s := newStoreAt(t, func() time.Time { return noon })
	f := create(t, s, ours, ana)
	rename := func(fields record.Fields) (record.Fields, error) {
		if fields != ana {
			t.Errorf("it was %+v", fields)
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
