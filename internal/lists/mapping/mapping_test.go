package mapping

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
)

// now is the time at which tables are mapped.
var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// tableOf returns a table from lines with cells separated by bars. The first line is the header.
func tableOf(lines ...string) *sheet.Table {
	t := &sheet.Table{Format: sheet.CSV, HeaderRow: 1}
	for i, line := range lines {
		texts := strings.Split(line, "|")
		if i == 0 {
			t.Header = texts
			continue
		}
		row := sheet.Row{Number: i + 1}
		for _, text := range texts {
			row.Cells = append(row.Cells, sheet.Cell{Text: text})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// summary formats a result or an error in a few lines.
func summary(r *Result, err error) string {
	var b strings.Builder
	for _, c := range r.Columns {
		if c.Field != LeftOut {
			fmt.Fprintf(&b, "%s=%s ", c.Header, c.Field)
		}
	}
	fmt.Fprintf(&b, "%s\n", r.Dates)
	for _, p := range r.People {
		f := p.Fields
		fmt.Fprintf(&b, "%d %s/%s/%s/%s/%s", p.Row, f.FirstName, f.LastName, f.PhoneNumber, f.Email, strings.TrimSuffix(f.DateOfBirth, "T00:00:00Z"))
		if p.ID != "" {
			fmt.Fprintf(&b, " %s", p.ID)
		}
		for _, e := range p.Doubts {
			fmt.Fprintf(&b, " %s:%s?", e.Field, e.Code)
		}
		for _, e := range p.Errors {
			fmt.Fprintf(&b, " %s:%s", e.Field, e.Code)
		}
		for _, e := range p.LeftOut {
			fmt.Fprintf(&b, " without %s:%s", e.Field, e.Code)
		}
		b.WriteByte('\n')
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, n.Code+strings.Repeat(" %#v", len(n.Args))+"\n", n.Args...)
	}
	var columns *ColumnsError
	if errors.As(err, &columns) {
		fmt.Fprintf(&b, "%s %s %q\n", columns.Code, columns.Field, columns.Headers)
	}
	for _, q := range r.Questions {
		if q.Blocks() {
			fmt.Fprintf(&b, "asks %s\n", q.Kind)
		}
	}
	return b.String()
}

// check compares the summary of a mapped table with the wanted lines.
func check(t *testing.T, table *sheet.Table, o Options, want ...string) {
	t.Helper()
	o.Now = now
	if got := strings.TrimSuffix(summary(Map(t.Context(), table, o)), "\n"); got != strings.Join(want, "\n") {
		t.Errorf("%q with %+v becomes\n%s\nwant\n%s", table.Header, o, got, strings.Join(want, "\n"))
	}
}

func TestRows(t *testing.T) {
	t.Parallel()
	check(t, tableOf("First name|Last name|Phone|Email|Locker", "Ana|Čović|'+1 (2)|ana@example.com|Chief", "|Horvat", "Eva||4.41E+11|eva at home"), Options{},
		"First name=firstName Last name=lastName Phone=phoneNumber Email=email ",
		"2 Ana/Čović/'+1 (2)/ana@example.com/",
		"3 /Horvat/// firstName:required",
		"4 Eva//4.41E+11/eva at home/ phoneNumber:lost_digits? lastName:required email:invalid")
	check(t, tableOf("First name|Last name", "Ana|Čović|", "Ivan|Horvat||below|nothing"), Options{},
		"First name=firstName Last name=lastName ",
		"2 Ana/Čović///",
		"3 Ivan/Horvat/// cells:invalid")
	broken := tableOf("Name|Telefon|geb.", "Ana Čović|091|", "#N/A|#REF!|#REF!")
	for i := range broken.Rows[1].Cells {
		broken.Rows[1].Cells[i].Kind = sheet.Error
	}
	check(t, broken, Options{},
		"Name=name Telefon=phoneNumber geb.=dateOfBirth ",
		"2 Ana/Čović/091//",
		"3 //// name:cell_error phoneNumber:cell_error dateOfBirth:cell_error",
		`splitNames "Ana Čović" "Ana" "Čović"`)
	if r, _ := Map(t.Context(), broken, Options{Now: now}); r.People[0].Name() != "Ana Čović" || r.People[1].Name() != "" {
		t.Errorf("%+v", r.People)
	}
}

// TestLeftOut checks that an invalid optional field makes its row invalid, or is left out if the
// option is set.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	table := tableOf("First name|Last name|Phone|Email|Birthday", "Ana|Čović|091|ana@|--05-15", "Ivan||"+strings.Repeat("1", 51)+"|ivan@example.com|15.5.1990",
		"Eva|Kos|4.41E+11|eva@example.com|soon", "Mia|Kos|#REF!|||and more")
	table.Rows[3].Cells[2].Kind = sheet.Error
	columns := "First name=firstName Last name=lastName Phone=phoneNumber Email=email Birthday=dateOfBirth dmy"
	check(t, table, Options{}, columns,
		"2 Ana/Čović/091/ana@/ dateOfBirth:no_year email:invalid",
		"3 Ivan///ivan@example.com/1990-05-15 lastName:required phoneNumber:too_long",
		"4 Eva/Kos/4.41E+11/eva@example.com/ phoneNumber:lost_digits? dateOfBirth:invalid",
		"5 Mia/Kos/// phoneNumber:cell_error cells:invalid")
	check(t, table, Options{LeaveOutBad: true}, columns,
		"2 Ana/Čović/091// without email:invalid without dateOfBirth:no_year",
		"3 Ivan///ivan@example.com/1990-05-15 lastName:required without phoneNumber:too_long",
		"4 Eva/Kos/4.41E+11/eva@example.com/ phoneNumber:lost_digits? without dateOfBirth:invalid",
		"5 Mia/Kos/// cells:invalid without phoneNumber:cell_error")
}

// TestMisplaced checks that a value of another field makes a row invalid, as in a row in which a cell
// is missing. An export of this program is taken literally.
func TestMisplaced(t *testing.T) {
	t.Parallel()
	rows := []string{"Vorname|Nachname|Telefon|E-Mail|geb.", "01/02/1980|0664 222333|||", "|Ana|ana@example.com||13.2.1970",
		"1.2.80|Ivo|||", "Ivo|ivo@example.com|||", "Eva|Kos|13.2.1970||", "Mia|Kos|24-10-55|mia@example.com|", "Max 2|Kos|091 1.1.70||"}
	check(t, tableOf(rows...), Options{},
		"Vorname=firstName Nachname=lastName Telefon=phoneNumber E-Mail=email geb.=dateOfBirth dmy",
		"2 01/02/1980/0664 222333/// firstName:misplaced? lastName:misplaced?",
		"3 /Ana/ana@example.com//1970-02-13 phoneNumber:misplaced? firstName:required",
		"4 1.2.80/Ivo/// firstName:misplaced?",
		"5 Ivo/ivo@example.com/// lastName:misplaced?", "6 Eva/Kos/13.2.1970// phoneNumber:misplaced?",
		"7 Mia/Kos/24-10-55/mia@example.com/", "8 Max 2/Kos/091 1.1.70//")
	check(t, tableOf("Name", "0664 1234567"), Options{}, "Name=name ",
		"2 0664/1234567/// lastName:misplaced?", `splitNames "0664 1234567" "0664" "1234567"`)
	ours := tableOf("id|firstName|lastName|phoneNumber", anID+"|7|a@example.com|13.2.1970")
	check(t, ours, Options{}, "id=id firstName=firstName lastName=lastName phoneNumber=phoneNumber ", "2 7/a@example.com/13.2.1970// "+anID)
}

func TestLostPhones(t *testing.T) {
	t.Parallel()
	for text, lost := range map[string]bool{
		"4.41E+11": true, "4,91715E+11": true, "3.85912345678e11": true, "4E+11": true, "+4.41E+11": true, "-4.41E+11": true,
		"4E11": false, "441": false, "E+11": false, "4.41E-11": false, "4.41E+": false, "4.41E+11 x": false, "+4.41": false,
	} {
		r, err := Map(t.Context(), tableOf("Ime|Prezime|Tel.", "Ana|Čović|"+text), Options{Now: now})
		if err != nil || len(r.People[0].Errors) > 0 {
			t.Fatalf("%q: %+v, %v", text, r, err)
		}
		if p := r.People[0]; lost != p.Doubts.Has("phoneNumber") || p.Fields.PhoneNumber != text {
			t.Errorf("%q: %v, phone number %q", text, p.Doubts, p.Fields.PhoneNumber)
		}
	}
}

const anID, otherID = "0198f3c4-7d1e-7a52-9d1f-3b5a60c1e2d4", "0198f3c4-7d1e-7a52-9d1f-3b5a60c1e2d5"

func TestIDs(t *testing.T) {
	t.Parallel()
	ours := func() *sheet.Table {
		return tableOf("ID|First name|Last name", strings.ToUpper(anID)+"|Ana|Čović", "17|Ivan|Horvat", "{"+otherID+"}|A|B", "|C|D")
	}
	check(t, ours(), Options{},
		"ID=id First name=firstName Last name=lastName ",
		"2 Ana/Čović/// "+anID,
		"3 Ivan/Horvat/// id:invalid",
		"4 A/B/// id:invalid",
		"5 C/D///")
	other := tableOf("id|First name|Last name", "17|Ivan|Horvat")
	check(t, other, Options{}, "First name=firstName Last name=lastName ", "2 Ivan/Horvat///", `notOurID "id"`)
	check(t, other, Options{Headers: []Header{{"id", ID}}}, "id=id First name=firstName Last name=lastName ", "2 Ivan/Horvat/// id:invalid")
	card := ours()
	card.Format = sheet.VCard
	check(t, card, Options{}, "First name=firstName Last name=lastName ", "2 Ana/Čović///", "3 Ivan/Horvat///", "4 A/B///", "5 C/D///")
	card.Ours = true
	check(t, card, Options{}, "ID=id First name=firstName Last name=lastName ",
		"2 Ana/Čović/// "+anID, "3 Ivan/Horvat/// id:invalid", "4 A/B/// id:invalid", "5 C/D///")
}

// FuzzMap maps arbitrary tables and checks that no column or row is lost.
func FuzzMap(f *testing.F) {
	f.Add("Vorname|Name|geb.|Tel\nAna|Čović|05/06/90|4.41E+11", "dmy", uint8(0))
	f.Add("id|Name, Vorname|Geburtstag\n"+anID+"|Horvat, Ivan|26/06/1990\nx|y z|0/0/00|more", "", uint8(3))
	f.Add("Name|Ime|Phone 1|Phone 2\n|a|b\n#N/A", "mdy", uint8(7))
	f.Add("Name|Telefon|Handy|Büro|E-Mail|E-Mail 2\na b|1|-||x@example.com|y\nc d|||3||", "", uint8(0))
	f.Add("Name|Phone 1 - Type|Phone 1 - Value|Phone 2 - Label|Phone 2 - Value\na b|Home Fax|1|Work|2 ::: 3\nc d|Mobile|0999999||\ne f|x|888888||", "", uint8(0))
	f.Add("Name|Telefon|Privat\na b|0664 1234567|01 2345678\nc d|6641234567|", "", uint8(20))
	f.Add("Ana|ana@example.com\nIvan|15.5.1990", "", uint8(1))
	f.Add("Name|geb.\nMüller, Hans|--05-15\nDr. Eva Kos|1604-05-15\nHorvat Dr. med. Ana|15.5.\nSmith, Jr.|x\nJohn Smith, M.A., PhD|\n\u200b|\nM. Jean Petit|", "", uint8(9))
	f.Add("First name|Last name|DOB\na|b|33008\nc|d|15-May-90\ne|f|1990-05-15T00:00:00+02:00", "", uint8(255))
	f.Add("Nombre|Apellido 1|Apellido 2|Prefijo|Tel.|Ext|Día|Mes|Año\na|b|c|+34|0612|1|15|5|1990\nd|e|-|||x|15|mayo|90", "", uint8(0))
	f.Add("Name|Jahrgang|geb.|X|\nA B|1990|15.5.|a@example.com|0664 1234567\nC D||k. A.|n/a|02236 1", "", uint8(0))
	f.Add("Name|geb.\nA B|1990-05-14T22:00Z\nC D|01.01.1900\nE F|01.01.1900\nG H|26/06/1990", "", uint8(0))
	f.Fuzz(func(t *testing.T, text, order string, kinds uint8) {
		if !slices.Contains(Orders, order) {
			order = ""
		}
		table := tableOf(strings.Split(text, "\n")...)
		table.Date1904, table.Ours = kinds&1 > 0, kinds&2 > 0
		for i, row := range table.Rows {
			for j := range row.Cells {
				for range (int(kinds)/4*i + j) % 3 * int(kinds>>7) { // a text, a number or an error
					row.Cells[j].Kind++
				}
			}
		}
		o := Options{LeaveOutBad: kinds&4 > 0, Now: now, Answers: sheet.Answers{
			AskDates: order, AskZero: strconv.FormatBool(kinds&16 > 0), AskNames: append(NameOrders, "")[kinds/8%3]}}
		r, err := Map(t.Context(), table, o)
		if len(r.Columns) != len(table.Header) || err == nil && len(r.People) != len(table.Rows) {
			t.Fatalf("%d columns for %d headers, %d people of %d rows", len(r.Columns), len(table.Header), len(r.People), len(table.Rows))
		}
		if again, err2 := Map(t.Context(), table, o); summary(r, err) != summary(again, err2) || !reflect.DeepEqual(r.People, again.People) {
			t.Error("mapping is not reproducible")
		}
	})
}
