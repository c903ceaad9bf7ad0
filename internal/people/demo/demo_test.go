package demo

import (
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/calendar"
	"github.com/firefighter-records/firefighters/internal/text/lang"
)

// day is a day in the fictional present.
var day = calendar.Date{Year: 2026, Month: time.November, Day: 27}

// TestPerson checks that invented people are valid and reproducible, that few lack a field, and that
// only their families share a phone number in a small department.
func TestPerson(t *testing.T) {
	t.Parallel()
	for _, language := range lang.All() {
		c := In(language.Tag)
		if c == nil {
			t.Fatalf("no country speaks %s", language.Name)
		}
		invented, families := map[string]int{}, map[string]string{}
		for number := range 2000 {
			fields := c.Person(day, 3, number)
			if fields != c.Person(day, 3, number) {
				t.Fatalf("number %d yields different people", number)
			}
			if _, errs := fields.Normalize(time.Now()); len(errs) > 0 {
				t.Fatalf("%+v: %v", fields, errs)
			}
			for d, value := range fields.Each {
				if *value != "" {
					invented[d.Name]++
				}
			}
			if number >= 40 || fields.PhoneNumber == "" {
				continue
			}
			last, _, _ := strings.Cut(fields.LastName, " ")
			if known, ok := families[fields.PhoneNumber]; ok && known != last {
				t.Errorf("%s: %s and %s share %s", language.Name, known, last, fields.PhoneNumber)
			}
			families[fields.PhoneNumber] = last
		}
		for _, name := range record.FieldNames() {
			if n := invented[name]; n < 1700 || n == 2000 && name != "firstName" && name != "lastName" {
				t.Errorf("%s: %d of 2000 have a %s", language.Name, n, name)
			}
		}
		if len(families) > 35 {
			t.Errorf("%s: only %d of 40 people share a phone number", language.Name, 40-len(families))
		}
	}
}

// TestNames checks that the names and addresses in a small department differ.
func TestNames(t *testing.T) {
	t.Parallel()
	for _, c := range countries {
		known := map[string]bool{}
		for number := range named {
			f := c.Person(day, 0, number)
			if name := f.FirstName + " " + f.LastName; known[name] || f.Email != "" && known[f.Email] {
				t.Errorf("two people are %s, %s", name, f.Email)
			} else {
				known[name], known[f.Email] = true, true
			}
		}
		if one, other := c.Person(day, 0, 12), c.Person(day, 0, 13); one.LastName != other.LastName {
			t.Errorf("siblings are %s and %s", one.LastName, other.LastName)
		}
		if len(c.places) == 0 || len(c.last) != named || len(c.women) != 30 || len(c.men) != 30 {
			t.Errorf("%s: %d places, %d women, %d men, %d last names", c.Code, len(c.places), len(c.women), len(c.men), len(c.last))
		}
	}
}

// TestDays checks that people are 16 to 80 years old on each day of eight years, and that exactly one
// of them has a birthday.
func TestDays(t *testing.T) {
	t.Parallel()
	for d := range 8 * 365 {
		today := calendar.Of(time.Date(2026, 1, 1+d, 0, 0, 0, 0, time.UTC))
		birthdays := 0
		for number := range 60 {
			f := In("hr").Person(today, 0, number)
			if f.DateOfBirth == "" {
				continue
			}
			at, err := time.Parse(time.DateOnly, f.DateOfBirth)
			born := calendar.Of(at)
			if age := born.AgeOn(today); err != nil || age < 16 || age > 80 {
				t.Errorf("%s: %s is %d, %v", today, f.DateOfBirth, age, err)
			}
			if born.Birthday(today.Year) == today {
				birthdays++
			}
		}
		if birthdays != 1 {
			t.Errorf("%s: %d birthdays", today, birthdays)
		}
	}
}

// TestPhoneNumbers checks that numbers differ until a country has no more of them.
func TestPhoneNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range countries {
		for _, n := range []numbers{c.mobile, c.home} {
			known := map[string]bool{}
			for i := range min(n.total, 10_000) {
				known[n.at(i)] = true
			}
			if len(known) != min(n.total, 10_000) || n.at(n.total) != n.at(0) {
				t.Errorf("%s: %d numbers of %d", c.Code, len(known), n.total)
			}
		}
	}
}

// TestChanges checks that each change makes a difference to another person, in order of time.
func TestChanges(t *testing.T) {
	t.Parallel()
	for _, c := range countries {
		people, days := map[int]bool{}, 365
		for _, change := range c.Changes(day, 10) {
			if change.Days >= days || people[change.Number] || change.Number > 10 {
				t.Errorf("%s: %+v", c.Code, change)
			}
			people[change.Number], days = true, change.Days
			if change.Fields == nil || change.Number == 10 {
				continue
			}
			fields, errs := change.Fields.Normalize(time.Now())
			if len(errs) > 0 || fields == c.Person(day, 0, change.Number) {
				t.Errorf("%s: %+v, %v", c.Code, fields, errs)
			}
		}
	}
}

// TestDepartments checks that the names of many departments differ.
func TestDepartments(t *testing.T) {
	t.Parallel()
	for _, c := range countries {
		known := map[string]bool{}
		for number := range 1000 {
			known[c.Department(number)] = true
		}
		if len(known) != 1000 {
			t.Errorf("%s: %d names of 1000", c.Code, len(known))
		}
	}
}

func TestSizes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ departments, people, largest, smallest int }{
		{1, 40, 40, 40},
		{1, 0, 0, 0},
		{30000, 1200000, 17000, 38},
	} {
		sizes, sum := Sizes(tt.departments, tt.people), 0
		for _, size := range sizes {
			sum += size
		}
		last := sizes[len(sizes)-1]
		if sum != tt.people || len(sizes) != tt.departments || sizes[0] > tt.largest || sizes[0]*10 < tt.largest*9 || last < tt.smallest {
			t.Errorf("%d people in %d departments, the first with %d, the last with %d", sum, len(sizes), sizes[0], last)
		}
	}
}
