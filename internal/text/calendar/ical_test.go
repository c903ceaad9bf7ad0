package calendar_test

import (
	"strings"
	"testing"
	"time"

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
			t.Errorf("missing %q in\n%s", tt.want, got)
		}
	}
}

func TestSummaries(t *testing.T) {
	t.Parallel()
	for summary, want := range map[string]string{
		`a,b;c\d:e"f`:     `a\,b\;c\\d:e"f`,
		"x\r\nEND:VEVENT": `x\nEND:VEVENT`,
		"bad \xff octet":  "bad \ufffd octet",
	} {
		w := calendar.NewWriter("p", "n")
		w.Yearly("id", summary, calendar.Date{Year: 900, Month: time.January, Day: 2}, noon)
		if got := string(w.End()); !strings.Contains(got, "\r\nSUMMARY:"+want+"\r\nEND:VEVENT\r\n") || !strings.Contains(got, "DTSTART;VALUE=DATE:09000102\r\n") {
			t.Errorf("%q is written as %q", summary, got)
		}
	}
}
