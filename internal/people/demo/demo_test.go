package demo

import (
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/people/record"
)

// TestPerson: an invented person keeps the rules of a record and is always the
// same.
func TestPerson(t *testing.T) {
	t.Parallel()
	missing, accented, invented := 0, 0, map[string]int{}
	for number := range 2000 {
		fields := Person(3, number)
		if fields != Person(3, number) {
			t.Fatalf("number %d is two people", number)
		}
		if _, errs := fields.Normalize(time.Now()); len(errs) > 0 {
			t.Fatalf("%+v: %v", fields, errs)
		}
		for d, value := range fields.Each {
			if *value != "" {
				invented[d.Name]++
			}
		}
		if fields.PhoneNumber == "" || fields.Email == "" || fields.DateOfBirth == "" {
			missing++
		}
		if len(fields.FirstName) > len([]rune(fields.FirstName)) {
			accented++
		}
	}
	for _, name := range record.FieldNames() {
		if invented[name] < 200 {
			t.Errorf("%d of 2000 have a %s", invented[name], name)
		}
	}
	if missing < 200 || accented < 500 {
		t.Errorf("%d of 2000 lack a field, %d have letters beyond ASCII", missing, accented)
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
