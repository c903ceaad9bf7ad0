// Package calendar computes with dates that have no time and no time zone: ages
// and birthdays. It writes files of birthdays for calendar programs.
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

// Of returns the day on which t lies in its own location.
func Of(t time.Time) Date {
	year, month, day := t.Date()
	return Date{year, month, day}
}

// String returns the date in the form of ISO 8601, such as 1990-05-15.
func (d Date) String() string { return fmt.Sprintf("%04d-%02d-%02d", d.Year, d.Month, d.Day) }

// Exists reports whether the calendar has the day.
func (d Date) Exists() bool { return d == Of(time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC)) }

// Before reports whether d is an earlier day than other.
func (d Date) Before(other Date) bool {
	return cmp.Or(cmp.Compare(d.Year, other.Year), cmp.Compare(d.Month, other.Month), cmp.Compare(d.Day, other.Day)) < 0
}

// Latest returns the day in the latest year with the last two digits of d's year, which
// must be below 100, in which it is not after today.
func (d Date) Latest(today Date) Date {
	d.Year += today.Year / 100 * 100
	if today.Before(d) {
		d.Year -= 100
	}
	return d
}

// Birthday returns the birthday in a year of a person who was born on d. A person
// who was born on 29 February has it on 1 March in common years.
func (d Date) Birthday(year int) Date {
	return Of(time.Date(year, d.Month, d.Day, 0, 0, 0, 0, time.UTC))
}

// Reaches returns the day on which a person who was born on d reaches an age in
// years.
func (d Date) Reaches(age int) Date { return d.Birthday(d.Year + age) }

// AgeOn returns the age in years, on the day other, of a person who was born on d.
// It is negative before the birth.
func (d Date) AgeOn(other Date) int {
	age := other.Year - d.Year
	if other.Before(Date{other.Year, d.Month, d.Day}) { // 1 March is after a 29 February that is not there, too
		age--
	}
	return age
}
