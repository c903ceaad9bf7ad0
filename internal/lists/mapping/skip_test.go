package mapping

import (
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
)

// TestSkip checks which rows are proposed to be left out, and that unusual people are not.
func TestSkip(t *testing.T) {
	t.Parallel()
	for header, rows := range map[string]map[string]string{
		"Name|Telefon|Geboren": {
			"Gesamt: 10": SkipTotal, "Ukupno||12": SkipTotal, "|10": "", "10": SkipTotal, "Other12": "", "Total members: 25": SkipTotal, "Anzahl|25": SkipTotal, "Total members|25": SkipTotal, "Total général||2": SkipTotal, "Razem|7": SkipTotal,
			"Gruppe 2": SkipGroup, "1. Zug": SkipGroup, "Engine 7": SkipGroup, "Ehrenmitglieder": SkipGroup, "Équipe bleue": SkipGroup, "Aktive Mitglieder": SkipGroup, "Voluntarios Honorarios": SkipGroup, "Zapovjedništvo": SkipGroup, "Mlajši gasilci": SkipGroup, "Członkowie wspierający": SkipGroup, "Retraités": SkipGroup, "JSP": SkipGroup, "Bomberos de Reserva": SkipGroup,
			"JUGENDFEUERWEHR": SkipGroup, "|Turno B": SkipGroup, "Zug 1|Leiter Hans Maier": SkipGroup, "Zug|Hans": "", "DVD Kos 3": SkipGroup, "1. Ana Kos": "", "1. Staffel": SkipGroup,
			"Stand: 3.11.": SkipNote, "Stand 03.11.2026": SkipNote, "* in Ausbildung": SkipNote, "(nur am Wochenende)": SkipNote, "Seite 1 von 2": SkipNote,
			"Änderungen bitte an den Schriftführer melden": SkipNote, "Datum:|3.11.2026": SkipNote, "Obmann: Hans Maier": SkipNote, "-----|----": SkipNote, "____": SkipNote, "Erstellt von Ana Kos": SkipNote, "Napomena|popis nije potpun": SkipNote, "Unterschrift": SkipNote, "Ukupno članova|2": SkipTotal,
			"Name|Telefon|Geboren": SkipRepeated, "Vorname|Name|Telefon": SkipRepeated, "|Telefon|Geboren": SkipRepeated, "Vorname|Mobil|E-Mail": "",

			"Horvat Ivan": "", "Total Marie": "", "Larry Page": "", "De Leo": "", "de la": "", "Ana Cadet": "", "Zugmayer Eva": "", "Page Larry||1990-05-15": "", "Ana": "", "Zug": SkipGroup, "Ivan|091 234 5678": "", "|091 234 5678": "", "||1990-05-15": "",
			"Maria del Carmen de la Cruz García": "", "Jan van der Berg": "", "Christopher Null": "", "a@b.hr": "", "Horvat Ivan 091 234 5678": "", "???|!": "", "👩": "",
			"Suma Ana|091": "", "Name Ana|Telefon": "", "Mobil Eva|1": "", "Kos Ana|Büro": "", "Kos (Ana)|0664 123456": "",
		},
		"Nr|Name|Telefon|Rang": {
			"12": SkipEmpty, "12|||OFM": SkipEmpty, "Aktive": SkipGroup, "Lager Nord": SkipGroup, "|||Summe 3": SkipTotal, "Kommandant:|||Schriftführer:": SkipNote,
			"Gesamt: 2": SkipTotal, "12|Ana|": "", "12|Kos Ana": "", "||0664 123456": "", "||||x": "",
		},
		"Vorname|Nachname|Handy": {
			"Ivan": "", "Suma|Ana": "", "Page|Larry": "", "Total|Marie|1": "", "Reserve": SkipGroup, "PIONIRJI": SkipGroup, "Honorarios": SkipGroup, "Gruppe 1||": SkipGroup, "Vorname|Nachname|Handy": SkipRepeated, "Summe||3": SkipTotal,
			"ICE|Mama|091": SkipNoPerson, "Mama (ICE)|Kos": SkipNoPerson, "ICE1: Mama|Kos": SkipNoPerson, "Icelda|Kos": "", "Ice|Kos": "",
			"Nachname|Vorname|Telefon": SkipRepeated, "Mannschaft|Anna|0664": "",
		},
		"Name|Mobile Phone|Company": {"|0664 1234567|Pizzeria Roma": SkipNoPerson, "Kos Ana||Engine 7": "", "|0664 1234567": ""},
		"Name":                      {"Name": SkipRepeated, "Kos Ana": "", "Gesamt: 2": SkipTotal, "Gruppe 1": SkipGroup, "12": SkipTotal},
	} {
		for text, want := range rows {
			table := tableOf(header, "Eva Kos|0664 1234567|1990-05-15", text)
			r, err := Map(t.Context(), table, Options{Now: now})
			if err != nil {
				t.Fatal(err)
			}
			p := r.People[1]
			if p.Skip != want || (p.Text == "") != (want == "") || p.Row != 3 {
				t.Errorf("%s: %q is %q, want %q", header, text, p.Skip, want)
			}
			if want == "" {
				continue
			}
			kept, err := Map(t.Context(), table, Options{Now: now, Keep: map[int]bool{3: true}})
			if err != nil || kept.People[1].Skip != "" || kept.People[0].Name() != r.People[0].Name() {
				t.Errorf("%q is not kept: %+v, %v", text, kept.People, err)
			}
			table.Ours = true
			if r, err := Map(t.Context(), table, Options{Now: now}); err == nil && r.People[1].Skip != "" {
				t.Errorf("%q in an export is left out", text)
			}
		}
	}
}

// TestSkippedRowsDecideNothing checks that rows that are left out do not raise a question about others.
func TestSkippedRowsDecideNothing(t *testing.T) {
	t.Parallel()
	table := tableOf("Name|Geboren", "Kos, Ana|26/06/1990", "Gruppe Nord 2", "Kos, Eva|05/06/1990", "Stand|06/26/2026")
	r, err := Map(t.Context(), table, Options{Now: now, Skip: map[int]bool{5: true}})
	if err != nil || len(r.Questions) > 0 || r.Dates != DMY || r.People[3].Skip != SkipNote || r.People[3].Text != "Stand · 06/26/2026" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestExportAsksNothing checks that nothing in a table with ids is left out or raises a question.
func TestExportAsksNothing(t *testing.T) {
	t.Parallel()
	table := tableOf("id|firstName|lastName|phoneNumber|dateOfBirth", "01a1f83c-64f7-795d-bc35-4c6516093415|Ana|Kos|0911 222 333|05/06/1990", "|Gruppe 2", "|Eva|Kos|911222333")
	r, err := Map(t.Context(), table, Options{Now: now})
	if err != nil || len(r.Questions) > 0 || r.People[1].Skip != "" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestSkippedCards checks that vCards of organizations are left out unless they are kept.
func TestSkippedCards(t *testing.T) {
	t.Parallel()
	table := tableOf("name|KIND", "Engine 7|group", "Ana Kos", "Pizzeria Roma|org")
	table.Format, table.Organizations = sheet.VCard, []int{2, 4}
	r, err := Map(t.Context(), table, Options{Now: now, Keep: map[int]bool{4: true}})
	if err != nil || r.People[0].Skip != SkipNoPerson || r.People[0].Text != "Engine 7 · group" || r.People[1].Skip+r.People[2].Skip != "" {
		t.Errorf("%+v, %v", r, err)
	}
}

// FuzzSkip checks that the reason for a row is known, and that a kept row is read.
func FuzzSkip(f *testing.F) {
	f.Add("Gesamt: 10", "", "x")
	f.Add("Name", "Telefon", "")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		row := sheet.Row{Number: 2, Cells: []sheet.Cell{{Text: a}, {Text: b}, {Text: c}}}
		columns := []Column{{Field: FullName}, {Field: "phoneNumber"}, {Field: "email"}}
		switch why := skipOf(row, []string{"Name", "Telefon", "E-Mail"}, map[string]bool{"Name": true}, columns); why {
		case "", SkipTotal, SkipGroup, SkipNote, SkipRepeated, SkipEmpty:
		default:
			t.Errorf("%q", why)
		}
		if letters(a) != "" && letters(b) != "" && strings.Contains(c, "@") && !strings.ContainsAny(a+b, ":") && fieldOf(a)+fieldOf(b) == "" {
			if why := skipOf(row, []string{"x", "y", "z"}, nil, columns); why != "" {
				t.Errorf("a full row is left out: %s", why)
			}
		}
	})
}
