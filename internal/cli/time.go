package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// longestDuration keeps sums of times in bounds.
const longestDuration = 100 * 366 * 24 * time.Hour

var units = map[string]time.Duration{
	"w": 7 * 24 * time.Hour, "d": 24 * time.Hour, "h": time.Hour, "m": time.Minute, "s": time.Second,
}

// ParseDuration reads a whole number of weeks, days, hours, minutes or seconds,
// as 90d, up to about a hundred years.
func ParseDuration(text string) (time.Duration, error) {
	number := text[:max(0, len(text)-1)]
	unit := units[text[len(number):]]
	n, err := strconv.ParseUint(number, 10, 32)
	if err != nil || unit == 0 || n > uint64(longestDuration/unit) {
		return 0, fmt.Errorf("%q is not a duration", text)
	}
	return time.Duration(n) * unit, nil
}

// ParseAge reads a duration, or a number of years as 7y, and returns the time
// that long before now.
func ParseAge(text string, now time.Time) (time.Time, error) {
	if number, isYears := strings.CutSuffix(text, "y"); isYears {
		years, err := strconv.ParseUint(number, 10, 8)
		if err != nil {
			return time.Time{}, fmt.Errorf("%q is not an age", text)
		}
		return now.AddDate(-int(years), 0, 0), nil
	}
	d, err := ParseDuration(text)
	if err != nil {
		return time.Time{}, err
	}
	return now.Add(-d), nil
}

// ParseSince reads the time from which on something is wanted: an age, the
// start of a day (UTC) as 2027-01-31, or a time of RFC 3339. Empty text is the
// start of 1970.
func ParseSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.UnixMilli(0), nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return ParseAge(text, now)
}

// ParseExpiry reads the time at which something expires: a duration from now,
// or a date, which is the last day (UTC) on which it is valid. Empty text is
// the zero time, which is never.
func ParseExpiry(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day.AddDate(0, 0, 1), nil
	}
	d, err := ParseDuration(text)
	if err != nil {
		return time.Time{}, err
	}
	return now.Add(d), nil
}
