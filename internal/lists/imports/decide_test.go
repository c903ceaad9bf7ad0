package imports

import (
	"context"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/alike"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

var (
	ana  = record.Fields{FirstName: "Ana", LastName: "Čović", PhoneNumber: "091 234 5678", Email: "ana@example.com", DateOfBirth: "1990-05-15T00:00:00Z"}
	ivan = record.Fields{FirstName: "Ivan", LastName: "Horvat"}
)

const (
	anaID     = "01890000-0000-7000-8000-00000000000a"
	ivanID    = "01890000-0000-7000-8000-00000000000b"
	deletedID = "01890000-0000-7000-8000-00000000000c"
	nobodyID  = "01890000-0000-7000-8000-00000000000d"
)

// people is a department that also has a deleted person.
type people []record.Stored

func (all people) Each(_ context.Context, each func(*record.Stored)) error {
	for i := range all {
		each(&all[i])
	}
	return nil
}

func (people) Deleted(ids []string) (map[string]bool, error) {
	deleted := map[string]bool{}
	for _, id := range ids {
		deleted[id] = id == deletedID
	}
	return deleted, nil
}

func stored(id string, f record.Fields) record.Stored {
	return record.Stored{Firefighter: record.Firefighter{ID: id, Fields: f}}
}

// department contains Ana and Ivan.
func department() people { return people{stored(anaID, ana), stored(ivanID, ivan)} }

// fileOf returns a file with the given rows.
func fileOf(o Options, rows ...mapping.Person) *File {
	f := &File{Table: &sheet.Table{Format: sheet.CSV}, Mapped: &mapping.Result{People: rows}, Options: o, now: now}
	for i := range rows {
		rows[i].Row = i + 2
	}
	return f
}

// with returns Ana with changed fields.
func with(change func(*record.Fields)) record.Fields {
	f := ana
	change(&f)
	return f
}

// result formats the result of a row, or the fields and codes of its errors.
func result(r Row) string {
	if r.Result != Refused {
		return r.Result
	}
	text := r.Result
	for _, e := range r.Errors {
		text += " " + e.Field + ":" + e.Code
	}
	return text
}

func TestDecide(t *testing.T) {
	t.Parallel()
	missing := record.FieldErrors{{Field: "lastName", Code: record.Required, Detail: "lastName is required."}}
	badEmail := record.FieldErrors{{Field: "email", Code: record.Invalid, Detail: "…"}}
	badID := record.FieldErrors{{Field: "id", Code: record.Invalid, Detail: "…"}}
	other := with(func(f *record.Fields) { f.PhoneNumber = "099 999" })
	for _, test := range []struct {
		name         string
		person       mapping.Person
		kept, update string // without and with Update
	}{
		{"somebody new", mapping.Person{Fields: record.Fields{FirstName: "Eva", LastName: "B"}}, Added, Added},
		{"the same", mapping.Person{Fields: ana}, Left, Left},
		{"another phone number", mapping.Person{Fields: other}, Left, Changed},
		{"an empty cell", mapping.Person{Fields: with(func(f *record.Fields) { f.PhoneNumber = "" })}, Left, Left},
		{"other letters", mapping.Person{Fields: with(func(f *record.Fields) { f.LastName = "Covic" })}, Left, Left},
		{"a fault", mapping.Person{Fields: ana, Errors: badEmail}, "refused email:invalid", "refused email:invalid"},
		{"an id and another name", mapping.Person{ID: ivanID, Fields: record.Fields{FirstName: "Ivo", LastName: "Horvat"}}, Left, Changed},
		{"an id and a name that is missing", mapping.Person{ID: ivanID, Fields: record.Fields{FirstName: "Ivo"}, Errors: missing}, Left, Changed},
		{"no id and a name that is missing", mapping.Person{Fields: record.Fields{FirstName: "Ivo"}, Errors: missing}, "refused lastName:required", "refused lastName:required"},
		{"an id of nobody", mapping.Person{ID: nobodyID, Fields: ana}, "refused id:unknown", "refused id:unknown"},
		{"a cell that is no id", mapping.Person{Fields: ana, Errors: badID}, "refused id:invalid", "refused id:invalid"},
		{"lost digits", withPhone("4.41E+11"), "refused phoneNumber:lost_digits", "refused phoneNumber:lost_digits"},
		{"the same day without an offset", mapping.Person{ID: "o", Fields: ana}, Left, Left},
		{"the same day with a time and an offset",
			mapping.Person{Fields: with(func(f *record.Fields) { f.DateOfBirth = "1990-05-15T23:30:00.5-04:00" })},
			Left, Left},
		{"another day", mapping.Person{ID: anaID, Fields: with(func(f *record.Fields) { f.DateOfBirth = "1990-05-16T00:00:00+02:00" })}, Left, Changed},
		{"what the record refuses together", mapping.Person{ID: "x", Fields: record.Fields{FirstName: "Ex", LastName: "Y", PhoneNumber: "1"}},
			Left, "refused email:invalid"},
	} {
		for _, update := range []bool{false, true} {
			roster := append(department(),
				stored("o", with(func(f *record.Fields) { f.DateOfBirth = "1990-05-15T00:00:00+02:00"; f.LastName = "O" })),
				stored("x", record.Fields{FirstName: "Ex", LastName: "Y", Email: "not an address"}))
			person := test.person
			if person.ID == "o" {
				person.Fields.LastName = "O"
			}
			d, err := fileOf(Options{Update: update}, person).decide(t.Context(), roster)
			if err != nil {
				t.Fatal(err)
			}
			want := map[bool]string{false: test.kept, true: test.update}[update]
			if got := result(d.rows[0]); got != want {
				t.Errorf("%s, update %t: %s, want %s", test.name, update, got, want)
			}
			if written := len(d.people()) == 1; written != (want == Added || want == Changed) {
				t.Errorf("%s, update %t: %d people to write", test.name, update, len(d.people()))
			}
		}
	}
}

// withPhone returns ana with a phone number that a spreadsheet rounded.
func withPhone(lost string) mapping.Person {
	return mapping.Person{Fields: with(func(f *record.Fields) { f.PhoneNumber = lost }),
		Doubts: record.FieldErrors{{Field: "phoneNumber", Code: mapping.LostDigits, Detail: "…"}}}
}

func TestExistingLostPhone(t *testing.T) {
	t.Parallel()
	roster := people{stored(anaID, with(func(f *record.Fields) { f.PhoneNumber = "4.41E+11" }))}
	for lost, want := range map[string]string{"4.41E+11": Left, "4.42E+11": "refused phoneNumber:lost_digits"} {
		d, err := fileOf(Options{Update: true}, withPhone(lost)).decide(t.Context(), roster)
		if err != nil || result(d.rows[0]) != want {
			t.Errorf("%s: %s, %v, want %s", lost, result(d.rows[0]), err, want)
		}
	}
}

func TestSplitNameUnchanged(t *testing.T) {
	t.Parallel()
	roster := people{stored(anaID, record.Fields{FirstName: "Ludwig", LastName: "van Beethoven"})}
	for field, want := range map[string]string{mapping.FullName: Left, mapping.LastFirst: Left, "lastName": Changed} {
		f := fileOf(Options{Update: true}, mapping.Person{Fields: record.Fields{FirstName: "Ludwig van", LastName: "Beethoven"}})
		f.Mapped.Columns = []mapping.Column{{Header: "Name", Field: field}}
		d, err := f.decide(t.Context(), roster)
		if err != nil || result(d.rows[0]) != want {
			t.Errorf("a column of %s: %s, %v, want %s", field, result(d.rows[0]), err, want)
		}
	}
}

// TestReversedNameUnchanged checks that a name whose order nothing states does not replace the same
// name in reverse.
func TestReversedNameUnchanged(t *testing.T) {
	t.Parallel()
	roster := people{stored(anaID, record.Fields{FirstName: "Jürgen", LastName: "Müller"})}
	row := mapping.Person{Fields: record.Fields{FirstName: "Mueller", LastName: "Juergen"}}
	for want, reversed := range map[string]mapping.Name{Left: {First: "Juergen", Last: "Mueller"}, Changed: {}} {
		row.Reversed = reversed
		d, err := fileOf(Options{Update: true, Same: map[int]string{2: anaID}}, row).decide(t.Context(), roster)
		if err != nil || result(d.rows[0]) != want {
			t.Errorf("%+v: %s, %v, want %s", reversed, result(d.rows[0]), err, want)
		}
	}
}

func TestReasons(t *testing.T) {
	t.Parallel()
	son := record.Fields{FirstName: "Ivan", LastName: "Horvat", DateOfBirth: "1990-05-15T00:00:00Z"}
	father := record.Fields{FirstName: "Ivan", LastName: "Horvat", DateOfBirth: "1960-01-02T00:00:00Z", Email: "i@example.com"}
	eva := mapping.Person{Fields: record.Fields{FirstName: "Eva", LastName: "B"}}
	evaPhone := func(phone string) mapping.Person {
		return mapping.Person{Fields: record.Fields{FirstName: "Eva", LastName: "B", PhoneNumber: phone}}
	}
	sonRow := mapping.Person{Fields: son}
	for _, test := range []struct {
		roster people
		rows   []mapping.Person
		want   string // of the first row
	}{
		{nil, []mapping.Person{{ID: deletedID, Fields: ana}}, "id belongs to a deleted person."},
		{nil, []mapping.Person{{ID: nobodyID, Fields: ana}}, "id does not belong to a person in this department."},
		{nil, []mapping.Person{eva, evaPhone("1")}, "This row and row 3 are for the same person."},
		{nil, []mapping.Person{eva, evaPhone("1"), evaPhone("2")}, "This row and rows 3 and 4 are for the same person."},
		{people{stored(anaID, son), stored(ivanID, father)}, []mapping.Person{{Fields: ivan}},
			"This row could be Ivan Horvat (1990-05-15) or Ivan Horvat (1960-01-02, i@example.com). Add an e-mail address or a date of birth to tell them apart."},
		{people{stored(anaID, ivan), stored(ivanID, father)}, []mapping.Person{sonRow},
			"This row could be Ivan Horvat or another person with the same name. Add an e-mail address or a date of birth to tell them apart."},
		{people{stored(anaID, son)}, []mapping.Person{{Fields: ivan}, sonRow},
			"This row and row 3 could both be Ivan Horvat (1990-05-15). Add an e-mail address or a date of birth to tell them apart."},
	} {
		d, err := fileOf(Options{}, test.rows...).decide(t.Context(), test.roster)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.rows[0].Errors; len(got) != 1 || got[0].Detail != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestFaultyFieldMeansNobody checks that invalid fields are ignored when matching a row.
func TestFaultyFieldMeansNobody(t *testing.T) {
	t.Parallel()
	bad := record.FieldErrors{{Field: "email", Code: record.Invalid, Detail: "…"}}
	got := fileOf(Options{}, mapping.Person{Fields: ana, Errors: bad}, mapping.Person{Fields: ana}).distinct(t.Context()).rows
	if common, differing := got[0].Compare(&got[1].Identity); common != alike.Phone|alike.Birth || differing != 0 {
		t.Errorf("%+v", got)
	}
}

var _ store.Roster = people{}

// TestExistingNames checks that a name that looks like another field is refused unless a record has it.
func TestExistingNames(t *testing.T) {
	t.Parallel()
	odd := record.Fields{FirstName: "1990-05-15", LastName: "Kos"}
	doubts := record.FieldErrors{{Field: "firstName", Code: mapping.Misplaced, Detail: "…"}}
	for _, tt := range []struct {
		roster people
		want   string
	}{{nil, "refused firstName:misplaced"}, {people{stored(anaID, odd)}, Left}} {
		d := decided(t, tt.roster, Options{LeaveOutBad: true, Update: true}, mapping.Person{Fields: odd, Doubts: doubts})
		if got := result(d.rows[0]); got != tt.want {
			t.Errorf("%d people: %s, want %s", len(tt.roster), got, tt.want)
		}
	}
}

// TestLostDigitsLeftOut checks that a rounded phone number is left out like other invalid fields,
// unless the record contains the same text.
func TestLostDigitsLeftOut(t *testing.T) {
	t.Parallel()
	for phone, want := range map[string]int{"4.41E+11": 0, "091": 1} {
		d := decided(t, people{stored(anaID, with(func(f *record.Fields) { f.PhoneNumber = phone }))}, Options{LeaveOutBad: true, Update: true},
			withPhone("4.41E+11"))
		if row := d.rows[0]; row.Result != Left || len(row.LeftOut) != want || row.LeftOut.Has("phoneNumber") != (want > 0) {
			t.Errorf("with %s: %s, %+v", phone, row.Result, row)
		}
	}
}
