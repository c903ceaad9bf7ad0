package mapping

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
)

// readDate reads a date from a table with one cell. It returns the date or an error code.
func readDate(cell sheet.Cell, order string) string {
	table := &sheet.Table{Header: []string{"Ime", "Prezime", "Rođen"},
		Rows: []sheet.Row{{Number: 2, Cells: []sheet.Cell{{Text: "Ana"}, {Text: "Čović"}, cell}}}}
	r, err := Map(context.Background(), table, Options{Answers: sheet.Answers{AskDates: order}, Now: now})
	if err != nil {
		return err.Error()
	}
	if len(r.Questions) > 0 && r.Questions[0].Blocks() {
		return "asks"
	}
	p := r.People[0]
	if len(p.Errors) > 0 {
		return p.Errors[0].Code
	}
	return strings.TrimSuffix(p.Fields.DateOfBirth, "T00:00:00Z")
}

func TestDates(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, order, want string }{
		{"26/06/1990", "", "1990-06-26"}, {"06/26/1990", "", "1990-06-26"}, {"1990/06/26", "", "1990-06-26"},
		{"26.6.1990", "", "1990-06-26"}, {"26. 6. 1990.", "", "1990-06-26"}, {"26.06.1990. g.", "", "1990-06-26"}, {"26.6.1990. godine", "", "1990-06-26"}, {"26.06.1990 r.", "", "1990-06-26"}, {"26.06.1990r.", "", "1990-06-26"},
		{"26-06-1990", "", "1990-06-26"}, {"26–06–1990", "", "1990-06-26"}, {"26 06 1990", "", "1990-06-26"}, {"26 / 06 / 1990", "", "1990-06-26"},
		{"26.06.90", "", "1990-06-26"}, {"6/26/90", "", "1990-06-26"}, {"90-06-26", "", "1990-06-26"}, {"90-06-05", "", "1990-06-05"},
		{"05/06/1990", "", "asks"}, {"05/06/1990", DMY, "1990-06-05"}, {"05/06/1990", MDY, "1990-05-06"}, {"05/06/1990", YMD, "invalid"},
		{"05.06.90", "", "1990-06-05"}, {"05-06-90", "", "asks"}, {"05.06.90", YMD, "invalid"}, {"05.06.10", YMD, "2005-06-10"}, {"12/12/1990", "", "1990-12-12"}, {"05/05/90", "", "1990-05-05"},
		{"26/06/1990", MDY, "invalid"}, {"06/26/1990", DMY, "invalid"}, {"1990/06/26", DMY, "1990-06-26"}, {"1990-6-5", "", "1990-06-05"},
		{"31/04/1990", "", "invalid"}, {"29/02/1990", "", "invalid"}, {"29/02/2000", "", "2000-02-29"}, {"31/13/1990", "", "invalid"}, {"0/5/1990", "", "invalid"},
		{"1990-15-05", "", "invalid"}, {"1990/15/05", "", "invalid"}, {"26.06/1990", "", "invalid"}, {"26.06.990", "", "invalid"}, {"26.06.9", "", "invalid"}, {"126.6.90", "", "invalid"},
		{"1990-05-15", "", "1990-05-15"}, {"1990-05-15", DMY, "1990-05-15"}, {"1990-02-30", "", "invalid"}, {"1990-05-15T00:00:00+02:00", "", "1990-05-15T00:00:00+02:00"},
		{"1990-05-15T00:00Z", "", "1990-05-15"}, {"1990-05-15T00:00:00.000+0200", "", "1990-05-15T00:00:00+02:00"},
		{"1990-05-15 00:00-03", "", "1990-05-15T00:00:00-03:00"}, {"1990-05-15Z", "", "1990-05-15"}, {"1990-05-15+02:00", "", "1990-05-15T00:00:00+02:00"},
		{"1990-05-15T00:00:00,5+02:00[Europe/Zagreb]", "", "1990-05-15T00:00:00.5+02:00"}, {"1990-05-15T25:00Z", "", "invalid"}, {"1990-05-15-02", "", "invalid"},
		{"1990-05-15T07:08:09", "", "1990-05-15T07:08:09Z"}, {"1990-05-15 07:08:09.5", "", "1990-05-15T07:08:09.5Z"}, {"1990-05-15 00:00:00.000Z", "", "1990-05-15"},
		{"1990-05-15 00:00", "", "1990-05-15"}, {"1990-05-15 0:00", "", "1990-05-15"}, {"1990-05-15 7:08", "", "invalid"}, {"19900515", "", "1990-05-15"},
		{"20051990", "", "invalid"}, {"15051990", "", "invalid"}, {"33008", "", "invalid"}, {"1990", "", "invalid"}, {"1990-05", "", "invalid"},
		{"--05-15", "", "no_year"}, {"--0515", "", "no_year"}, {"--02-29", "", "no_year"}, {"--05-15T00:00:00Z", "", "no_year"}, {"–-05-15", "", "no_year"}, {"--13-32", "", "invalid"},
		{"1604-05-15", "", "no_year"}, {"16040515", "", "no_year"}, {"1604-05-15T00:00:00Z", "", "no_year"}, {"15.5.1604", "", "no_year"}, {"0000-05-15", "", "no_year"}, {"1604", "", "invalid"}, {"1604-13-32", "", "invalid"},
		{"15.05.", "", "no_year"}, {"15.05", "", "no_year"}, {"15. 5.", "", "no_year"}, {"5/15", "", "no_year"}, {"5-15", "", "no_year"}, {"15 May", "", "no_year"}, {"May 15", "", "no_year"}, {"15. svibnja", "", "no_year"}, {"15 de mayo", "", "no_year"},
		{"1er août", "", "no_year"}, {"29 Feb", "", "no_year"}, {"31.04.", "", "invalid"}, {"30 Feb", "", "invalid"}, {"5/90", "", "invalid"}, {"15", "", "invalid"}, {"May", "", "invalid"},
		{"26/06/1990 0:00", "", "1990-06-26"}, {"5/26/1990 0:00:00", "", "1990-05-26"}, {"26.06.1990 00:00:00", "", "1990-06-26"}, {"5/26/1990 12:00:00 AM", "", "1990-05-26"},
		{"26/06/1990 12:00 a. m.", "", "1990-06-26"}, {"26.06.1990, 00:00 Uhr", "", "1990-06-26"}, {"26.6.1990. 0:00", "", "1990-06-26"}, {"26/06/1990 12:00 PM", "", "invalid"}, {"26/06/1990 12:00", "", "invalid"}, {"26.06.1990 08:30", "", "invalid"},
		{"15 May 1990", "", "1990-05-15"}, {"15 maggio 1990", "", "1990-05-15"}, {"3 gen 1990", "", "1990-01-03"}, {"15 mei 1990", "", "1990-05-15"}, {"3. marec 1990", "", "1990-03-03"}, {"May 15, 1990", "", "1990-05-15"}, {"15. Mai 1990", "", "1990-05-15"}, {"15 mai 1990", "", "1990-05-15"}, {"1er août 1990", "", "1990-08-01"},
		{"15 de mayo de 1990", "", "1990-05-15"}, {"15. svibnja 1990.", "", "1990-05-15"}, {"15-May-90", "", "1990-05-15"}, {"15. Mai 90", "", "1990-05-15"}, {"1990. május 15.", "", "1990-05-15"}, {"1990. prosinca 15.", "", "1990-12-15"}, {"May 15, '90", "", "1990-05-15"},
		{"15 May 1990 00:00", "", "1990-05-15"}, {"31 June 1990", "", "invalid"}, {"29-Feb-91", "", "invalid"}, {"May 1990", "", "invalid"}, {"15. Mai", "", "no_year"}, {"soon", "", "invalid"},
		{"Di, 15.05.1990", "", "1990-05-15"}, {"Dienstag, 15. Mai 1990", "", "1990-05-15"}, {"Tuesday, May 15, 1990", "", "1990-05-15"}, {"mar. 15 mai 1990", "", "1990-05-15"},
		{"miércoles, 16 de mayo de 1990", "", "1990-05-16"}, {"četvrtak, 17. svibnja 1990.", "", "1990-05-17"}, {"Tue 05/06/1990", "", "asks"}, {"Mar 15, 1990", "", "1990-03-15"}, {"Tue", "", "invalid"}, {"born 15.05.1990", "", "invalid"},
		{"0/0/00", "", ""}, {"0/0/0000", "", ""}, {"00.00.0000", "", ""}, {"0000-00-00", "", ""}, {"0000-00-00 00:00:00", "", ""}, {"00-00-00", DMY, ""},
		{"22.11.26", DMY, "2026-11-22"}, {"23.11.26", DMY, "1926-11-23"}, {"1.1.27", DMY, "1927-01-01"}, {"1.1.00", DMY, "2000-01-01"}, {"29.2.00", DMY, "2000-02-29"},
		{"31.12.1899", "", "out_of_range"}, {"1.1.1900", "", "1900-01-01"}, {"24.11.2026", "", "out_of_range"}, {"26.06.3000", "", "out_of_range"}, {"26.06.0090", "", "out_of_range"},
	} {
		if got := readDate(sheet.Cell{Text: tt.text}, tt.order); got != tt.want {
			t.Errorf("%q in the order %q: %s, want %s", tt.text, tt.order, got, tt.want)
		}
	}
	for serial, want := range map[string]string{"33008": "1990-05-15", "33008.5": "1990-05-15T12:00:00Z", "19900515": "1990-05-15", "1985": "invalid", "2026": "invalid", "-1": "invalid", "9999999": "invalid"} {
		if got := readDate(sheet.Cell{Text: serial, Kind: sheet.Number}, ""); got != want {
			t.Errorf("the number %s: %s, want %s", serial, got, want)
		}
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	for cells, want := range map[string]string{
		"05/06/1990|26/06/1990":            "dmy 1990-06-05 1990-06-26",
		"05/06/1990|06/26/1990":            "mdy 1990-05-06 1990-06-26",
		"05.06.90|26/06/1990":              "dmy 1990-06-05 1990-06-26",
		"1990/06/05|1991/06/26":            "ymd 1990-06-05 1991-06-26",
		"1990/06/05|26/06/1990|05/06/1990": "dmy 1990-06-05 1990-06-26 1990-06-05",
		"90-06-05|01-06-05":                "ymd 1990-06-05 2001-06-05",
		"1990-06-05|15 May 1990|19900515|": " 1990-06-05 1990-05-15 1990-05-15 ",
		"05/05/1990|0/0/00|":               " 1990-05-05  ",
		"31/13/1990|nonsense":              " invalid invalid",
		"30/02/1990|05/06/1990":            "dmy invalid 1990-06-05",
		"05/06/1990|":                      " 1990-06-05  asks dmy {05/06/1990 1990-06-05} mdy {05/06/1990 1990-05-06}",
		"1990/06/05|05/06/1990":            " 1990-06-05 1990-06-05 asks dmy {05/06/1990 1990-06-05} mdy {05/06/1990 1990-05-06}",
		"31/13/1990|0/5/90|1/2/90":         " invalid invalid 1990-02-01 asks dmy {1/2/90 1990-02-01} mdy {1/2/90 1990-01-02}",
		"26/6/1990|06/26/1990|31/2/1990":   " 1990-06-26 invalid invalid asks dmy {26/6/1990 1990-06-26} mdy {06/26/1990 1990-06-26}",
		"06/26/1990|90/05/15":              " 1990-06-26 invalid asks mdy {06/26/1990 1990-06-26} ymd {90/05/15 1990-05-15}",
		"31/2/1990|06/26/1990":             " invalid invalid asks dmy <nil> mdy {06/26/1990 1990-06-26}",

		// Dots mean day first. Each separator has its own order, and a rare one does not decide.
		"1.2.1990|5.5.90":                          "dmy 1990-02-01 1990-05-05",
		"1.2.1990|5.15.1990":                       "mdy 1990-01-02 1990-05-15",
		"13.5.65|1.13.65|2.3.70":                   "dmy 1965-05-13 invalid 1970-03-02",
		"5.6.90|06/26/1990|26.6.1990|05/06/1990":   "dmy 1990-06-05 1990-06-26 1990-06-26 1990-05-06",
		"90-05-15|26/06/1990":                      "ymd 1990-05-15 1990-06-26",
		"26.6.1990|05/06/1990":                     "dmy 1990-06-26 1990-06-05",
		"26.6.1990|06-26-1990|05/06/1990":          " 1990-06-26 1990-06-26 1990-06-05 asks dmy {05/06/1990 1990-06-05} mdy {05/06/1990 1990-05-06}",
		"1.2.1990" + strings.Repeat("|1/2/90", 20): " 1990-02-01" + strings.Repeat(" 1990-02-01", 20) + " asks dmy {1/2/90 1990-02-01} mdy {1/2/90 1990-01-02}",

		// One against three or in twenty is refused, more is a question.
		"13/2/1970|4/3/1970" + strings.Repeat("|2/13/70", 19): "mdy invalid 1970-04-03" + strings.Repeat(" 1970-02-13", 19),
		"13/2/1970|14/2/70" + strings.Repeat("|2/13/70", 18):  " invalid invalid" + strings.Repeat(" 1970-02-13", 18) + " asks mdy {2/13/70 1970-02-13} dmy {13/2/1970 1970-02-13}",
		"13/2/1970|2/13/70|2/13/70|2/13/70":                   "mdy invalid 1970-02-13 1970-02-13 1970-02-13",
		"13/2/1970|2/3/70|2/13/70|2/13/70|2/13/70":            " invalid 1970-02-03 1970-02-13 1970-02-13 1970-02-13 asks mdy {2/13/70 1970-02-13} dmy {13/2/1970 1970-02-13}",
		"2/13/70" + strings.Repeat("|13/2/70", 19):            "dmy invalid" + strings.Repeat(" 1970-02-13", 19),
	} {
		table := tableOf(append([]string{"Ime|Prezime|Rođen"}, strings.Split("a|b|"+strings.ReplaceAll(cells, "|", "\na|b|"), "\n")...)...)
		r, err := Map(t.Context(), table, Options{Now: now})
		got := r.Dates
		for _, p := range r.People {
			if len(p.Errors) > 0 {
				p.Fields.DateOfBirth = p.Errors[0].Code
			}
			got += " " + strings.TrimSuffix(p.Fields.DateOfBirth, "T00:00:00Z")
		}
		for _, q := range r.Questions {
			got += " asks"
			for _, o := range q.Options {
				got += " " + o.Value + " " + fmt.Sprint(o.Example)
			}
		}
		if err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", cells, got, err, want)
		}
	}
}

// TestOrderOfHeader checks which orders headers state.
func TestOrderOfHeader(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"Date of birth (DD/MM/YYYY)": DMY, "geb. TT.MM.JJJJ": DMY, "Naissance (jj/mm/aaaa)": DMY, "Rođen dd.mm.gggg.": DMY, "DOB [ddmmyy]": DMY,
		"DOB (mm/dd/yyyy)": MDY, "D.O.B. MM-DD-YY": MDY, "Birthday (YYYY-MM-DD)": YMD, "geb. (JJJJ-MM-TT)": YMD,
		"Date of birth": "", "Geburtsdatum": "", "Hammdd": "", "MM": "",
	} {
		if got := orderOf(header); got != want {
			t.Errorf("%q: %q, want %q", header, got, want)
		}
	}
	r, err := Map(t.Context(), tableOf("First name|Last name|DOB (mm/dd/yyyy)", "a|b|05/06/1990", "a|b|5.6.90"), Options{Now: now})
	if err != nil || len(r.Questions) > 0 || r.People[0].Fields.DateOfBirth+r.People[1].Fields.DateOfBirth != "1990-05-06T00:00:00Z1990-05-06T00:00:00Z" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestOrderAnswer checks that an answer applies to the dates that leave the order open, and that the
// country settles it without a question if there is only one odd date.
func TestOrderAnswer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ cells, country, answer, want string }{
		{"26.6.1990|06-26-1990|05/06/1990", "", MDY, "dmy 1990-06-26 1990-06-26 1990-05-06"},
		{"26.6.1990|05/06/1990", "", MDY, "mdy invalid 1990-05-06"},
		{"05/06/1990", "US", "", "mdy 1990-05-06"},
		{"05/06/1990", "HR", "", "dmy 1990-06-05"},
		{"05/06/1990", "HR", MDY, "mdy 1990-05-06"},
		{"05/06/1990", "CA", "", " 1990-06-05"},
		{"26.6.1990|05/06/1990|31-12-1990|05-06-1990|06-26-1990", "HR", "", "dmy 1990-06-26 1990-06-05 1990-12-31 1990-06-05 invalid"},
		{"05/06/1990|06/26/1990", "HR", "", " 1990-05-06 1990-06-26"},
		{"05/06/1990|06/26/1990", "HR", DMY, "dmy 1990-06-05 invalid"},
		{"05/06/1990|06/26/1990|06/27/1990", "HR", "", "mdy 1990-05-06 1990-06-26 1990-06-27"},
		{"05/06/1990|6.5.1990", "US", "", "mdy 1990-05-06 1990-05-06"},
		{"05/06/1990|6.5.1990", "HR", DMY, "dmy 1990-06-05 1990-05-06"},
		{"06/26/1990|05/27/1990|27/5/1990|1/2/1990", "HR", "", " 1990-06-26 1990-05-27 invalid 1990-01-02"},
	} {
		table := tableOf(append([]string{"Ime|Prezime|Rođen"}, strings.Split("a|b|"+strings.ReplaceAll(tt.cells, "|", "\na|b|"), "\n")...)...)
		r, err := Map(t.Context(), table, Options{Now: now, Country: tt.country, Answers: sheet.Answers{AskDates: tt.answer}})
		got := r.Dates
		for _, p := range r.People {
			if len(p.Errors) > 0 {
				p.Fields.DateOfBirth = p.Errors[0].Code
			}
			got += " " + strings.TrimSuffix(p.Fields.DateOfBirth, "T00:00:00Z")
		}
		if err != nil || got != tt.want {
			t.Errorf("%s in %s with the answer %s: %s, %v, want %s", tt.cells, tt.country, tt.answer, got, err, tt.want)
		}
	}
}

// TestUsualOrder checks the note about dates in the order of the country.
func TestUsualOrder(t *testing.T) {
	t.Parallel()
	check(t, tableOf("First name|Last name|DOB", "Ana|Kos|1/2/90", "Ivo|Kos|3/4/1991"), Options{Country: "US"},
		"First name=firstName Last name=lastName DOB=dateOfBirth mdy", "2 Ana/Kos///1990-01-02", "3 Ivo/Kos///1991-03-04",
		`usualOrder 2 sheet.ReadDay{Text:"1/2/90", Day:calendar.Date{Year:1990, Month:1, Day:2}}`, `twoDigitYears 1 "90" "1990"`)
}

// TestBirthPlaces checks that a date with a place is read, and only the date.
func TestBirthPlaces(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"12/04/1985 à Lyon": "12/04/1985", "nato a Roma il 12/04/1985": "12/04/1985", "12.4.1985., Zagreb": "12.4.1985.",
		"3.11.1990 / St. Pölten": "3.11.1990", "12 avril 1985 à Lyon": "12 avril 1985", "Sevilla, 12 de abril de 1985": "12 de abril de 1985",
		"1985-04-12 Wien": "1985-04-12", "12 April 1985": "12 April 1985", "Thu 12.4.1985": "Thu 12.4.1985", "ca. 12.4.1985": "ca. 12.4.1985",
		"1985-04-12T22:00:00.000Z": "1985-04-12T22:00:00.000Z", "12.4.1985 Wien, 1.5.2001 Graz": "12.4.1985 Wien, 1.5.2001 Graz",
		"12.4.1985. godine": "12.4.1985. godine", "8010 Graz": "8010 Graz", "": "",
	} {
		if got := dateIn(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for header, want := range map[string]string{
		"Date et lieu de naissance": "dateOfBirth", "Datum i mjesto rođenja": "dateOfBirth", "Geburtsdatum und -ort": "dateOfBirth",
		"Luogo e data di nascita": "dateOfBirth", "Fecha y lugar de nacimiento": "dateOfBirth", "Né(e) le / à": "dateOfBirth",
		"geboren am/in": "dateOfBirth", "Geboortedatum en -plaats": "dateOfBirth", "Date / Place of Birth": "dateOfBirth",
		"Geburtsort": LeftOut, "Lieu de naissance": LeftOut, "Mjesto rođenja": LeftOut, "Luogo di nascita": LeftOut, "Ort, Datum": LeftOut,
	} {
		if got := fieldOf(header); got != want {
			t.Errorf("%q: %q, want %q", header, got, want)
		}
	}
	check(t, tableOf("Nom|Prénom|Date et lieu de naissance", "Petit|Jean|13/04/1985 à Lyon", "Roy|Eva|14/5/1986"), Options{},
		"Nom=lastName Prénom=firstName Date et lieu de naissance=dateOfBirth dmy", "2 Jean/Petit///1985-04-13", "3 Eva/Roy///1986-05-14",
		`place 1 "13/04/1985 à Lyon" "13/04/1985"`)
}

func TestDateWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"31.04.1990":               `dateOfBirth must be a date that exists, with the day first, not "31.04.1990".`,
		"04/31/1990":               `dateOfBirth must be a date that exists, with the month first, not "04/31/1990".`,
		"90-04-31":                 `dateOfBirth must be a date that exists, with the year first, not "90-04-31".`,
		"1990/04/31":               `dateOfBirth must be a date that exists, like 1990-05-15, not "1990/04/31".`,
		"--04-30":                  `dateOfBirth has no year: "--04-30".`,
		strings.Repeat("soon ", 9): "dateOfBirth must be a date with a year, like 1990-05-15.",
	} {
		r, err := Map(t.Context(), tableOf("Ime|Prezime|Rođen", "a|b|"+text), Options{Now: now})
		if err != nil || len(r.People[0].Errors) != 1 || r.People[0].Errors[0].Detail != want {
			t.Errorf("%q: %v, %+v", text, err, r.People)
		}
	}
}

// TestPolishMonths checks that a Polish department's listopad is November, and October elsewhere.
func TestPolishMonths(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"12 maja 1985": "1985-05-12", "3 listopada 1990 r.": "1990-11-03", "3 Października 90": "1990-10-03", "1 sty 1990": "", "3 May 1990": "1990-05-03",
	} {
		r, err := Map(t.Context(), tableOf("Imię|Nazwisko|Data ur.", "a|b|"+text), Options{Now: now, Country: "PL"})
		if got := strings.TrimSuffix(r.People[0].Fields.DateOfBirth, "T00:00:00Z"); err != nil || got != want {
			t.Errorf("%q: %q, want %q, %v", text, got, want, err)
		}
	}
	if got := readDate(sheet.Cell{Text: "3. listopada 1990."}, ""); got != "1990-10-03" {
		t.Errorf("listopad is %s", got)
	}
}

// layouts are date formats of programs, with the order that they require.
var layouts = []struct{ layout, order string }{
	{"02.01.2006", DMY}, {"2.1.2006", DMY}, {"2. 1. 2006.", DMY}, {"02/01/2006", DMY}, {"2-1-2006", DMY}, {"02.01.06", DMY}, {"2.1.06", DMY}, {"02/01/2006 00:00:00", DMY},
	{"1/2/2006", MDY}, {"01/02/2006", MDY}, {"1/2/06", MDY}, {"1/2/2006 3:04:05 PM", MDY},
	{"2006/01/02", YMD}, {"2006. 1. 2.", YMD}, {"2006-01-02", ""}, {"20060102", ""}, {"2 January 2006", ""}, {"2-Jan-06", ""}, {"January 2, 2006", ""},
}

// FuzzDate checks that dates are valid for a record, and that text that settles the order reads the
// same with this order set.
func FuzzDate(f *testing.F) {
	for _, l := range layouts {
		f.Add(now.Format(l.layout), l.order)
	}
	f.Add("0/0/00", "")
	f.Add("1990-05-15T00:00:00+02:00", "mdy")
	f.Fuzz(func(t *testing.T, text, order string) {
		cell := sheet.Cell{Text: strings.TrimSpace(text)}
		b := &births{table: &sheet.Table{}, now: now}
		d := b.read(cell)
		if settled := d.settles(); settled == DMY || settled == MDY || settled == YMD {
			if a, b := readDate(cell, ""), readDate(cell, settled); a != b {
				t.Errorf("%q: %s, and in the order %s %s", text, a, settled, b)
			}
		}
		if order != DMY && order != MDY && order != YMD {
			order = ""
		}
		got := readDate(cell, order)
		if strings.Contains(got, "-") && readDate(sheet.Cell{Text: got}, "") != got {
			t.Errorf("%q is read as %s, and that as %s", text, got, readDate(sheet.Cell{Text: got}, ""))
		}
	})
}
