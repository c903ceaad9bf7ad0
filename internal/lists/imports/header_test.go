package imports_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
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
		"Nr;Name;;Telefon;\n;Nachname;Vorname;privat;mobil\n1;Kos;Ana;1;2\n": 2,
		"Name;Vorname;Telefon;\n;;privat;dienstlich\nKos;Ana;1;2\n":          2,
		"Name;Vorname;Telefon;\nKos;Ana;privat;1\n":                          1,
	} {
		f, err := tryRead(t, []byte(text), imports.Options{})
		if f == nil || f.Table.HeaderRow != want || f.Table.Rows[0].Number <= want {
			t.Errorf("%q: %+v, %v", text, f, err)
		}
	}
	for _, row := range []int{0, 2} { // as the page submits it again
		two := read(t, "Nr;Name;;Telefon;;geb.\n;Nachname;Vorname;privat;mobil;\n1;Kos;Ana;1;2;12.4.1965\n", imports.Options{HeaderRow: row})
		if p := two.Mapped.People; len(p) != 1 || p[0].Name() != "Ana Kos" || p[0].Fields.PhoneNumber != "2" || p[0].Fields.DateOfBirth == "" {
			t.Errorf("two header rows: %q, %+v", two.Table.Header, p)
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

// TestHeaderContext checks that the row above completes a name, and that a phone number behind another
// contact is not the person's own.
func TestHeaderContext(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Nr;Person;;Geburts-\n;Nachname;Vorname;datum\n1;Kos;Ana;12.4.1965\n":                          " 1965-04-12T00:00:00Z",
		"Person;;;Notfallkontakt;\nNachname;Vorname;Telefon;Name;Telefon\nKos;Ana;;Ivo;0664 9\n":       " ",
		"Nachname;Vorname;Telefon;Notfallkontakt;\n;;;Name;Telefon\nKos;Ana;;Ivo;0664 9\n":             " ",
		"Nachname;Vorname;Telefon;Notfallkontakt;Telefon\nKos;Ana;;Ivo;0664 9\n":                       " ",
		"Notfallkontakt;;Person;;\nName;Telefon;Nachname;Vorname;Telefon\nIvo;0664 9;Kos;Ana;0664 1\n": "0664 1 ",
		"Notfallkontakt;Telefon;Nachname;Vorname;Telefon\nIvo;0664 9;Kos;Ana;0664 1\n":                 "0664 1 ",
		"Notfallkontakt;Tel.;Nachname;Vorname;Mobil\nIvo;0664 9;Kos;Ana;\nIvo;0664 9;Kos;Eva;0664 1\n": " ",
		"Nachname;Vorname;Handy;Partner;Festnetz\nKos;Ana;;Ivo;0664 1\n":                               "0664 1 ",
		"Nachname;Vorname;Partner;Mobil\nKos;Ana;Ivo;0664 999999\n":                                    "0664 999999 ",
		"Nachname;Vorname;Notfallkontakt;Mobil\nKos;Ana;Ivo 0664 99999;0664 1\n":                       "0664 1 ",
		"Nachname;Vorname;Telefon;Arbeitgeber;Telefon\nKos;Ana;;Fa. X;0664 9\n":                        " ",
		"FF Dorf;;Notfallkontakte 2026;\nName;Vorname;Mobil;Festnetz\nKos;Ana;0664 1;\n":               "0664 1 ",
		"Nachname;Vorname;Mobil;Tel. Kontaktperson;geb.\nKos;Ana;;0664 999999;15.5.1990\n":             " 1990-05-15T00:00:00Z",
		"Wehrangehörige;Telefon\nAna Kos;0664 999999\n":                                                "0664 999999 ",
		"Naam;Mobiel;In geval van nood;Tel.\nAna Kos;;Ivo;0664 9\n":                                    " ",
		"Nachname;Vorname;Handy;Notfallkontakt;Bezug;Tel.\nKos;Ana;;Ivo;Vater;0664 9\n":                " ",
		"Nachname;Vorname;Notfallnummer;Mobil\nKos;Ana;0664 999999;0664 1\n":                           "0664 1 ",
		"Notfallkontakte;Stand 2026;\nNr;Nachname;Vorname;Telefon\n1;Kos;Ana;0664 1\n":                 "0664 1 ",
		"Apellidos;Nombre;Móvil;Familiar de contacto;Móvil\nKos;Ana;;Ivo;0664 9\n":                     " ",
		"Telefoni;;\nBr;Prezime;Ime\n12;Kos;Ana\n":                                                     " ",
		"Notfallliste;;;Stand 2026\nNachname;Vorname;Telefon;Telefon\nKos;Ana;;0664 9\nBilic;Ivo;1;\n": "0664 9 ",
	} {
		f := read(t, text, imports.Options{})
		if p := f.Mapped.People[0].Fields; len(f.Mapped.Questions) > 0 || p.LastName != "Kos" || p.PhoneNumber+" "+p.DateOfBirth != want {
			t.Errorf("%q: %+v", text, p)
		}
	}
	f := read(t, "Vorname;Nachname;Handy;Notfallkontakt;Tel.\nAna;Kos;;Ivo;0664 9\n", imports.Options{
		Headers: []mapping.Header{{Header: "Tel.", Field: "phoneNumber"}}})
	if p := f.Mapped.People[0].Fields; p.PhoneNumber != "0664 9" {
		t.Errorf("an answer by the name in the list: %+v", p)
	}
	const doubtful = "Notfallkontakt;Telefon;Nachname;Vorname\nIvo;0664 999999;Kos;Ana\n"
	f = read(t, doubtful, imports.Options{})
	if q := f.Mapped.Questions; len(q) != 1 || q[0].Kind != mapping.AskColumns || q[0].Answer != "" {
		t.Errorf("the only phone number may be of the contact: %+v", q)
	}
}

// TestNoHeader checks that a list without a header row is read by its cells, also when the page submits the
// columns again, and that no first row is taken for a person without reason.
func TestNoHeader(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Huber Josef;0664 1234567\nBerger Anna;0664 7654321\n":                  "Josef Huber 0664 1234567, Anna Berger 0664 7654321",
		"Josef;Huber;0664 1234567\nAnna;Berger;0664 7654321;x\n":                "Josef Huber 0664 1234567, Anna Berger 0664 7654321",
		"1;Huber;Karl;12.04.1965\n2;Berger;Anna;03.05.1972\n":                   "Karl Huber , Anna Berger ",
		"Josef Huber\nAnna Berger\n":                                            "Josef Huber , Anna Berger ",
		"Freiwillige Feuerwehr\nJosef Huber\n":                                  "",
		"Josef;Huber;Wels;0664 1234567\nAnna;Berger;Linz;0664 7654321\n":        "",
		"Rot Grün;Form\nAnna Berger;rund\n":                                     "",
		"Anna Berger;Telefon\nJosef Huber;0664 1234567\nEva Kos;0664 7654321\n": "Josef Huber 0664 1234567, Eva Kos 0664 7654321",
	} {
		o := imports.Options{}
		for range 2 {
			f, err := tryRead(t, []byte(text), o)
			if (err == nil) != (want != "") {
				t.Errorf("%q: %v", text, err)
			}
			if err != nil {
				break
			}
			var got []string
			o.Columns = map[int]string{}
			for i, c := range f.Mapped.Columns {
				o.Columns[i] = c.Field
			}
			for _, p := range f.Mapped.People {
				got = append(got, p.Name()+" "+p.Fields.PhoneNumber)
			}
			if all := strings.Join(got, ", "); all != want {
				t.Errorf("%q: %s, want %s", text, all, want)
			}
		}
	}
}
