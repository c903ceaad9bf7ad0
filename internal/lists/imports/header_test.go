package imports_test

import (
	"errors"
	"testing"

	"github.com/firefighter-records/firefighters/internal/lists/imports"
)

// TestFindHeader checks that the header row is the first row in which most cells are known names, and
// that an option overrides it.
func TestFindHeader(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"Oakfield FD Roster,,,As of 11/3/2026\nFirst,Last,Phone,Email\nAna,Kos,1,\n":                                        2,
		"Freiwillige Feuerwehr Dorf;;Stand:;3.11.2026\nObmann:;Hans Maier;;\n\nNr;Nachname;Vorname;Handy\n1;Kos;Ana;0664\n": 4,
		"Sapeurs-pompiers;Liste 2026;;\nNom;Prénom;Portable;Grade\nKos;Ana;06;Cpl\n":                                        2,
		"Telefon;\nIme;Prezime\nAna;Kos\n":                                                     2,
		"Vorname;Nachname\nName;Kos\nName;Vorname\n":                                           1,
		"Rang;Name;Spind\nOFM;Kos Ana;3\nName;Telefon;Mail\n":                                  1,
		"DVD Zagorje;Popis;;;;\nRbr;Član;Ime i prezime;Čin;Iskaznica;OIB\n1;;Ana Kos;VG;2;3\n": 2,
		"Name;;Kontakt;\nVorname;Nachname;Telefon;E-Mail\nAna;Kos;1;\n":                        2,
		"a;b;c\nd;e;f\n": 1,
	} {
		f, err := tryRead(t, []byte(text), imports.Options{})
		if f == nil || f.Table.HeaderRow != want || f.Table.Rows[0].Number <= want {
			t.Errorf("%q: %+v, %v", text, f, err)
		}
	}
	const text = "Namen;x\nOberfeuer;y\nVorname;Nachname\nAna;Kos\n"
	f := read(t, text, imports.Options{HeaderRow: 3})
	if f.Table.HeaderRow != 3 || len(f.Mapped.People) != 1 || len(f.Table.Notes) != 1 {
		t.Errorf("%+v", f.Table)
	}
	const more = "Vorname;Nachname;Telefon\nAna;Kos;0664 123456\nEva;Kos;\n"
	for _, tt := range []struct {
		text string
		row  int
		code string
	}{{text, 4, imports.RowsLast}, {text, 9, imports.RowsUnknown}, {more, 2, imports.RowsData}, {more, 3, imports.RowsLast}} {
		var e *imports.RowsError
		_, err := tryRead(t, []byte(tt.text), imports.Options{HeaderRow: tt.row})
		if !errors.As(err, &e) || *e != (imports.RowsError{Option: "headerRow", Code: tt.code, Row: tt.row}) {
			t.Errorf("row %d: %+v, want %s", tt.row, err, tt.code)
		}
	}
}
