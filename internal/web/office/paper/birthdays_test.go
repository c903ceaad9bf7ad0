package paper

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/calendar"
	"github.com/firefighter-records/firefighters/internal/text/lang"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

func inEnglish() view.Visit { return view.Visit{Visit: &site.Visit{Lang: lang.ByTag("en")}} }

// bornAll returns people who were born on these days.
func bornAll(t *testing.T, days ...string) (people []record.Firefighter) {
	t.Helper()
	for _, day := range days {
		fields, faults := record.Fields{FirstName: "Of " + day, LastName: "Test", DateOfBirth: day}.Normalize(time.Now())
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		people = append(people, record.Firefighter{Fields: fields})
	}
	return people
}

// TestReaching checks that today is included and the last day is not.
func TestReaching(t *testing.T) {
	t.Parallel()
	people := bornAll(t, "2008-11-21", "2008-11-22", "", "2009-01-01", "2008-12-31", "2008-11-22T23:59:00-11:00", "2008-02-29")
	for _, tt := range []struct {
		today, before calendar.Date
		want          []string
	}{
		{calendar.Date{Year: 2026, Month: time.November, Day: 22}, calendar.Date{Year: 2027, Month: time.January, Day: 1},
			[]string{"2008-11-22 22 November 2026", "2008-11-22T23:59:00-11:00 22 November 2026", "2008-12-31 31 December 2026"}},
		{calendar.Date{Year: 2026, Month: time.November, Day: 23}, calendar.Date{Year: 2027, Month: time.January, Day: 2},
			[]string{"2008-12-31 31 December 2026", "2009-01-01 1 January 2027"}},
		{calendar.Date{Year: 2026, Month: time.February, Day: 28}, calendar.Date{Year: 2026, Month: time.March, Day: 1}, nil},
		{calendar.Date{Year: 2026, Month: time.March, Day: 1}, calendar.Date{Year: 2026, Month: time.March, Day: 2}, []string{"2008-02-29 1 March 2026"}},
		{calendar.Date{Year: 2026, Month: time.November, Day: 22}, calendar.Date{Year: 2026, Month: time.November, Day: 22}, nil},
		{calendar.Date{Year: 2026, Month: time.November, Day: 22}, calendar.Date{Year: 2020, Month: time.January, Day: 1}, nil},
	} {
		var got []string
		for _, b := range reaching(inEnglish(), people, 18, tt.today, tt.before) {
			got = append(got, strings.TrimPrefix(b.FirstName, "Of ")+" "+b.Day)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("reaching from %s, before %s: %q, want %q", tt.today, tt.before, got, tt.want)
		}
	}
}

func TestMonths(t *testing.T) {
	t.Parallel()
	list, unknown := months(inEnglish(), bornAll(t, "1990-12-02", "", "1980-02-29", "1990-12-01", "2000-12-01", "2000-03-01", ""),
		calendar.Date{Year: 2026, Month: time.December, Day: 24})
	if unknown != 2 || len(list) != 3 || list[0].Name != "December" || !list[0].Current || list[0].Later || list[0].Number != 12 ||
		list[1].Name != "February" || list[1].Current || list[1].Later || list[2].Name != "March" || !list[2].Later {
		t.Fatalf("months() = %+v, %d unknown", list, unknown)
	}
	if leap := list[1].People[0]; leap.Day != "29 February" || leap.Turn != 47 {
		t.Errorf("born on 29 February: %+v", leap)
	}
	var names []string
	for _, b := range list[0].People {
		names = append(names, strings.TrimPrefix(b.FirstName, "Of "))
	}
	if want := []string{"1990-12-01", "2000-12-01", "1990-12-02"}; !slices.Equal(names, want) { // stable within a day
		t.Errorf("December = %q, want %q", names, want)
	}
	inSpanish := view.Visit{Visit: &site.Visit{Lang: lang.ByTag("es")}}
	list, _ = months(inSpanish, bornAll(t, "1990-02-03"), calendar.Date{Year: 2026, Month: time.December, Day: 24})
	if len(list) != 1 || list[0].Name != "Febrero" || list[0].People[0].Day != "3 de febrero" {
		t.Errorf("in Spanish: %+v", list)
	}
}

// TestSoon checks that the next 30 days are included, also in the next year, and days of birth are not.
func TestSoon(t *testing.T) {
	t.Parallel()
	people := bornAll(t, "1990-12-24", "1990-12-23", "1991-01-23", "1991-01-24", "", "2025-12-25", "2024-12-25", "1996-02-29")
	for _, tt := range []struct {
		today calendar.Date
		want  []string
	}{
		{calendar.Date{Year: 2025, Month: time.December, Day: 24}, []string{"24 December 35 true", "25 December 1 false", "23 January 35 false"}},
		{calendar.Date{Year: 2026, Month: time.January, Day: 30}, []string{"1 March 30 false"}},
		{calendar.Date{Year: 2028, Month: time.February, Day: 29}, []string{"29 February 32 true"}},
	} {
		var got []string
		for _, b := range soon(inEnglish(), people, tt.today) {
			got = append(got, fmt.Sprint(b.Day, " ", b.Turn, " ", b.Today))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("soon on %s: %q, want %q", tt.today, got, tt.want)
		}
	}
}
