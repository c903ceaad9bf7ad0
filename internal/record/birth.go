package record

import (
	"regexp"
	"strings"
	"time"
)

// birthForm is RFC 3339's date-time, in which the offset or the whole time
// may be missing. The fraction may have 32 digits and comes back whole; the
// order goes by the first nine.
var birthForm = regexp.MustCompile(
	`^(\d{4}-\d{2}-\d{2})` +
		`(?:[Tt](\d{2}:\d{2}:\d{2})(\.\d{1,32})?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)?)?$`)

// earliestYear is the first in which somebody can be born, by the calendar of
// the offset that was sent.
const earliestYear = 1900

// birth gives a date of birth in the form in which it is kept and returned:
// date, time and offset as they were sent, Z where there was no offset,
// midnight where there was no time, and no fraction that is zero.
func (f *Faults) birth(field, value string, now time.Time) string {
	if value = strings.TrimSpace(value); value == "" {
		return ""
	}
	value, ok := canonicalBirth(value)
	if !ok {
		f.Add(field, Invalid, "%s must be a date that exists, like 1990-05-15 or 1990-05-15T00:00:00Z.", field)
		return ""
	}
	switch born := (Fields{DateOfBirth: value}).Born(); {
	case born.Year() < earliestYear:
		f.Add(field, OutOfRange, "%s may not be before the year %d.", field, earliestYear)
	case born.After(now.Add(24 * time.Hour)):
		f.Add(field, OutOfRange, "%s may not be in the future.", field)
	}
	return value
}

func canonicalBirth(value string) (string, bool) {
	part := birthForm.FindStringSubmatch(value)
	if part == nil {
		return "", false
	}
	date, clock, fraction, offset := part[1], part[2], part[3], strings.ToUpper(part[4])
	if clock == "" {
		clock = "00:00:00"
	}
	if strings.Trim(fraction, ".0") == "" {
		fraction = ""
	}
	if offset == "" {
		offset = "Z"
	}
	value = date + "T" + clock + fraction + offset
	_, err := time.Parse(time.RFC3339Nano, value)
	return value, err == nil
}

// Born is the instant of a clean date of birth, the zero time where there is
// none, with the offset that was sent.
func (f Fields) Born() time.Time {
	born, _ := time.Parse(time.RFC3339Nano, f.DateOfBirth)
	return born
}
