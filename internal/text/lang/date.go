package lang

import (
	"strconv"
	"time"
)

// calendar is how a language writes dates: day, afterDay, month, beforeYear, year,
// afterYear, beforeTime, time, afterTime.
type calendar struct {
	months     []string // as a heading
	genitives  []string // within a date; the months if they are the same
	afterFirst string   // after the number of the first day, before afterDay
	afterDay   string
	beforeYear string
	afterYear  string
	beforeTime string
	afterTime  string

	// eitherOrder says that some who write the language put the day first, and some
	// the month.
	eitherOrder bool
}

// dateSize is the number of bytes in which every date fits, with its time.
const dateSize = 64

// Day returns a date, such as "15 May 1990". The arguments are those that
// time.Time.Date returns.
func (l *Language) Day(year int, month time.Month, day int) string {
	var buffer [dateSize]byte
	return string(l.calendar.appendDay(buffer[:0], year, month, day))
}

// DayMonth returns a date without its year, such as "15 May".
func (l *Language) DayMonth(month time.Month, day int) string {
	var buffer [dateSize]byte
	return string(l.calendar.appendDayMonth(buffer[:0], month, day))
}

// Month returns the name of a month as it stands alone, such as in a heading.
func (l *Language) Month(month time.Month) string { return l.calendar.months[month-1] }

// Moment returns the date and the time of day of t in its location, such as
// "22 November 2026, 14:05".
func (l *Language) Moment(t time.Time) string {
	var buffer [dateSize]byte
	c := &l.calendar
	year, month, day := t.Date()
	b := append(c.appendDay(buffer[:0], year, month, day), c.beforeTime...)
	b = t.AppendFormat(b, "15:04")
	return string(append(b, c.afterTime...))
}

func (c *calendar) appendDay(b []byte, year int, month time.Month, day int) []byte {
	b = append(c.appendDayMonth(b, month, day), c.beforeYear...)
	return append(appendYear(b, year), c.afterYear...)
}

func (c *calendar) appendDayMonth(b []byte, month time.Month, day int) []byte {
	b = strconv.AppendInt(b, int64(day), 10)
	if day == 1 {
		b = append(b, c.afterFirst...)
	}
	return append(append(b, c.afterDay...), c.genitives[month-1]...)
}

// appendYear writes four digits at least, so that ParseDay reads every year.
func appendYear(b []byte, year int) []byte {
	for limit := 1000; limit > max(year, 1); limit /= 10 {
		b = append(b, '0')
	}
	return strconv.AppendInt(b, int64(year), 10)
}
