package sqlite_test

import (
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// TestClock checks that the clock never goes back, and how far the system's clock is behind it.
func TestClock(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.FixedZone("", 7200))
	system := noon
	clock := openAt(t, created(t), sqlite.Options{Now: func() time.Time { return system }}).Clock
	for _, step := range []struct {
		name               string
		system, now, known time.Time // known: the latest time set, if not zero
	}{
		{"at first", noon, noon, time.Time{}},
		{"later", noon.Add(time.Hour), noon.Add(time.Hour), time.Time{}},
		{"back", noon, noon.Add(time.Hour), time.Time{}},
		{"in 1970", time.Unix(0, 0), noon.Add(time.Hour), time.Time{}},
		{"ahead", noon.AddDate(50, 0, 0), noon.AddDate(50, 0, 0), time.Time{}},
		{"after it was ahead", noon.Add(2 * time.Hour), noon.AddDate(50, 0, 0), time.Time{}},
		{"set", noon, noon.Add(time.Minute), noon.Add(time.Minute)},
		{"set and passed", noon.Add(2 * time.Minute), noon.Add(2 * time.Minute), noon.Add(time.Minute)},
	} {
		system = step.system
		if !step.known.IsZero() {
			clock.Set(step.known.UnixMilli())
		}
		now, earlier, behind := clock.Now(), clock.Earlier(), clock.Behind()
		if !now.Equal(step.now) || !earlier.Equal(step.system) || behind != step.now.Sub(step.system) {
			t.Errorf("%s: Now %v, Earlier %v, Behind %v", step.name, now, earlier, behind)
		}
		if now.Location() != time.UTC || earlier.Location() != time.UTC {
			t.Errorf("%s: time zones %v and %v", step.name, now.Location(), earlier.Location())
		}
	}
}

// TestClockOfWrites checks that the times of transactions do not go back.
func TestClockOfWrites(t *testing.T) {
	t.Parallel()
	system := time.Unix(1e9, 0)
	db := openAt(t, created(t), sqlite.Options{Now: func() time.Time { return system }})
	for range 3 {
		must(t, note(db, "x"))
		system = system.Add(-time.Hour)
	}
	must(t, db.Read(func(c *sqlite.Conn) error {
		n, err := c.QueryInt(`SELECT count(DISTINCT at) FROM notes WHERE at = 1000000000000`)
		if n != 1 {
			t.Error("the rows have different times")
		}
		return err
	}))
}
