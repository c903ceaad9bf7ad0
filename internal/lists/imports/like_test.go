package imports

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// decided decides rows against a department.
func decided(t *testing.T, roster people, o Options, rows ...mapping.Person) *decision {
	t.Helper()
	d, err := fileOf(o, rows...).decide(t.Context(), roster)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// results formats the results of all rows, with the candidates and reasons of possible duplicates.
func results(d *decision) string {
	var all []string
	for _, r := range d.rows {
		text := result(r)
		for _, like := range r.Like {
			if like.ID != nil {
				text += " " + *like.ID
			}
			text += " " + like.Why
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func someone(values ...string) mapping.Person {
	var p mapping.Person
	for i, field := range record.AllFields()[:len(values)] {
		*field.Of(&p.Fields) = values[i]
	}
	return p
}

func TestPerhaps(t *testing.T) {
	t.Parallel()
	const born, other = "1990-05-15T00:00:00Z", "1960-01-02T00:00:00Z"
	roster := func(all ...mapping.Person) (roster people) {
		for i, p := range all {
			roster = append(roster, stored(fmt.Sprint("id", i), p.Fields))
		}
		return roster
	}
	muller := someone("Jürgen", "Müller", "092 354 3631", "j@example.com", born)
	for _, test := range []struct {
		name   string
		roster people
		row    mapping.Person
		want   string
	}{
		{"ue", roster(muller), someone("Juergen", "Mueller"), Left},
		{"ue, and born on another day", roster(muller), someone("Juergen", "Mueller", "", "", other), Added},
		{"a title", roster(muller), someone("Dr. Jürgen", "Müller"), Left},
		{"a hyphen", roster(someone("Ana-Marija", "Kos")), someone("Ana Marija", "Kos"), "perhaps id0 spelling"},
		{"swapped", roster(muller), someone("Müller", "Jürgen"), "perhaps id0 swapped"},
		{"swapped, and born on another day", roster(muller), someone("Müller", "Jürgen", "", "", other), Added},
		{"the last name of a husband", roster(muller), someone("Jürgen", "Kos", "", "", born), "perhaps id0 birth_and_name"},
		{"a twin", roster(muller), someone("Eva", "Müller", "", "", born), "perhaps id0 birth_and_name"},
		{"e-mail", roster(muller), someone("Eva", "Kos", "", "J@example.com", born), "perhaps id0 email_and_birth"},
		{"phone", roster(muller), someone("Eva", "Kos", "+385 (0)92/354 3631", "", born), "perhaps id0 phone_and_birth"},
		{"the strongest reason", roster(muller), someone("Jürgen", "Muller-Kos", "0923543631", "j@example.com", born), "perhaps id0 email_and_birth"},
		{"a household", roster(muller), someone("Eva", "Müller", "092 354 3631", "j@example.com", ""), Added},
		{"father and son", roster(muller), someone("Jürgen", "Müller", "092 354 3631", "", other), "perhaps id0 name"},
		{"two of a name", roster(muller), someone("Jürgen", "Müller", "", "another@example.com", ""), "perhaps id0 name"},
		{"several people", roster(someone("Jürgen", "Kos", "", "", born), someone("Eva", "Kunz", "", "j@example.com", born), muller),
			someone("Juergen", "Mueller-Kos", "", "j@example.com", born), "perhaps id1 email_and_birth id2 email_and_birth id0 birth_and_name"},
	} {
		if got := results(decided(t, test.roster, Options{}, test.row)); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// TestPerhapsDecided checks that a possible duplicate is written only after a decision.
func TestPerhapsDecided(t *testing.T) {
	t.Parallel()
	row := someone("Ana", "Covic-Kos", "1", "", ana.DateOfBirth)
	readings := someone("Steiner", "Maria")
	readings.Readings = []mapping.Name{{First: "Steiner", Last: "Maria"}, {First: "Maria", Last: "Steiner"}}
	swapped := someone("Horvat", "Ivan") // Ivan Horvat exists
	swapped.Readings = []mapping.Name{{First: "Horvat", Last: "Ivan"}, {First: "Ivan", Last: "Horvat"}}
	here := someone("Ivan", "Horvat")
	here.Readings = swapped.Readings
	again := someone("Horvat", "Ivan")
	again.Readings = swapped.Readings
	for _, test := range []struct {
		o       Options
		rows    []mapping.Person
		want    string
		written int
	}{
		{Options{}, []mapping.Person{row}, "perhaps " + anaID + " birth_and_name", 0},
		{Options{Update: true, SkipBad: true}, []mapping.Person{row}, "perhaps " + anaID + " birth_and_name", 0},
		{Options{Add: map[int]bool{2: true}}, []mapping.Person{row}, Added, 1},
		{Options{AddAll: map[string]bool{All: true}}, []mapping.Person{row}, Added, 1},
		{Options{Same: map[int]string{2: anaID}}, []mapping.Person{row}, Left, 0},
		{Options{Same: map[int]string{2: anaID}, Update: true}, []mapping.Person{row}, Changed, 1},
		{Options{Same: map[int]string{2: ivanID}}, []mapping.Person{row}, Left, 0},
		{Options{Same: map[int]string{2: nobodyID}}, []mapping.Person{row}, "refused id:unknown", 0},
		{Options{Same: map[int]string{2: deletedID}}, []mapping.Person{row}, "refused id:unknown", 0},
		{Options{Same: map[int]string{2: ivanID}}, []mapping.Person{{Fields: ana}}, "refused name:ambiguous", 0},
		{Options{Add: map[int]bool{2: true}}, []mapping.Person{{Fields: ana}}, "refused name:exists", 0},
		{Options{}, []mapping.Person{readings}, "perhaps mixed_names", 0},
		{Options{AddAll: map[string]bool{All: true}}, []mapping.Person{readings}, "perhaps mixed_names", 0},
		{Options{Add: map[int]bool{2: true}}, []mapping.Person{readings}, Added, 1},
		{Options{Same: map[int]string{2: anaID}}, []mapping.Person{readings}, Left, 0},
		{Options{Same: map[int]string{2: ivanID}, Update: true}, []mapping.Person{swapped}, Left, 0},
		{Options{}, []mapping.Person{here}, Left, 0},
		{Options{Update: true}, []mapping.Person{again}, Left, 0}, // the other reading exists
		{Options{Same: map[int]string{2: anaID, 3: anaID}}, []mapping.Person{row, readings}, "refused name:duplicate, refused name:duplicate", 0},
	} {
		d := decided(t, department(), test.o, test.rows...)
		if got := results(d); got != test.want || len(d.people()) != test.written {
			t.Errorf("%+v: got %s and %d people to write, want %s and %d", test.o, got, len(d.people()), test.want, test.written)
		}
	}
	d := decided(t, department(), Options{Same: map[int]string{2: deletedID}}, row)
	if r := d.rows[0]; r.Errors[0].Detail != "id belongs to a deleted person." || r.Deleted != deletedID {
		t.Errorf("a deleted person: %+v", r)
	}
}

// TestSameAll checks that one answer settles all rows with one candidate, and of one kind.
func TestSameAll(t *testing.T) {
	t.Parallel()
	roster := people{stored("a", someone("Ana", "Kos", "1").Fields), stored("i", someone("Ivan", "Horvat", "2", "", ana.DateOfBirth).Fields),
		stored("m", someone("Mia", "Bilić-Perić").Fields), stored("e", someone("Eva", "Babić", "3").Fields), stored("f", someone("Eva", "Babić", "4").Fields)}
	rows := []mapping.Person{someone("Ana", "Kos", "9"), someone("Ivan", "Horvat", "2", "", "1960-01-02T00:00:00Z"), someone("Mia", "Bilić Perić"), someone("Eva", "Babić", "5")}
	const eva = "perhaps e name f name"
	for _, test := range []struct {
		o    Options
		want string
	}{
		{Options{}, "perhaps a name, perhaps i name, perhaps m spelling, " + eva},
		{Options{SameAll: map[string]bool{All: true}}, "changed, changed, changed, " + eva},
		{Options{SameAll: map[string]bool{SameName: true}}, "changed, perhaps i name, perhaps m spelling, " + eva},
		{Options{SameAll: map[string]bool{Born: true}}, "perhaps a name, changed, perhaps m spelling, " + eva},
		{Options{AddAll: map[string]bool{Spelling: true}}, "perhaps a name, perhaps i name, added, " + eva},
		{Options{SameAll: map[string]bool{All: true}, Add: map[int]bool{2: true}}, "added, changed, changed, " + eva},
		{Options{SameAll: map[string]bool{SameName: true}, AddAll: map[string]bool{All: true}}, "changed, added, added, added"},
	} {
		test.o.Update = true
		if got := results(decided(t, roster, test.o, slices.Clone(rows)...)); got != test.want {
			t.Errorf("%+v: %s, want %s", test.o, got, test.want)
		}
	}
	same := Options{SameAll: map[string]bool{All: true}}
	for _, rows := range [][]mapping.Person{{someone("Mia", "Bilić Perić"), someone("Mia-Bilić", "Perić")}, {someone("Mia", "Bilić-Perić"), someone("Mia", "Bilić Perić")}} {
		if d := decided(t, roster, same, rows...); d.rows[0].Result == Refused || d.rows[1].Result != Perhaps {
			t.Errorf("two rows for one person: %s", results(d))
		}
	}
}

// TestTitles checks that a title or remark does not affect matching, and is not removed from an
// existing record.
func TestTitles(t *testing.T) {
	t.Parallel()
	roster := people{stored(anaID, record.Fields{FirstName: "Dr. Ana", LastName: "Kos"}), stored(ivanID, ivan),
		stored(nobodyID, record.Fields{FirstName: "Dr. Ivan", LastName: "Horvat"}), stored(deletedID, record.Fields{FirstName: "Hans (Hansi)", LastName: "Maier"})}
	for _, test := range []struct {
		row      mapping.Person
		want, id string
	}{
		{someone("Dr. Ana", "Kos"), Left, anaID},
		{someone("Dr. Ivan", "Horvat"), Left, nobodyID},
		{someone("Ana", "Kos"), Left, anaID},
		{someone("Ivan", "Horvat"), Left, ivanID},
		{someone("Hans", "Maier"), Left, deletedID},
	} {
		d := decided(t, roster, Options{Update: true}, test.row)
		d.file.Mapped.Columns = []mapping.Column{{Header: "Name", Field: mapping.FullName}}
		d, err := d.file.decide(t.Context(), roster)
		if err != nil {
			t.Fatal(err)
		}
		if row := d.rows[0]; row.Result != test.want || row.ID == nil || *row.ID != test.id {
			t.Errorf("%s: got %s %v, want %s %s", test.row.Name(), row.Result, row.ID, test.want, test.id)
		}
	}
}

// TestWrongDecisions checks that a decision against the rules is an error that names the matching
// person.
func TestWrongDecisions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		o    Options
		want string
	}{
		{Options{Add: map[int]bool{2: true}}, "This row is Ana Čović (1990-05-15, ana@example.com), who already exists."},
		{Options{Same: map[int]string{2: ivanID}}, "This row could be Ana Čović (1990-05-15, ana@example.com) or Ivan Horvat. Add an e-mail address or a date of birth to tell them apart."},
		{Options{Same: map[int]string{2: nobodyID}}, "id does not belong to a person in this department."},
	} {
		if got := decided(t, department(), test.o, mapping.Person{Fields: ana}).rows[0].Errors; len(got) != 1 || got[0].Detail != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestTitledTwins checks that two existing people with the same name, one with a title, match
// different rows.
func TestTitledTwins(t *testing.T) {
	t.Parallel()
	doctor := someone("Dr. Ivan", "Horvat")
	d := decided(t, people{stored(ivanID, ivan), stored(nobodyID, record.Fields{FirstName: "Dr. Ivan", LastName: "Horvat"})}, Options{}, someone("Ivan", "Horvat"), doctor)
	if a, b := d.rows[0].ID, d.rows[1].ID; a == nil || b == nil || *a != ivanID || *b != nobodyID {
		t.Errorf("%s", results(d))
	}
}

// TestTwins checks that rows with equal fields count as one person, and that a decision about one
// applies to all.
func TestTwins(t *testing.T) {
	t.Parallel()
	eva, other := someone("Eva", "B", "1"), someone("Eva", "B", "2")
	bad := eva
	bad.Errors = record.FieldErrors{{Field: "email", Code: record.Invalid, Detail: "…"}}
	readAgain := eva
	readAgain.LeftOut = record.FieldErrors{{Field: "dateOfBirth", Code: record.Invalid, Detail: `dateOfBirth has no year: "15.5."`}}
	mueller := someone("Ana", "Kos", "", "", ana.DateOfBirth)
	for _, test := range []struct {
		o    Options
		rows []mapping.Person
		want string
	}{
		{Options{}, []mapping.Person{eva, eva, eva}, "added, left, left"},
		{Options{}, []mapping.Person{eva, other, eva}, "refused name:duplicate, refused name:duplicate, refused name:duplicate"},
		{Options{}, []mapping.Person{{Fields: ana}, {Fields: ana}}, "left, left"},
		{Options{}, []mapping.Person{{ID: anaID, Fields: ana}, {ID: anaID, Fields: ana}}, "left, left"},
		{Options{}, []mapping.Person{{ID: nobodyID, Fields: ana}, {ID: nobodyID, Fields: ana}}, "refused id:unknown, refused id:unknown"},
		{Options{}, []mapping.Person{{ID: anaID, Fields: ana}, {Fields: ana}}, "refused name:duplicate, refused name:duplicate"},
		{Options{}, []mapping.Person{bad, bad}, "refused email:invalid name:duplicate, refused email:invalid name:duplicate"},
		{Options{}, []mapping.Person{eva, readAgain}, "refused name:duplicate, refused name:duplicate"},
		{Options{}, []mapping.Person{mueller, mueller}, "perhaps " + anaID + " birth_and_name, left"},
		{Options{Add: map[int]bool{2: true}}, []mapping.Person{mueller, mueller}, "added, left"},
		{Options{Add: map[int]bool{3: true}}, []mapping.Person{mueller, mueller}, "added, left"},
		{Options{Same: map[int]string{3: anaID}, Update: true}, []mapping.Person{mueller, mueller}, "changed, left"},
		{Options{Same: map[int]string{2: anaID, 3: ivanID}}, []mapping.Person{mueller, mueller}, "left, left"},
	} {
		d := decided(t, department(), test.o, test.rows...)
		if got := results(d); got != test.want {
			t.Errorf("%+v: %s, want %s", test.o, got, test.want)
		}
	}
	f := fileOf(Options{}, eva, eva, eva)
	d, err := f.decide(t.Context(), people{})
	if err != nil {
		t.Fatal(err)
	}
	if o := f.newOutcome(d, nil); o.Added != 1 || o.Left != 2 || !slices.Equal(o.Warnings, []string{"2 rows repeat earlier rows and were skipped."}) || o.All[2].Twin != 2 {
		t.Errorf("%+v", o)
	}
}

// TestSpelling checks that a different spelling replaces the existing one only if the option is
// set.
func TestSpelling(t *testing.T) {
	t.Parallel()
	roster := people{stored(anaID, ana), stored(ivanID, record.Fields{FirstName: "Jürgen", LastName: "Müller", Email: "j@example.com"})}
	for _, test := range []struct {
		id      string
		row     mapping.Person
		changes string
		spelled int
	}{
		{"", someone("ANA", "COVIC"), "", 1},
		{"", someone("ANA", "COVIC", "1", "ana@example.com"), "phoneNumber", 1},
		{ivanID, someone("Juergen", "Mueller", "", "J@Example.com"), "", 1},
		{ivanID, someone("Jurgen", "Muller", "", "other@example.com"), "email", 1},
		{ivanID, someone("Jörg", "Mueller"), "firstName", 1},
		{"", someone("Ana", "Čović", "(091) 234-5678"), "", 1},
		{"", someone("Ana", "Čović", "+385 91 2345678"), "", 1}, // in Croatia
		{"", someone("Ana", "Čović", "+49 91 2345678"), "phoneNumber", 0},
		{ivanID, someone("Jürgen", "Müller"), "", 0},
		{ivanID, someone("Jürgen", "Müller-Kos"), "lastName", 0},
	} {
		test.row.ID = test.id
		d := decided(t, roster, Options{Update: true, Country: "HR"}, test.row)
		got := ""
		for _, c := range d.rows[0].Changes() {
			got += c.Field
		}
		if got != test.changes || d.spelled != test.spelled || (d.spellOnly == 1) != (got == "" && test.spelled == 1) {
			t.Errorf("%v: changes %s, spelling %d, want %s, %d", test.row.Fields, got, d.spelled, test.changes, test.spelled)
		}
		if d := decided(t, roster, Options{Update: true, Spelling: true, Country: "HR"}, test.row); d.spelled != 0 || (d.rows[0].Result == Changed) != (test.changes != "" || test.spelled > 0) {
			t.Errorf("%v with Spelling: %s, %d", test.row.Fields, d.rows[0].Result, d.spelled)
		}
		if d := decided(t, roster, Options{Country: "HR"}, test.row); d.rows[0].Result != Left || (d.differ == 1) != (test.changes != "") {
			t.Errorf("%v without Update: %s, %d differ", test.row.Fields, d.rows[0].Result, d.differ)
		}
	}
	f := fileOf(Options{Update: true}, someone("Covic", "ANA"))
	f.Mapped.People[0].Fields = record.Fields{FirstName: "ANA", LastName: "COVIC"}
	f.Mapped.Columns = []mapping.Column{{Header: "Name", Field: mapping.FullName}}
	if d, err := f.decide(t.Context(), roster); err != nil || d.rows[0].Result != Left || d.spelled != 1 {
		t.Errorf("full name column: %+v, %v", d.rows[0], err)
	}
}

// TestManyAlike checks that finding duplicates stays fast if all rows and people resemble each
// other.
func TestManyAlike(t *testing.T) {
	t.Parallel()
	const many = 20_000
	var rows []mapping.Person
	var roster people
	for i := range many {
		born := fmt.Sprintf("%04d-01-01T00:00:00Z", 1900+i%100)
		rows = append(rows, someone("Juergen", "Mueller", fmt.Sprint(i), fmt.Sprint(i, "@example.com"), born))
		roster = append(roster, stored(fmt.Sprint(i), someone("Jürgen", "Müller", "", fmt.Sprint(many+i, "@example.com"), born).Fields))
	}
	rows = append(rows, someone("Eva", "Kos", "", "", roster[0].DateOfBirth))
	for i := range rows[:many] {
		rows[i].Fields.LastName += fmt.Sprint(i) // otherwise the rows are refused as the same person
	}
	for i, row := range decided(t, roster, Options{}, rows...).rows {
		want := few
		if i == many {
			want = 0
		}
		if len(row.Like) != want {
			t.Fatalf("row %d: %+v, want %d", i, row, want)
		}
	}
}
