package imports_test

import (
	"reflect"
	"testing"

	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
)

// TestCorrections checks that corrections act as if the file contained them, and that a correction
// equal to the cell is dropped.
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
		t.Errorf("corrections: %v", f.Options.Corrections)
	}
	found, err := f.Check(t.Context(), s, ours)
	must(t, err)
	if found.Added != 3 || found.All[0].Fields.Email != "ana@example.com" || found.All[1].Name != "Eva Adam" || found.All[0].Fields.DateOfBirth[:10] != "1990-05-15" {
		t.Errorf("%d added: %+v", found.Added, found.All)
	}
	if got := []string{f.CellText(0, 2), f.CellText(1, 1), f.CellText(1, 3), f.CellText(2, 0)}; !reflect.DeepEqual(got, []string{"ana@example.com", "Adam", "", "Be n"}) {
		t.Errorf("cells: %q", got)
	}
}

// TestListStays checks that mapping, correcting and releasing do not modify a list, and that ReadAs
// reports which options require reading again.
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
			t.Errorf("%v: cell %q, want %q", tt.o.Corrections, got, tt.want)
		}
		f.Release()
	}
	for _, tt := range []struct {
		o    imports.Options
		same bool
	}{{corrected, true}, {imports.Options{Columns: map[int]string{2: ""}}, true}, {imports.Options{Answers: sheet.Answers{sheet.AskEncoding: "utf-16"}}, false}, {imports.Options{Sheet: "x"}, false}} {
		if got := list.ReadAs(tt.o); got != tt.same {
			t.Errorf("ReadAs(%+v) = %t", tt.o, got)
		}
	}
}

// TestConfirmed checks that nothing is imported if the outcome differs from the confirmed one.
func TestConfirmed(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	digest := check(t, s, ours, list, imports.Options{}).Digest()
	apply(t, s, "First name,Last name\nIvan,Horvat\n", imports.Options{})
	if r := apply(t, s, list, imports.Options{Confirmed: digest}); r.Applied || r.Added != 1 || names(t, s) != "Ivan Horvat" {
		t.Errorf("%s; department: %s", counts(r), names(t, s))
	}
	apply(t, s, "First name,Last name\nEva,Kos\n", imports.Options{}) // another person
	digest = check(t, s, ours, list, imports.Options{}).Digest()
	if r := apply(t, s, list, imports.Options{Confirmed: digest}); !r.Applied || names(t, s) != "Ivan Horvat, Eva Kos, Ana Čović" {
		t.Errorf("%s; department: %s", counts(r), names(t, s))
	}
	update := imports.Options{Update: true}
	newer := "First name,Last name,Phone\nAna,Čović,1\n"
	update.Confirmed = check(t, s, ours, newer, update).Digest()
	apply(t, s, "First name,Last name,Phone\nAna,Čović,2\n", imports.Options{Update: true})
	if r := apply(t, s, newer, update); r.Applied {
		t.Errorf("unconfirmed change: %s", counts(r))
	}
	const born = "First name,Last name,Birthday\nMia,Weiß,1.2.1990\n"
	other := imports.Options{Answers: sheet.Answers{mapping.AskDates: "mdy"}, Confirmed: check(t, s, ours, born, imports.Options{Answers: sheet.Answers{mapping.AskDates: "dmy"}}).Digest()}
	if r := apply(t, s, born, other); r.Applied {
		t.Errorf("unconfirmed value: %s", counts(r))
	}
}
