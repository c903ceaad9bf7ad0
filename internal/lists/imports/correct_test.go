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
