package office

import (
	"errors"
	"time"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/calendar"
	"github.com/firefighter-records/firefighters/internal/text/lang"
)

// now returns the time where the service runs.
func (v visit) now() time.Time { return v.Store.Clock().Now().Local() }

// today returns the day that it is where the service runs.
func (v visit) today() calendar.Date { return calendar.Of(v.now()) }

// day returns a day in the visitor's language.
func (v visit) day(d calendar.Date) string { return v.Lang.Day(d.Year, d.Month, d.Day) }

// parseDay reads a day as people write it.
func (v visit) parseDay(text string) (d calendar.Date, err error) {
	d.Year, d.Month, d.Day, err = v.Lang.ParseDay(text)
	return d, err
}

// bornOn returns the day of birth by the calendar of the offset that was sent.
func bornOn(f record.Fields) (day calendar.Date, known bool) {
	return calendar.Of(f.Born()), f.DateOfBirth != ""
}

// birth returns the day of birth in the visitor's language, empty if it is not
// known.
func (v visit) birth(f record.Fields) string {
	day, known := bornOn(f)
	if !known {
		return ""
	}
	return v.day(day)
}

// readBirth returns a day as it is stored. stored is what the record has.
func (v visit) readBirth(text, stored string) (string, error) {
	if record.IsBlank(text) {
		return "", nil
	}
	day, err := v.parseDay(text)
	if err != nil {
		return "", err
	}
	if before, known := bornOn(record.Fields{DateOfBirth: stored}); known && before == day {
		return stored, nil
	}
	return day.String(), nil
}

// dayFault returns the message for a day in a field that cannot be read.
func (v visit) dayFault(field string, err error) string {
	message, two := "fault."+field+".", (*lang.AmbiguousError)(nil)
	switch {
	case errors.As(err, &two):
		return v.Text(message+"ambiguous", two.DayFirst, two.MonthFirst)
	case errors.Is(err, lang.ErrNoSuchDay):
		return v.Text(message + "no_such_day")
	}
	return v.Text(message+"invalid", v.day(v.today()))
}
