package cli_test

import (
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
)

var now = time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)

func TestParseDuration(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{"0s": 0, "90d": 90 * day, "26w": 26 * 7 * day, "12h": 12 * time.Hour,
		"1200m": 1200 * time.Minute, "007s": 7 * time.Second, "36600d": 36600 * day, "1y": 365 * day, "100y": 36500 * day} {
		if got, err := cli.ParseDuration(text); got != want || err != nil {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "d", "7", "-7d", "+7d", "7 d", "7D", "1.5h", "1h30m", "7Y", "y", "101y", "1y1d", "36601d", "4294967296s", "7č", "٧d"} {
		if got, err := cli.ParseDuration(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestParseAge(t *testing.T) {
	t.Parallel()
	checkTimes(t, cli.ParseAge, map[string]string{
		"0s": "2026-03-31T12:00:00Z", "36h": "2026-03-30T00:00:00Z", "30d": "2026-03-01T12:00:00Z",
		"1y": "2025-03-31T12:00:00Z", "0y": "2026-03-31T12:00:00Z", "100y": "1926-03-31T12:00:00Z",
	}, "", "y", "-1y", "101y", "999y", "7", "soon", "2027-01-31")
}

func TestParseSince(t *testing.T) {
	t.Parallel()
	checkTimes(t, cli.ParseSince, map[string]string{
		"": "1970-01-01T00:00:00Z", "30d": "2026-03-01T12:00:00Z", "2y": "2024-03-31T12:00:00Z",
		"2027-01-31": "2027-01-31T00:00:00Z", "2027-01-31T08:00:00+02:00": "2027-01-31T06:00:00Z",
		"2027-01-31T08:00:00.001Z": "2027-01-31T08:00:00.001Z",
	}, "soon", "2027-02-30", "2027-1-31", "2027-01-31T08:00:00", "-30d", "999y")
}

func TestParseExpiry(t *testing.T) {
	t.Parallel()
	checkTimes(t, cli.ParseExpiry, map[string]string{
		"12h": "2026-04-01T00:00:00Z", "90d": "2026-06-29T12:00:00Z",
		"2027-01-31": "2027-02-01T00:00:00Z", "2020-02-28": "2020-02-29T00:00:00Z",
		"1y": "2027-03-31T12:00:00Z", "2y": "2028-03-31T12:00:00Z",
	}, "soon", "2027-02-30", "101y", "-1d", "2027-01-31T08:00:00Z")
}

// checkTimes checks the results of parse for valid texts, and its errors for invalid ones.
func checkTimes(t *testing.T, parse func(string, time.Time) (time.Time, error), right map[string]string, wrong ...string) {
	t.Helper()
	for text, want := range right {
		if got, err := parse(text, now); err != nil || got.UTC().Format(time.RFC3339Nano) != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range wrong {
		if got, err := parse(text, now); err == nil || !got.IsZero() {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// FuzzParseDuration checks the bounds of a duration, and that the other parsers agree with it except
// for leap days.
func FuzzParseDuration(f *testing.F) {
	for _, text := range []string{"", "90d", "12h", "7y", "2027-01-31", "2027-01-31T08:00:00Z", "99999999999d"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := cli.ParseDuration(text)
		age, ageErr := cli.ParseAge(text, now)
		since, sinceErr := cli.ParseSince(text, now)
		expiry, expiryErr := cli.ParseExpiry(text, now)
		if err == nil && (d < 0 || d > 100*366*24*time.Hour) {
			t.Errorf("%q: %v", text, d)
		}
		leapDays := time.Duration(0)
		if strings.HasSuffix(text, "y") {
			leapDays = 25 * 24 * time.Hour
		}
		differs := func(span time.Duration) bool { return span < d || span > d+leapDays }
		if err == nil && (ageErr != nil || sinceErr != nil || expiryErr != nil ||
			differs(now.Sub(age)) || differs(now.Sub(since)) || differs(expiry.Sub(now))) {
			t.Errorf("%q: %v, age %v, since %v, expiry %v", text, d, age, since, expiry)
		}
		if ageErr == nil && (sinceErr != nil && text != "" || age.After(now)) {
			t.Errorf("%q: age %v, since: %v", text, age, sinceErr)
		}
	})
}
