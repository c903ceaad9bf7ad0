package calendar

import (
	"strings"
	"time"
	"unicode/utf8"
)

// ContentType is the media type of a calendar.
const ContentType = "text/calendar; charset=utf-8"

// Writer writes a file of RFC 5545 (iCalendar) for calendar programs.
type Writer struct{ body []byte }

// refresh is how long a program that subscribes to a calendar waits before it asks again.
const refresh = "PT12H"

// NewWriter begins a calendar of a product, which has a name.
func NewWriter(product, name string) *Writer {
	w := &Writer{}
	w.line("BEGIN:VCALENDAR")
	w.line("VERSION:2.0")
	w.text("PRODID", product)
	w.line("CALSCALE:GREGORIAN")
	w.text("X-WR-CALNAME", name)                         // of no standard, but what the programs show
	w.line("REFRESH-INTERVAL;VALUE=DURATION:" + refresh) // RFC 7986
	w.line("X-PUBLISHED-TTL:" + refresh)                 // for programs that do not know that
	return w
}

// Yearly adds a whole day that comes again every year from first on. It makes
// nobody busy. id tells it from all others, so that a program that reads the
// calendar again has each day once. changed is when it was last changed, so that the
// calendar is the same as long as nothing has changed.
//
// A first day on 29 February comes on day 60 of each year: 1 March in common
// years. A plain yearly rule would leave those years out.
func (w *Writer) Yearly(id, summary string, first Date, changed time.Time) {
	w.line("BEGIN:VEVENT")
	w.text("UID", id)
	w.line("DTSTAMP:" + changed.UTC().Format("20060102T150405Z"))
	w.line("DTSTART;VALUE=DATE:" + strings.ReplaceAll(first.String(), "-", ""))
	if first.Month == time.February && first.Day == 29 {
		w.line("RRULE:FREQ=YEARLY;BYYEARDAY=60")
	} else {
		w.line("RRULE:FREQ=YEARLY")
	}
	w.line("TRANSP:TRANSPARENT")
	w.text("SUMMARY", summary)
	w.line("END:VEVENT")
}

// End ends the calendar and returns the file.
func (w *Writer) End() []byte {
	w.line("END:VCALENDAR")
	return w.body
}

var escapes = strings.NewReplacer(`\`, `\\`, `;`, `\;`, `,`, `\,`, "\r\n", `\n`, "\n", `\n`, "\r", `\n`)

// text adds a property whose value is a text.
func (w *Writer) text(name, value string) { w.line(name + ":" + escapes.Replace(value)) }

// maxLine is the length of a line in octets, without its end.
const maxLine = 75

// line adds a line, folded between characters where it is too long.
func (w *Writer) line(text string) {
	length := 0
	for _, r := range text {
		if length+utf8.RuneLen(r) > maxLine {
			w.body = append(w.body, "\r\n "...)
			length = 1
		}
		w.body = utf8.AppendRune(w.body, r)
		length += utf8.RuneLen(r)
	}
	w.body = append(w.body, "\r\n"...)
}
