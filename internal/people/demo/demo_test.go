package demo

import (
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/people/record"
)

// TestPerson checks that generated people are valid and reproducible.
func TestPerson(t *testing.T) {
	t.Parallel()
	missing, accented, invented := 0, 0, map[string]int{}
	for number := range 2000 {
		fields := Person(3, number)
		if fields != Person(3, number) {
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
		t.Errorf("%d of 2000 people lack a field, %d have non-ASCII names", missing, accented)
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
