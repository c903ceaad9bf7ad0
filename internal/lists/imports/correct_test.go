package imports_test

import (
	"reflect"
	"testing"

	"github.com/firefighter-records/firefighters/internal/lists/imports"
)

// TestCorrections: what somebody has corrected counts as if the file had it. What stands
// in the cell already is no correction.
func TestCorrections(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	const content = "First name;Last name;E-mail;Birthday\nAna;Čović;no;15.05.1990\nEva\n\"Be\nn\";Adam;ben@example.com;\n"
	f := read(t, content, imports.Options{Corrections: imports.Corrections{
		2: {0: "Ana", 2: " ana@example.com ", 3: "15.05.1990", 4: "beyond", -1: "before"},
		3: {1: "Adam"},
		4: {0: "Be n"},
		9: {0: "nobody"},
	}})
	if want := (imports.Corrections{2: {2: "ana@example.com"}, 3: {1: "Adam"}}); !reflect.DeepEqual(f.Options.Corrections, want) {
		t.Errorf("the corrections are %v", f.Options.Corrections)
	}
	found, err := f.Check(t.Context(), s, ours)
	must(t, err)
	if found.Added != 2 || found.All[0].Fields.Email != "ana@example.com" || found.All[1].Name != "Eva Adam" || found.All[0].Fields.DateOfBirth[:10] != "1990-05-15" {
		t.Errorf("%d are added: %+v", found.Added, found.All)
	}
	if got := []string{f.CellText(0, 2), f.CellText(1, 1), f.CellText(1, 3), f.CellText(2, 0)}; !reflect.DeepEqual(got, []string{"ana@example.com", "Adam", "", "Be n"}) {
		t.Errorf("the cells are %q", got)
	}
}

// TestListStays: mapping, correcting and releasing leave a list as it was read, and ReadAs
// tells which options need another reading.
func TestListStays(t *testing.T) {
	t.Parallel()
	const content = "First name;Last name;E-mail\nAna;Čović;no\nEva;Kos;\n"
	list, err := imports.Read(t.Context(), []byte(content), imports.Options{}, now)
	must(t, err)
	corrected := imports.Options{Corrections: imports.Corrections{2: {2: "ana@example.com"}}}
	for _, tt := range []struct {
		o    imports.Options
		want string
	}{{corrected, "ana@example.com"}, {imports.Options{}, "no"}, {corrected, "ana@example.com"}, {imports.Options{}, "no"}} {
		f, err := list.Map(t.Context(), tt.o, now)
		must(t, err)
		if got := f.CellText(0, 2); got != tt.want {
			t.Errorf("%v: the cell is %q, want %q", tt.o.Corrections, got, tt.want)
		}
		f.Release()
	}
	for _, tt := range []struct {
		o    imports.Options
		same bool
	}{{corrected, true}, {imports.Options{Columns: map[int]string{2: ""}}, true}, {imports.Options{Encoding: "utf-16"}, false}, {imports.Options{Sheet: "x"}, false}} {
		if got := list.ReadAs(tt.o); got != tt.same {
			t.Errorf("ReadAs(%+v) = %t", tt.o, got)
		}
	}
}

// TestSaid: where something else would come of a file than was said, nothing is imported.
func TestSaid(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	said := check(t, s, ours, list, imports.Options{}).Digest()
	apply(t, s, "First name,Last name\nIvan,Horvat\n", imports.Options{})
	if r := apply(t, s, list, imports.Options{Confirmed: said}); r.Applied || r.Added != 1 || names(t, s) != "Ivan Horvat" {
		t.Errorf("%s, and there are %s", counts(r), names(t, s))
	}
	apply(t, s, "First name,Last name\nEva,Kos\n", imports.Options{}) // somebody else
	said = check(t, s, ours, list, imports.Options{}).Digest()
	if r := apply(t, s, list, imports.Options{Confirmed: said}); !r.Applied || names(t, s) != "Ivan Horvat, Eva Kos, Ana Čović" {
		t.Errorf("%s, and there are %s", counts(r), names(t, s))
	}
	update := imports.Options{Update: true}
	newer := "First name,Last name,Phone\nAna,Čović,1\n"
	update.Confirmed = check(t, s, ours, newer, update).Digest()
	apply(t, s, "First name,Last name,Phone\nAna,Čović,2\n", imports.Options{Update: true})
	if r := apply(t, s, newer, update); r.Applied {
		t.Errorf("a change that was not said: %s", counts(r))
	}
	const born = "First name,Last name,Birthday\nMia,Weiß,1.2.1990\n"
	other := imports.Options{Dates: "mdy", Confirmed: check(t, s, ours, born, imports.Options{Dates: "dmy"}).Digest()}
	if r := apply(t, s, born, other); r.Applied {
		t.Errorf("a value that was not said: %s", counts(r))
	}
}
