package lang

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/text/calendar"
)

// speak returns a language or fails the test.
func speak(t testing.TB, tag string) *Language {
	t.Helper()
	l := ByTag(tag)
	if l == nil {
		t.Fatalf("unknown language %s", tag)
	}
	return l
}

func TestDatesWritten(t *testing.T) {
	t.Parallel()
	moment := time.Date(2026, 11, 22, 14, 5, 59, 0, time.FixedZone("", 60*60))
	tests := []struct{ tag, day, first, early, dayMonth, month, moment string }{
		{"en", "15 May 1990", "1 August 2026", "2 March 0007", "15 May", "May", "22 November 2026, 14:05"},
		{"de", "15. Mai 1990", "1. August 2026", "2. März 0007", "15. Mai", "Mai", "22. November 2026, 14:05 Uhr"},
		{"fr", "15 mai 1990", "1er août 2026", "2 mars 0007", "15 mai", "mai", "22 novembre 2026 à 14:05"},
		{"es", "15 de mayo de 1990", "1 de agosto de 2026", "2 de marzo de 0007", "15 de mayo", "mayo", "22 de noviembre de 2026, 14:05"},
		{"hr", "15. svibnja 1990.", "1. kolovoza 2026.", "2. ožujka 0007.", "15. svibnja", "svibanj", "22. studenoga 2026. u 14:05"},
	}
	for _, tt := range tests {
		l := speak(t, tt.tag)
		for _, pair := range [][2]string{
			{l.Day(calendar.Date{Year: 1990, Month: time.May, Day: 15}), tt.day},
			{l.Day(calendar.Date{Year: 2026, Month: time.August, Day: 1}), tt.first},
			{l.Day(calendar.Date{Year: 7, Month: time.March, Day: 2}), tt.early},
			{l.DayMonth(time.May, 15), tt.dayMonth},
			{l.Month(time.May), tt.month},
			{l.Moment(moment), tt.moment},
		} {
			if pair[0] != pair[1] {
				t.Errorf("%s: got %q, want %q", tt.tag, pair[0], pair[1])
			}
		}
	}
}

// TestDatesReadBack checks that every language parses the dates that every language writes.
func TestDatesReadBack(t *testing.T) {
	t.Parallel()
	for _, writer := range All() {
		t.Run(writer.Tag, func(t *testing.T) {
			t.Parallel()
			for date := time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC); date.Year() <= 2000; date = date.AddDate(0, 0, 1) {
				day := calendar.Of(date)
				text := writer.Day(day)
				for _, reader := range All() {
					if read, err := reader.ParseDay(text); err != nil || read != day {
						t.Fatalf("%s reads %q as %s, %v", reader.Tag, text, read, err)
					}
				}
			}
		})
	}
}

// readings are dates that all languages parse alike. want is ISO 8601 or an error.
var readings = []struct{ text, want string }{
	{"15 May 1990", "1990-05-15"},
	{"1990-05-15", "1990-05-15"},
	{"1990-5-5", "1990-05-05"},
	{"1990. 5. 6.", "1990-05-06"},
	{"15.5.1990", "1990-05-15"},
	{"5.6.1990", "1990-06-05"},
	{"15. 5. 1990.", "1990-05-15"},
	{"15.5.1990. godine", "1990-05-15"},
	{"15/05/1990", "1990-05-15"},
	{"05/05/1990", "1990-05-05"},
	{"15–5–1990", "1990-05-15"},
	{"15 5 1990", "1990-05-15"},
	{"  15\u00a05\t1990\n", "1990-05-15"},
	{"29.2.2000", "2000-02-29"},

	{"15. Sept. 1990", "1990-09-15"},
	{"15. ruj. 1990. god.", "1990-09-15"},
	{"15 de set. de 1990", "1990-09-15"},
	{"15 de septiembre del 1990", "1990-09-15"},
	{"May 15th, 1990", "1990-05-15"},
	{"Sept. 1st, 1990", "1990-09-01"},
	{"2nd of May 1990", "1990-05-02"},
	{"1990 May 15", "1990-05-15"},
	{"15May1990", "1990-05-15"},
	{"1er mai 1990", "1990-05-01"},
	{"15 fevrier 1990", "1990-02-15"},
	{"15 FÉVRIER 1990", "1990-02-15"},
	{"15 juin 1990", "1990-06-15"},
	{"15. Maerz 1990", "1990-03-15"},
	{"15. Marz 1990", "1990-03-15"},
	{"15. Jänner 1990", "1990-01-15"},
	{"15. Feber 1990", "1990-02-15"},
	{"15. siječanj 1990.", "1990-01-15"},
	{"15. sijecnja 1990", "1990-01-15"},
	{"15. studenog 1990.", "1990-11-15"},
	{"1 May 0001", "0001-05-01"},

	{"31.4.1990", "no such day"},
	{"29.2.1990", "no such day"},
	{"32.1.1990", "no such day"},
	{"15.13.1990", "no such day"},
	{"1990-02-30", "no such day"},
	{"February 30, 1990", "no such day"},

	{"", "not a date"},
	{" ", "not a date"},
	{"May 1990", "not a date"},
	{"15 May", "not a date"},
	{"15.5.", "not a date"},
	{"15051990", "not a date"},
	{"15.5.90", "not a date"},
	{"15 May 90", "not a date"},
	{"15 May '1990", "1990-05-15"},
	{"15'5'1990", "not a date"},
	{"15 May 190", "not a date"},
	{"015 May 1990", "not a date"},
	{"1990 May 1990", "not a date"},
	{"15 May June 1990", "not a date"},
	{"15.5-1990", "not a date"},
	{"15,5,1990", "not a date"},
	{"15.5.1990-", "not a date"},
	{"15 Ma 1990", "not a date"},
	{"15 Mayo5 1990", "not a date"},
	{"the day", "not a date"},
	{"1990-05-15T00:00:00Z", "not a date"},
	{"١٥.٥.١٩٩٠", "not a date"},
	{"15.5.1990\x00", "not a date"},
	{"15.5.1990\xff", "not a date"},
}

func TestParseDay(t *testing.T) {
	t.Parallel()
	for _, tt := range readings {
		for _, l := range All() {
			got := read(l, tt.text)
			if got != tt.want {
				t.Errorf("%s, %q: got %s, want %s", l.Tag, tt.text, got, tt.want)
			}
		}
	}
}

// TestAbbreviations parses the abbreviated month names of CLDR.
func TestAbbreviations(t *testing.T) {
	t.Parallel()
	for _, months := range []string{
		"Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec",
		"Jan. Feb. März Apr. Mai Juni Juli Aug. Sept. Okt. Nov. Dez.",
		"Jan Feb Mär Apr Mai Jun Jul Aug Sep Okt Nov Dez",
		"janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.",
		"ene feb mar abr may jun jul ago sept oct nov dic",
		"sij velj ožu tra svi lip srp kol ruj lis stu pro",
	} {
		for i, abbreviation := range strings.Fields(months) {
			text, want := "15 "+abbreviation+" 1990", fmt.Sprintf("1990-%02d-15", i+1)
			if got := read(languages[0], text); got != want {
				t.Errorf("%q: got %s, want %s", text, got, want)
			}
		}
	}
}

// read returns a date in ISO 8601, or the error.
func read(l *Language, text string) string {
	day, err := l.ParseDay(text)
	if err != nil {
		return err.Error()
	}
	return day.String()
}

func TestEitherOrder(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, english, others string }{
		{"5/6/1990", "either 5 June 1990 or 6 May 1990", "1990-06-05"},
		{"05/06/1990", "either 5 June 1990 or 6 May 1990", "1990-06-05"},
		{"5-6-1990", "either 5 June 1990 or 6 May 1990", "1990-06-05"},
		{"5 6 1990", "either 5 June 1990 or 6 May 1990", "1990-06-05"},
		{"12/1/1990", "either 12 January 1990 or 1 December 1990", "1990-01-12"},
		{"05/15/1990", "1990-05-15", "no such day"},
		{"12-31-1990", "1990-12-31", "no such day"},
		{"12/13/1990", "1990-12-13", "no such day"},
		{"13/12/1990", "1990-12-13", "1990-12-13"},
		{"02/30/1990", "no such day", "no such day"},
		{"5/0/1990", "no such day", "no such day"},
		{"05.15.1990", "no such day", "no such day"},
	}
	for _, tt := range tests {
		for _, l := range All() {
			want := tt.others
			if l == languages[0] {
				want = tt.english
			}
			if got := read(l, tt.text); got != want {
				t.Errorf("%s, %q: got %s, want %s", l.Tag, tt.text, got, want)
			}
		}
	}
}

// TestParseBirth parses two-digit years and checks which of them are ambiguous.
func TestParseBirth(t *testing.T) {
	t.Parallel()
	today := calendar.Date{Year: 2026, Month: time.November, Day: 23}
	for text, want := range map[string]string{
		"15.5.90":      "1990-05-15",
		"15. 5. 90.":   "1990-05-15",
		"15-5-90":      "1990-05-15",
		"90-05-15":     "1990-05-15",
		"90-5-1":       "1990-05-01",
		"15 May 90":    "1990-05-15",
		"15 May '90":   "1990-05-15",
		"15. Mai ’90":  "1990-05-15",
		"May 15, 90":   "1990-05-15",
		"1.2.05":       "2005-02-01",
		"23.11.16":     "2016-11-23", // ten years old today
		"24.11.16":     "either 24 November 1916 or 24 November 2016",
		"15 May 19":    "either 15 May 1919 or 15 May 2019", // or 1990 with the last two digits missing
		"1.1.26":       "either 1 January 1926 or 1 January 2026",
		"24.11.26":     "1926-11-24", // tomorrow
		"29.2.00":      "2000-02-29",
		"29.2.24":      "either 29 February 1924 or 29 February 2024",
		"29.2.01":      "no such day",
		"31.4.90":      "no such day",
		"99.5.90":      "no such day",
		"5/6/90":       "either 5 June 1990 or 6 May 1990",
		"15 May 1990":  "1990-05-15",
		"1.1.2026":     "2026-01-01",
		"1.1.2990":     "2990-01-01", // rejected later by the rules of a record
		"15 May 9":     "not a date",
		"15.5.190":     "not a date",
		"90.5":         "not a date",
		"15.5.":        "not a date",
		"15.5.90.1990": "not a date",
		"yesterday":    "not a date",
	} {
		day, err := speak(t, "en").ParseBirth(text, today)
		got := day.String()
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	if day, err := speak(t, "de").ParseBirth("5/6/90", today); err != nil || day.String() != "1990-06-05" {
		t.Errorf("got %s, %v", day, err)
	}
}

// FuzzParseDay checks that parsed dates exist and survive a round trip through Day.
func FuzzParseDay(f *testing.F) {
	for _, r := range readings {
		f.Add(r.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, l := range All() {
			day, err := l.ParseDay(text)
			if err != nil {
				if day != (calendar.Date{}) {
					t.Fatalf("%q is rejected, but parses as %s", text, day)
				}
				continue
			}
			if !day.Exists() || day.Year < 0 || day.Year > 9999 {
				t.Fatalf("%q is read as %s", text, day)
			}
			if again := read(l, l.Day(day)); again != day.String() {
				t.Fatalf("%q is read as %s, but what is written of it as %s", text, day, again)
			}
		}
	})
}
