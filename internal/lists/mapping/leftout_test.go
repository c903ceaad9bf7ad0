package mapping

import (
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
)

// TestAskColumns checks which columns raise a question because they would be left out, and the
// columns by the answer.
func TestAskColumns(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ headers, rows, want string }{
		{"Erreichbar", "0664 1234567;k. A.;(01) 7654321", "Erreichbar=phoneNumber"},
		{"Erreichbar", "0664 1234567;0664 7654321;siehe Frau;0664 1234568", "Erreichbar=phoneNumber"},
		{"", "0664 1234567;0664 7654321", "=phoneNumber"},
		{"Telfon|Kontakt 2024", "0664 1234567|ana@example.com;0664 1|;0664 1234568|eva@example.com", "Kontakt 2024=email"},
		{"A|B", "091 234 5678|098 765 432;|098 765 433", "A=phoneNumber B=phoneNumber"},
		{"Datum", "15.05.1990;k. A.;1.2.1985", "Datum=dateOfBirth"},
		{"X", "05/26/1990;6/5/85", "X=dateOfBirth"},
		{"geb.|X", "|15.05.1990", "X=dateOfBirth"},
		{"Handy|X", "-|0664 1234567", "X=phoneNumber"},
		{"Father|Mobile", "Raj|9876543210;Ram|9876543211", "Mobile=phoneNumber"},

		{"Telefon|Anderes", "1|0664 1234567", ""},
		{"Notfall|Spouse|Ehepartner|Chef|Kontaktperson|Contact d'urgence", "0664 1234567|0664 1234567|0664 1234567|0664 1234567|0664 1234567|0664 1234567", ""},
		{"Mitgliedsnummer|Spind|OIB|Kennung", "0012345678|0664 1234567|01234567890|1234567", ""},
		{"Ort|PLZ|Straße", "Wien|01234|0664 St", ""},
		{"Eintritt|Member since|Datum der Untersuchung|Valid until|Stand", "15.05.1990|15.05.1990|15.05.1990|15.05.1990|15.05.1990", ""},
		{"Datum", "15.05.2024;1.2.2020", ""},
		{"Bemerkung", "0664 1234567;Urlaub;Urlaub", ""},
		{"Notfall-Mail", "a@example.com", ""},
		{"E-Mail|Website", "a@example.com|example.com", ""},
	} {
		lines := []string{"Vorname|Nachname|" + tt.headers}
		for row := range strings.SplitSeq(tt.rows, ";") {
			lines = append(lines, "Ana|Kos|"+row)
		}
		mapped := func(o Options) (columns string, blocks bool) {
			o.Now = now
			r, err := Map(t.Context(), tableOf(lines...), o)
			if err != nil {
				t.Fatal(err)
			}
			var asked []string
			for _, c := range r.Columns {
				if c.Asked {
					asked = append(asked, c.Header+"="+c.Field)
				}
			}
			asks := len(r.Questions) > 0 && r.Questions[0].Kind == AskColumns
			if asks != (asked != nil) {
				t.Errorf("%q: %q, %+v", lines, asked, r.Questions)
			}
			return strings.Join(asked, " "), asks && r.Questions[0].Blocks()
		}
		if got, blocks := mapped(Options{}); got != tt.want || blocks != (tt.want != "") {
			t.Errorf("%q: %s, %v, want %s", lines, got, blocks, tt.want)
		}
		if got, blocks := mapped(Options{Answers: sheet.Answers{AskColumns: Change}}); got != tt.want || blocks {
			t.Errorf("%q, used: %s, %v, want %s", lines, got, blocks, tt.want)
		}
		if got, blocks := mapped(Options{Answers: sheet.Answers{AskColumns: Keep}}); strings.Contains(got, "=phone") || blocks {
			t.Errorf("%q, left out: %s, %v", lines, got, blocks)
		}
		chosen := map[int]string{}
		for i := range strings.Split(tt.headers, "|") {
			chosen[2+i] = LeftOut
		}
		if got, _ := mapped(Options{Columns: chosen}); got != "" {
			t.Errorf("%q, chosen: %s", lines, got)
		}
	}
}

// TestAskDateCells checks that cells that a spreadsheet shows as dates of birth raise a question, but not
// other numbers.
func TestAskDateCells(t *testing.T) {
	t.Parallel()
	for dated, want := range map[bool]string{true: "1990-05-15T00:00:00Z", false: ""} {
		table := tableOf("Vorname|Nachname|X", "Ana|Kos|33008")
		table.Rows[0].Cells[2] = sheet.Cell{Text: "33008", Kind: sheet.Number}
		if dated {
			table.Rows[0].Cells[2] = sheet.Cell{Text: "1990-05-15", Kind: sheet.Date}
		}
		r, err := Map(t.Context(), table, Options{Now: now})
		if err != nil || r.People[0].Fields.DateOfBirth != want || len(r.Questions) > 0 != (want != "") {
			t.Errorf("%v: %+v, %+v, %v", dated, r.People, r.Questions, err)
		}
	}
}
