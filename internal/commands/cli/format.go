package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// lastMilli is the last millisecond of the year 9999, the last year of RFC 3339.
const lastMilli = 253_402_300_799_999

// FormatTime formats milliseconds since 1970 as RFC 3339 in UTC, to the second. Zero is "-". Times
// after the year 9999 become its last second.
func FormatTime(milliseconds int64) string {
	if milliseconds == 0 {
		return "-"
	}
	return time.UnixMilli(min(milliseconds, lastMilli)).UTC().Format(time.RFC3339)
}

// FormatBytes formats a number of bytes in megabytes (10⁶ bytes).
func FormatBytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }

// FormatSpan formats a duration in its largest unit.
func FormatSpan(d time.Duration) string {
	switch {
	case d < time.Minute:
		return Count(int64(max(0, d)/time.Second), "second", "seconds")
	case d < time.Hour:
		return Count(int64(d/time.Minute), "minute", "minutes")
	case d < 48*time.Hour:
		return Count(int64(d/time.Hour), "hour", "hours")
	}
	return Count(int64(d/(24*time.Hour)), "day", "days")
}

// Count formats a number with its noun: "1 record", "2 records".
func Count[N int | int64](n N, one, many string) string {
	if n == 1 {
		many = one
	}
	return fmt.Sprint(n, " ", many)
}

// Quote quotes a file name for the shell. It escapes control characters, so that a name with a line
// break cannot imitate a line of the program's output.
func Quote(path string) string { return osutil.Quote(printable(path, "\t")) }

// longestDuration prevents overflows in sums.
const longestDuration = 100 * 366 * 24 * time.Hour

const year = 365 * 24 * time.Hour

var units = map[string]time.Duration{
	"y": year, "w": 7 * 24 * time.Hour, "d": 24 * time.Hour, "h": time.Hour, "m": time.Minute, "s": time.Second,
}

// WrongTime returns the error for a flag with an invalid time. forms are examples of valid values.
func WrongTime(flag, forms, text string) error {
	return fmt.Errorf("--%s must be like %s, not %q", flag, forms, text)
}

// ParseDuration parses a whole number with a unit, such as 90d: s, m, h, d, w, or y for 365 days. The
// maximum is about a hundred years.
func ParseDuration(text string) (time.Duration, error) {
	number := text[:max(0, len(text)-1)]
	unit := units[text[len(number):]]
	n, err := strconv.ParseUint(number, 10, 32)
	if err != nil || unit == 0 || n > uint64(longestDuration/unit) {
		return 0, fmt.Errorf("%q is not a duration", text)
	}
	return time.Duration(n) * unit, nil
}

// shift adds a parsed duration to t, or subtracts it if sign is -1. It uses calendar years.
func shift(t time.Time, sign int, text string) (time.Time, error) {
	d, err := ParseDuration(text)
	if err != nil {
		return time.Time{}, err
	}
	if strings.HasSuffix(text, "y") {
		return t.AddDate(sign*int(d/year), 0, 0), nil
	}
	return t.Add(time.Duration(sign) * d), nil
}

// ParseAge parses a duration and returns the time that long before now.
func ParseAge(text string, now time.Time) (time.Time, error) { return shift(now, -1, text) }

// ParseSince parses a start time: an age, a date such as 2027-01-31 (its start in UTC), or a time of
// RFC 3339. Empty text is the start of 1970.
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

// ParseExpiry parses an expiry time: a duration from now, or a date, which is the last valid day in
// UTC.
func ParseExpiry(text string, now time.Time) (time.Time, error) {
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day.AddDate(0, 0, 1), nil
	}
	return shift(now, 1, text)
}
