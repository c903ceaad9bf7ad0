package mapping

import (
	"fmt"
	"slices"
	"testing"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
)

// TestTidy checks what is removed from the cells of each field, and that each kind is counted in a
// note with an example.
func TestTidy(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ field, cell, want, code string }{
		{"firstName", "Iva\nMarija", "Iva Marija", NoteLineBreaks},
		{"lastName", "Kos\t\vBabić", "Kos Babić", NoteLineBreaks},
		{"phoneNumber", "091 1,\r\n\r\n 092 2", "091 1 / 092 2", NoteLineBreaks},
		{"phoneNumber", "091\u2028092", "091 / 092", NoteLineBreaks},
		{"phoneNumber", "912345678.0", "912345678", NotePointZero},
		{"phoneNumber", "+385912345678,00", "+385912345678", NotePointZero},
		{"phoneNumber", "112.0", "112.0", ""},
		{"phoneNumber", "091 1 / 092 2", "091 1 / 092 2", ""},
		{"email", "mailto:ana@example.org", "ana@example.org", NoteAddress},
		{"email", "MAILTO:ana@example.org?subject=List", "ana@example.org", NoteAddress},
		{"email", "Ivo Bilic <ivo@example.org>", "ivo@example.org", NoteAddress},
		{"email", "eva@example.org;", "eva@example.org", NoteAddress},
		{"email", "'o'brien@example.org'", "o'brien@example.org", NoteAddress},
		{"email", "o'brien@example.org", "o'brien@example.org", ""},
		{"email", "[ana@example.org](mailto:ana@example.org)", "ana@example.org", NoteAddress},
		{"email", "ana@example.org<mailto:Ana@example.org>", "ana@example.org", NoteAddress},
		{"email", "E-Mail: ana(at)example.org", "ana@example.org", NoteAddress},
		{"email", "ana@example.org (mother)", "ana@example.org (mother)", ""},
		{"email", "ana@example.org, mother@example.org", "ana@example.org", NoteAddress},
		{"email", "Ana <ana@example.org>, Ivo <ivo@example.org>", "ana@example.org", NoteAddress},
		{"email", "Ana, ana@example.org", "Ana, ana@example.org", ""},
		{"lastName", "Ana <ana@example.org>", "Ana <ana@example.org>", ""},
	} {
		p := &prepared{tally: &tally{}}
		got := p.tidy(tt.field, sheet.Cell{Text: tt.cell})
		if code := len(p.notes) > 0; got != tt.want || code != (tt.code != "") || code && p.notes[0].Code != tt.code {
			t.Errorf("%s %q becomes %q, %v; want %q, %s", tt.field, tt.cell, got, p.notes, tt.want, tt.code)
		}
	}
	table := tableOf("First name|Last name|Phone|Notes", "Ana|K&ouml;s|091 1\n092 2|&amp;", "Eva|Bili&#263;|=\"093 3\"|y", "a|&amp;|1|")
	table.Rows[2].Cells[1].Marks, table.Rows[1].Cells[0].Marks = sheet.Literal, sheet.Invisible
	check(t, table, Options{}, "First name=firstName Last name=lastName Phone=phoneNumber ",
		"2 Ana/Kös/091 1 / 092 2//", "3 Eva/Bilić/093 3//", "4 a/&amp;/1//",
		`invisible 1 "" "Eva"`, `html 2 "K&ouml;s" "Kös"`, `lineBreaks 1 "091 1 ↵ 092 2" "091 1 / 092 2"`, `formulaText 1 "=\"093 3\"" "093 3"`)
	if table.Rows[0].Cells[1].Text != "K&ouml;s" {
		t.Error("the table has changed")
	}
	table.Ours = true
	check(t, table, Options{}, "First name=firstName Last name=lastName Phone=phoneNumber ",
		"2 Ana/K&ouml;s/// phoneNumber:invalid", "3 Eva/Bili&#263;/=\"093 3\"//", "4 a/&amp;/1//")
}

// TestLayout checks that a merged cell counts for each of its rows, that hidden columns count last and
// are named, that struck rows are left out, and that struck cells are named.
func TestLayout(t *testing.T) {
	t.Parallel()
	table := tableOf("Vorname|Geboren|Nachname|Handy|Telefon|Geburtsdatum", "Ana|1.1.1980|Kos|091 alt|01 222|1990-05-15", "Ivo|2.2.1980|Bilic|092 alt||1990-05-16")
	table.Hidden = []bool{false, true, false, true, false, false}
	for i := range table.Rows[1].Cells {
		table.Rows[1].Cells[i].Marks = sheet.Struck
	}
	table.Rows[0].Cells[3].Marks, table.Rows[0].Cells[4].Marks = sheet.Struck, sheet.Struck
	table.Merged = []sheet.Range{{Column: 2, First: 3, Last: 9}, {Column: 3, First: 1, Last: 3}, {Column: 9, First: 2, Last: 3}}
	table.Rows = append(table.Rows, sheet.Row{Number: 5, Cells: []sheet.Cell{{Text: "Eva"}}}, sheet.Row{Number: 10, Cells: []sheet.Cell{{Text: "Jan"}}})
	skipped := func() (all string) {
		r, err := Map(t.Context(), table, Options{Now: now})
		for _, p := range r.People {
			all += p.Skip + "|"
		}
		return all + fmt.Sprint(err)
	}
	if got := skipped(); got != "|struck|||<nil>" {
		t.Errorf("left out: %s", got)
	}
	check(t, table, Options{Keep: map[int]bool{3: true}}, "Vorname=firstName Nachname=lastName Handy=phoneNumber Telefon=phoneNumber Geburtsdatum=dateOfBirth ",
		"2 Ana/Kos/01 222//1990-05-15", "3 Ivo/Bilic/092 alt//1990-05-16",
		"5 Eva/Bilic///", "10 Jan//// lastName:required",
		`hiddenColumns mapping.Headers{"Geboren", "Handy"}`,
		`firstFilled "phoneNumber" mapping.Headers{"Telefon", "Handy"}`,
		`merged 1 "" "Bilic"`,
		`struckCells 2 "" "091 alt"`)
	for i := range table.Rows { // all are struck through
		table.Rows[i].Cells = slices.Clone(table.Rows[1].Cells)
	}
	if got := skipped(); got != "||||<nil>" {
		t.Errorf("left out: %s", got)
	}
}

// TestQuotes checks that quotation marks around all cells are removed, and others stay.
func TestQuotes(t *testing.T) {
	t.Parallel()
	check(t, tableOf("'Vorname'|'Name'|'Telefon'", "'Ana'|'O'Brien'|'091 1'", "Hans 'Hansi'|'t Hooft|''"), Options{},
		"'Vorname'=firstName 'Name'=lastName 'Telefon'=phoneNumber ",
		"2 Ana/O'Brien/091 1//", "3 Hans 'Hansi'/'t Hooft///", `quotes 4 "'Ana'" "Ana"`)
	check(t, tableOf("“Vorname”|“Name”", "“Ana”|“Kos”"), Options{}, "“Vorname”=firstName “Name”=lastName ", "2 Ana/Kos///", `quotes 2 "“Ana”" "Ana"`)
	check(t, tableOf("Vorname|Name", "\"Hansi\"|Kos"), Options{}, "Vorname=firstName Name=lastName ", "2 \"Hansi\"/Kos///")
}

// TestContinued checks that rows whose names are merged with those above are one person.
func TestContinued(t *testing.T) {
	t.Parallel()
	table := tableOf("Name|Telefon|E-Mail", "Ana Kos|091 1|", "|092 2|ana@example.org", "|091 1|other@example.org", "Ivo Kos|093 3|")
	table.Format, table.Merged = sheet.XLSX, []sheet.Range{{Column: 0, First: 2, Last: 4}}
	check(t, table, Options{}, "Name=name Telefon=phoneNumber E-Mail=email ",
		"2 Ana/Kos/091 1 / 092 2/ana@example.org/", "3 ////", "4 ////", "5 Ivo/Kos/093 3//",
		`merged 2 "" "Ana Kos"`, `lineBreaks 1 "091 1 ↵ 092 2" "091 1 / 092 2"`,
		`splitNames "Ana Kos" "Ana" "Kos"`, `splitNames "Ivo Kos" "Ivo" "Kos"`)
	check(t, table, Options{Keep: map[int]bool{3: true, 4: true}}, "Name=name Telefon=phoneNumber E-Mail=email ",
		"2 Ana/Kos/091 1//", "3 Ana/Kos/092 2/ana@example.org/", "4 Ana/Kos/091 1/other@example.org/", "5 Ivo/Kos/093 3//",
		`merged 2 "" "Ana Kos"`,
		`splitNames "Ana Kos" "Ana" "Kos"`, `splitNames "Ana Kos" "Ana" "Kos"`, `splitNames "Ana Kos" "Ana" "Kos"`)
}

// TestManyMerged checks that overlapping ranges of a hostile workbook take little time.
func TestManyMerged(t *testing.T) {
	t.Parallel()
	table := tableOf("First name|Last name|Phone", "Ana|Kos|1")
	for i := range 20_000 {
		table.Rows = append(table.Rows, sheet.Row{Number: i + 3, Cells: []sheet.Cell{{Text: "Ana"}, {Text: "Kos"}}})
	}
	table.Merged = slices.Repeat([]sheet.Range{{Column: 2, First: 2, Last: 1 << 20}}, 100_000)
	r, err := Map(t.Context(), table, Options{Now: now})
	if err != nil || r.People[20_000].Fields.PhoneNumber != "1" {
		t.Errorf("%v, %v", r.People[len(r.People)-1:], err)
	}
}

// FuzzAddressIn checks that an address taken from a text is part of it.
func FuzzAddressIn(f *testing.F) {
	f.Add("Ana <ana@example.org>; (at)")
	f.Fuzz(func(t *testing.T, text string) {
		if got := addressIn(text); addressIn(got) != got && got != text {
			t.Errorf("%q becomes %q, then %q", text, got, addressIn(got))
		}
	})
}
