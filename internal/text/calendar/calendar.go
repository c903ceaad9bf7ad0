// Package calendar computes ages and birthdays from dates without a time or time zone, and writes
// birthdays as iCalendar files.
package calendar

import (
	"cmp"
	"fmt"
	"time"
)

// Date is a day of the Gregorian calendar.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// Of returns the date of t in its location.
func Of(t time.Time) Date {
	year, month, day := t.Date()
	return Date{year, month, day}
}

// String returns the date in ISO 8601 form, such as 1990-05-15.
func (d Date) String() string { return fmt.Sprintf("%04d-%02d-%02d", d.Year, d.Month, d.Day) }

// Exists reports whether d is a valid calendar date.
func (d Date) Exists() bool { return d == Of(time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC)) }

// Before reports whether d is earlier than other.
func (d Date) Before(other Date) bool {
	return cmp.Or(cmp.Compare(d.Year, other.Year), cmp.Compare(d.Month, other.Month), cmp.Compare(d.Day, other.Day)) < 0
}

// Latest completes a two-digit year: it returns d in the latest year that ends in d.Year and does
// not put d after today. d.Year must be below 100.
func (d Date) Latest(today Date) Date {
	d.Year += today.Year / 100 * 100
	if today.Before(d) {
		d.Year -= 100
	}
	return d
}

// Birthday returns the birthday in the given year of a person born on d. In common years, a
// birthday on 29 February moves to 1 March.
func (d Date) Birthday(year int) Date {
	return Of(time.Date(year, d.Month, d.Day, 0, 0, 0, 0, time.UTC))
}

// Reaches returns the day on which a person born on d reaches an age in years.
func (d Date) Reaches(age int) Date { return d.Birthday(d.Year + age) }

// AgeOn returns the age in years, on the day other, of a person born on d. It is negative if other
// is before d.
func (d Date) AgeOn(other Date) int {
	age := other.Year - d.Year
	if other.Before(Date{other.Year, d.Month, d.Day}) { // a 29 February missing from a common year also comes before 1 March
		age--
	}
	return age
}
