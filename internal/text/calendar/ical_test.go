package calendar_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/firefighter-records/firefighters/internal/text/calendar"
)

var noon = time.Date(2026, time.November, 22, 13, 0, 0, 0, time.FixedZone("", 3600))

func TestCalendar(t *testing.T) {
	t.Parallel()
	w := calendar.NewWriter("-//Product//EN", "Birthdays")
	w.Yearly("id-1", "Ana Čović", calendar.Date{Year: 1990, Month: time.May, Day: 15}, noon)
	w.Yearly("id-2", "Leap Day", calendar.Date{Year: 1992, Month: time.February, Day: 29}, noon)
	want := strings.Join([]string{
		"BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Product//EN", "CALSCALE:GREGORIAN", "X-WR-CALNAME:Birthdays",
		"REFRESH-INTERVAL;VALUE=DURATION:PT12H", "X-PUBLISHED-TTL:PT12H",
		"BEGIN:VEVENT", "UID:id-1", "DTSTAMP:20261122T120000Z", "DTSTART;VALUE=DATE:19900515", "RRULE:FREQ=YEARLY",
		"TRANSP:TRANSPARENT", "SUMMARY:Ana Čović", "END:VEVENT",
		"BEGIN:VEVENT", "UID:id-2", "DTSTAMP:20261122T120000Z", "DTSTART;VALUE=DATE:19920229", "RRULE:FREQ=YEARLY;BYYEARDAY=60",
		"TRANSP:TRANSPARENT", "SUMMARY:Leap Day", "END:VEVENT",
		"END:VCALENDAR", "",
	}, "\r\n")
	if got := string(w.End()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestYearsHaveFourDigits(t *testing.T) {
	t.Parallel()
	w := calendar.NewWriter("p", "n")
	w.Yearly("id", "Old", calendar.Date{Year: 900, Month: time.January, Day: 2}, noon)
	if got := properties(t, w.End())["DTSTART;VALUE=DATE"]; !slices.Equal(got, []string{"09000102"}) {
		t.Errorf("got %q", got)
	}
}

func TestSummaries(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ summary, want string }{
		{"", ""},
		{`a,b;c\d:e"f`, `a,b;c\d:e"f`},
		{`\n`, `\n`},
		{"two\nlines", "two\nlines"},
		{"two\r\nlines", "two\nlines"},
		{"two\rlines", "two\nlines"},
		{"x\r\nEND:VEVENT", "x\nEND:VEVENT"},
		{"bell\a, null\x00, delete\x7f, next\u0085line", "bell, null, delete, nextline"},
		{"tab\there", "tab\there"},
		{"bad \xff octet", "bad \ufffd octet"},
		{strings.Repeat("č", 200), strings.Repeat("č", 200)},
		{strings.Repeat("👩‍🚒,", 60), strings.Repeat("👩‍🚒,", 60)},
		{strings.Repeat(" ", 100), strings.Repeat(" ", 100)},
	} {
		if got := written(t, tt.summary); got != tt.want {
			t.Errorf("%q was read as %q, want %q", tt.summary, got, tt.want)
		}
	}
}

func TestLinesFoldBetweenCharacters(t *testing.T) {
	t.Parallel()
	const name = "SUMMARY:"
	for _, tt := range []struct {
		summary string
		want    string
	}{
		{strings.Repeat("a", 67), name + strings.Repeat("a", 67)},
		{strings.Repeat("a", 68), name + strings.Repeat("a", 67) + "\r\n a"},
		{strings.Repeat("a", 67+74+1), name + strings.Repeat("a", 67) + "\r\n " + strings.Repeat("a", 74) + "\r\n a"},
		{strings.Repeat("a", 66) + "č", name + strings.Repeat("a", 66) + "\r\n č"},
	} {
		w := calendar.NewWriter("p", "n")
		w.Yearly("id", tt.summary, calendar.Date{Year: 2000, Month: time.January, Day: 1}, noon)
		if got := string(w.End()); !strings.Contains(got, "\r\n"+tt.want+"\r\n") {
			t.Errorf("%q is missing in\n%s", tt.want, got)
		}
	}
}

func FuzzSummary(f *testing.F) {
	for _, summary := range []string{"Ana Čović", "a,b;c\\d", "x\r\nEND:VEVENT", strings.Repeat("č", 80), "\xff\x00", "\r\xeb\n"} {
		f.Add(summary)
	}
	f.Fuzz(func(t *testing.T, summary string) {
		want := strings.ToValidUTF8(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(summary), "")
		want = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) && r != '\t' && r != '\n' || r == utf8.RuneError {
				return -1
			}
			return r
		}, want)
		if got := strings.ReplaceAll(written(t, summary), "\ufffd", ""); got != want {
			t.Errorf("%q was read as %q, want %q", summary, got, want)
		}
	})
}

// written returns a summary as a calendar program reads it.
func written(t *testing.T, summary string) string {
	t.Helper()
	w := calendar.NewWriter("p", "n")
	w.Yearly("id", summary, calendar.Date{Year: 2000, Month: time.January, Day: 1}, noon)
	all := properties(t, w.End())
	if len(all["SUMMARY"]) != 1 || len(all["END"]) != 2 {
		t.Fatalf("a summary changed the form of the calendar: %q", all)
	}
	return all["SUMMARY"][0]
}

// properties reads a calendar as RFC 5545 says, and returns the values of each
// property. It fails the test if the file is not of that form.
func properties(t *testing.T, file []byte) map[string][]string {
	t.Helper()
	text, ended := strings.CutSuffix(string(file), "\r\n")
	if !ended || !utf8.ValidString(text) {
		t.Fatalf("no calendar: %q", text)
	}
	for line := range strings.SplitSeq(text, "\r\n") {
		if len(line) > 75 || strings.ContainsFunc(line, func(r rune) bool { return unicode.IsControl(r) && r != '\t' }) || !utf8.ValidString(line) {
			t.Fatalf("no line of a calendar: %q", line)
		}
	}
	all := map[string][]string{}
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n ", ""), "\r\n") {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			t.Fatalf("no property: %q", line)
		}
		all[name] = append(all[name], unescaped(t, value))
	}
	return all
}

// unescaped returns the text of a value.
func unescaped(t *testing.T, value string) string {
	t.Helper()
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c == ',' || c == ';' && !strings.HasPrefix(value, "FREQ="):
			t.Fatalf("%q is not escaped in %q", c, value)
		case c != '\\':
			b.WriteByte(c)
		case i+1 == len(value):
			t.Fatalf("%q ends within an escape", value)
		default:
			i++
			plain, known := map[byte]byte{'n': '\n', ',': ',', ';': ';', '\\': '\\'}[value[i]]
			if !known {
				t.Fatalf("unknown escape in %q", value)
			}
			b.WriteByte(plain)
		}
	}
	return b.String()
}
