package calendar

import (
	"strings"
	"time"
	"unicode/utf8"
)

// ContentType is the media type of an iCalendar file.
const ContentType = "text/calendar; charset=utf-8"

// Writer writes an iCalendar file (RFC 5545).
type Writer struct{ body []byte }

// refresh is how often subscribed programs should fetch the calendar.
const refresh = "PT12H"

// NewWriter starts a calendar with a product identifier and a display name.
func NewWriter(product, name string) *Writer {
	w := &Writer{}
	w.line("BEGIN:VCALENDAR")
	w.line("VERSION:2.0")
	w.text("PRODID", product)
	w.line("CALSCALE:GREGORIAN")
	w.text("X-WR-CALNAME", name)                         // nonstandard, but widely displayed
	w.line("REFRESH-INTERVAL;VALUE=DURATION:" + refresh) // RFC 7986
	w.line("X-PUBLISHED-TTL:" + refresh)                 // older equivalent
	return w
}

// Yearly adds an all-day event that repeats every year, starting on first, and does not block time.
// id must be unique and stable, so that clients recognize the event when they refresh. changed is
// the time of the last change; it keeps the file identical until something changes.
//
// An event that starts on 29 February repeats on day 60 of the year, which is 1 March in common
// years. A plain yearly rule would skip those years.
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

// End completes the calendar and returns the file.
func (w *Writer) End() []byte {
	w.line("END:VCALENDAR")
	return w.body
}

var escapes = strings.NewReplacer(`\`, `\\`, `;`, `\;`, `,`, `\,`, "\r\n", `\n`, "\n", `\n`, "\r", `\n`)

// text adds a property with an escaped text value.
func (w *Writer) text(name, value string) { w.line(name + ":" + escapes.Replace(value)) }

// maxLine is the maximum length of a line in octets, excluding the line break.
const maxLine = 75

// line adds a line. It folds long lines between characters.
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
