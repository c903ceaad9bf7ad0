package record

import (
	"regexp"
	"strings"
	"time"
)

// birthForm is a date-time of RFC 3339, in which the offset or the whole time
// may be missing. The fraction may have 32 digits, which are all stored. Lists
// are sorted by the first nine.
var birthForm = regexp.MustCompile(
	`^(\d{4}-\d{2}-\d{2})` +
		`(?:[Tt](\d{2}:\d{2}:\d{2})(\.\d{1,32})?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)?)?$`)

// earliestYear is the earliest year of birth, by the calendar of the offset
// that was sent.
const earliestYear = 1900

// normalizeBirth returns a date of birth in the form in which it is stored:
// date, time and offset as they were sent, Z where there was no offset,
// midnight where there was no time, and no fraction that is zero.
func normalizeBirth(e *FieldErrors, f Field, value string, now time.Time) string {
	if value = strings.TrimSpace(value); value == "" {
		return ""
	}
	value, ok := canonicalBirth(value)
	if !ok {
		e.Add(f.Name, Invalid, "%s must be a date that exists, like 1990-05-15 or 1990-05-15T00:00:00Z.", f.Name)
		return ""
	}
	switch born := (Fields{DateOfBirth: value}).Born(); {
	case born.Year() < earliestYear:
		e.Add(f.Name, OutOfRange, "%s may not be before the year %d.", f.Name, earliestYear)
	case born.After(now.Add(24 * time.Hour)):
		e.Add(f.Name, OutOfRange, "%s may not be in the future.", f.Name)
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

// Born returns the instant of a normalized date of birth with the offset that
// was sent. Without a date of birth it is the zero time.
func (f Fields) Born() time.Time {
	born, _ := time.Parse(time.RFC3339Nano, f.DateOfBirth)
	return born
}
