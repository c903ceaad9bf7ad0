package backup_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
)

func TestSurplus(t *testing.T) {
	for _, tt := range []struct {
		name  string
		keep  int
		times string // brackets mark the deleted ones
	}{
		{"none", 4, ""},
		{"one", 1, "2026-11-20T09"},
		{"the newest", 1, "[2026-11-18T09] [2026-11-19T09] 2026-11-20T09"},
		{"what does not divide is for the newest", 3, "[2026-11-17T09] 2026-11-18T09 2026-11-19T09 2026-11-20T09"},
		{"in any order", 2, "2026-11-20T09 [2026-11-18T09] 2026-11-19T09"},
		{"fewer than are kept", 4, "2026-11-20T07 2026-11-20T08 2026-11-20T09"},
		{"the newest fill the classes", 4, "2026-11-19T02 [2026-11-20T06] 2026-11-20T07 2026-11-20T08 2026-11-20T09"},
		{"the last of a day", 4, "[2026-11-19T01] 2026-11-19T02 2026-11-20T07 2026-11-20T08 2026-11-20T09"},
		{"a week ends on Sunday", 8, "2026-09-30T09 2026-10-31T09 [2026-11-07T09] 2026-11-08T09 [2026-11-14T09] 2026-11-15T09 " +
			"2026-11-17T09 2026-11-18T09 2026-11-19T09 2026-11-20T09"},
		{"months", 4, "[2026-07-31T09] [2026-08-31T09] [2026-09-29T09] 2026-09-30T09 " +
			"2026-10-18T09 2026-11-19T09 2026-11-20T09"},
		{"weeks over the end of a year", 12, "2026-09-30T09 2026-10-31T09 2026-11-30T09 " +
			"2026-12-20T09 [2026-12-21T09] 2026-12-27T09 [2026-12-31T09] 2027-01-02T09 " +
			"2027-01-05T09 2027-01-06T09 2027-01-07T09 2027-01-08T09 2027-01-09T09 2027-01-10T09"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var times, want []time.Time
			for word := range strings.FieldsSeq(tt.times) {
				at, err := time.Parse("2006-01-02T15", strings.Trim(word, "[]"))
				if err != nil {
					t.Fatal(err)
				}
				times = append(times, at)
				if word[0] == '[' {
					want = append(want, at)
				}
			}
			got := backup.Surplus(times, tt.keep)
			slices.SortFunc(got, time.Time.Compare)
			if !slices.Equal(got, want) {
				t.Errorf("deletes %v, want %v", got, want)
			}
		})
	}
}

// TestSurplusKeepsNumber creates backups for months and prunes after each. It checks that as many
// remain as are to be kept, once there are so many.
func TestSurplusKeepsNumber(t *testing.T) {
	t.Parallel()
	for keep := 1; keep <= 20; keep++ {
		for _, every := range []time.Duration{7 * time.Hour, 24 * time.Hour, 9 * 24 * time.Hour} {
			var kept []time.Time
			now := time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)
			for made := 1; now.Year() < 2028; made++ {
				kept = append(kept, now)
				drop := backup.Surplus(kept, keep)
				kept = slices.DeleteFunc(kept, func(at time.Time) bool { return slices.Contains(drop, at) })
				if len(kept) != min(made, keep) || kept[len(kept)-1] != now {
					t.Fatalf("every %v, keep %d: %d after %d, the newest from %v", every, keep, len(kept), made, kept[len(kept)-1])
				}
				now = now.Add(every)
			}
		}
	}
}

// TestSurplusOverYears creates backups for years and prunes after each, like a server. It checks the
// number and the age of the remaining backups.
func TestSurplusOverYears(t *testing.T) {
	for _, tt := range []struct {
		every time.Duration
		keep  int
		back  time.Duration
	}{
		{24 * time.Hour, 90, 2 * 365 * 24 * time.Hour},
		{6 * time.Hour, 90, 2 * 365 * 24 * time.Hour},
		{7 * 24 * time.Hour, 90, 2 * 365 * 24 * time.Hour},
		{24 * time.Hour, 8, 50 * 24 * time.Hour},
		{24 * time.Hour, 3, 48 * time.Hour},
		{24 * time.Hour, 1, 0},
	} {
		var kept []time.Time
		now := time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)
		for end := now.AddDate(3, 0, 0); now.Before(end); now = now.Add(tt.every) {
			kept = append(kept, now)
			drop := backup.Surplus(kept, tt.keep)
			kept = slices.DeleteFunc(kept, func(at time.Time) bool { return slices.Contains(drop, at) })
			if len(kept) > tt.keep || kept[len(kept)-1] != now {
				t.Fatalf("every %v, keep %d: %d at %v, the newest from %v", tt.every, tt.keep, len(kept), now, kept[len(kept)-1])
			}
		}
		if back := kept[len(kept)-1].Sub(kept[0]); len(kept) < tt.keep || back < tt.back {
			t.Errorf("every %v, keep %d: %d, the oldest %v old", tt.every, tt.keep, len(kept), back)
		}
	}
}
