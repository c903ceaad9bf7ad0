package calendar

import (
	"bytes"
	"strings"
	"time"
	"unicode/utf8"
)

// ContentType is the media type of an iCalendar file.
const ContentType = "text/calendar; charset=utf-8"

// Writer writes an iCalendar file (RFC 5545).
type Writer struct{ lines Lines }

// refresh is how often subscribed programs should fetch the calendar.
const refresh = "PT12H"

// NewWriter starts a calendar with a product identifier and a display name.
func NewWriter(product, name string) *Writer {
	w := &Writer{}
	w.lines.Line("BEGIN:VCALENDAR")
	w.lines.Line("VERSION:2.0")
	w.lines.Text("PRODID", product)
	w.lines.Line("CALSCALE:GREGORIAN")
	w.lines.Text("X-WR-CALNAME", name)                         // nonstandard, but widely displayed
	w.lines.Line("REFRESH-INTERVAL;VALUE=DURATION:" + refresh) // RFC 7986
	w.lines.Line("X-PUBLISHED-TTL:" + refresh)                 // older equivalent
	return w
}

// Yearly adds an all-day event that repeats every year, starting on first, and does not block time.
// id must be unique and stable, so that clients recognize the event when they refresh. changed is
// the time of the last change; it keeps the file identical until something changes.
//
// An event that starts on 29 February repeats on day 60 of the year, which is 1 March in common
// years. A plain yearly rule would skip those years.
func (w *Writer) Yearly(id, summary string, first Date, changed time.Time) {
	w.lines.Line("BEGIN:VEVENT")
	w.lines.Text("UID", id)
	w.lines.Line("DTSTAMP:" + changed.UTC().Format("20060102T150405Z"))
	w.lines.Line("DTSTART;VALUE=DATE:" + strings.ReplaceAll(first.String(), "-", ""))
	if first.Month == time.February && first.Day == 29 {
		w.lines.Line("RRULE:FREQ=YEARLY;BYYEARDAY=60")
	} else {
		w.lines.Line("RRULE:FREQ=YEARLY")
	}
	w.lines.Line("TRANSP:TRANSPARENT")
	w.lines.Text("SUMMARY", summary)
	w.lines.Line("END:VEVENT")
}

// End completes the calendar and returns the file.
func (w *Writer) End() []byte {
	w.lines.Line("END:VCALENDAR")
	return w.lines.Bytes()
}

// Lines are the lines of an iCalendar file or of vCards (RFC 2426), which have the same syntax.
type Lines struct{ bytes.Buffer }

var escapes = strings.NewReplacer(`\`, `\\`, `;`, `\;`, `,`, `\,`, "\r\n", `\n`, "\n", `\n`, "\r", `\n`)

// Text adds a property, whose name may include parameters and whose value may have several
// components, such as the parts of a name. It skips a property without text.
func (l *Lines) Text(name string, components ...string) {
	for i := range components {
		components[i] = escapes.Replace(components[i])
	}
	if value := strings.Join(components, ";"); strings.Trim(value, ";") != "" {
		l.Line(name + ":" + value)
	}
}

// maxLine is the maximum length of a line in octets, excluding the line break.
const maxLine = 75

// Line adds a line. It folds long lines between characters.
func (l *Lines) Line(text string) {
	length := 0
	for _, r := range text {
		if length+utf8.RuneLen(r) > maxLine {
			l.WriteString("\r\n ")
			length = 1
		}
		l.WriteRune(r)
		length += utf8.RuneLen(r)
	}
	l.WriteString("\r\n")
}
