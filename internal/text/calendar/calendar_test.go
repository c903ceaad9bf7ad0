package calendar

import (
	"testing"
	"time"
)

func date(t *testing.T, iso string) Date {
	t.Helper()
	day, err := time.Parse(time.DateOnly, iso)
	if err != nil {
		t.Fatal(err)
	}
	return Of(day)
}

func TestExists(t *testing.T) {
	t.Parallel()
	for day, want := range map[Date]bool{
		{2008, time.February, 29}: true, {1990, time.February, 29}: false, {1990, time.April, 31}: false, {1990, time.April, 0}: false,
		{1990, 13, 1}: false, {1990, 0, 1}: false, {0, time.January, 1}: true, {9999, time.December, 31}: true, {}: false,
	} {
		if got := day.Exists(); got != want {
			t.Errorf("%s: got %v", day, got)
		}
	}
}

func TestLatest(t *testing.T) {
	t.Parallel()
	today := date(t, "2026-11-23")
	for day, want := range map[Date]string{
		{90, time.May, 15}: "1990-05-15", {26, time.November, 23}: "2026-11-23", {26, time.November, 24}: "1926-11-24", {0, time.February, 29}: "2000-02-29",
	} {
		if got := day.Latest(today); got.String() != want {
			t.Errorf("%s: got %s, want %s", day, got, want)
		}
	}
}

func TestAge(t *testing.T) {
	t.Parallel()
	tests := []struct {
		born, on string
		want     int
	}{
		{"1990-05-15", "1990-05-15", 0},
		{"1990-05-15", "2026-11-22", 36},
		{"1990-12-31", "2027-01-01", 36},
		{"1990-05-15", "1990-05-14", -1},
		{"1990-05-15", "1989-05-15", -1},
		{"2008-02-29", "2026-02-28", 17},
		{"2008-02-29", "2026-03-01", 18},
	}
	for _, tt := range tests {
		if got := date(t, tt.born).AgeOn(date(t, tt.on)); got != tt.want {
			t.Errorf("born on %s, on %s: got %d, want %d", tt.born, tt.on, got, tt.want)
		}
	}
}

func TestReaches(t *testing.T) {
	t.Parallel()
	tests := []struct {
		born string
		age  int
		want string
	}{
		{"1990-05-15", 0, "1990-05-15"},
		{"1990-05-15", 18, "2008-05-15"},
		{"2008-02-29", 18, "2026-03-01"},
		{"2008-02-29", 20, "2028-02-29"},
	}
	for _, tt := range tests {
		if got := date(t, tt.born).Reaches(tt.age); got != date(t, tt.want) {
			t.Errorf("born on %s, age %d: got %s, want %s", tt.born, tt.age, got, tt.want)
		}
	}
}

// TestAgesAgree checks, for every day of birth in eight years, that the age changes exactly on the
// day returned by Reaches.
func TestAgesAgree(t *testing.T) {
	t.Parallel()
	first := time.Date(1896, 1, 1, 0, 0, 0, 0, time.UTC)
	for born := first; born.Year() < 1904; born = born.AddDate(0, 0, 1) {
		d := Of(born)
		for age := range 21 {
			day := d.Reaches(age)
			before := Of(time.Date(day.Year, day.Month, day.Day-1, 0, 0, 0, 0, time.UTC))
			if d.AgeOn(day) != age || d.AgeOn(before) != age-1 || !before.Before(day) || d.Birthday(day.Year) != day {
				t.Fatalf("born on %s: age %d on %s and %d on %s", d, d.AgeOn(before), before, d.AgeOn(day), day)
			}
		}
	}
}
