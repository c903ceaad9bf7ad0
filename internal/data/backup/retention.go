package backup

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// prune deletes old backups. It keeps the one made at last, which is valid, and
// all with a later time: the clock was wrong, then or now. If last is zero the
// newest valid backup takes its place.
func (s *Scheduler) prune(ctx context.Context, last time.Time) error {
	if its, _ := identify(sqlite.Peek, s.db); len(its.IDs) == 0 {
		return nil // nothing tells its backups from those of another database
	}
	files := s.files()
	if last.IsZero() {
		newest := newestValid(ctx, s.format, files)
		if newest == nil {
			return sqlite.ErrNotExist
		}
		last = newest.Time
	}
	var times []time.Time
	for _, f := range files {
		if !f.Time.After(last) {
			times = append(times, f.Time)
		}
	}
	dropped := surplus(slices.Compact(times), s.options.Keep)
	for _, f := range files {
		if !slices.ContainsFunc(dropped, f.Time.Equal) || f.inUse() {
			continue
		}
		if err := f.remove(); err != nil {
			return &Error{OpDelete, f.Path, err}
		}
	}
	return nil
}

// classes are the periods of which only the newest backup is kept, as the text
// that all times in a period have in common. The first class keeps every one.
var classes = []func(time.Time) string{
	func(t time.Time) string { return t.Format(time.RFC3339Nano) },
	func(t time.Time) string { return t.Format(time.DateOnly) },
	func(t time.Time) string { year, week := t.ISOWeek(); return fmt.Sprint(year, "-", week) },
	func(t time.Time) string { return t.Format("2006-01") },
}

// periods are about as long as those of the classes, in days.
var periods = []int{1, 1, 7, 31}

// everyDays returns the time between two backups in days, rounded up.
func (o Options) everyDays() int { return int((o.Every + 24*time.Hour - 1) / (24 * time.Hour)) }

// longestDays returns for how many days the retention keeps a backup at most, if backups
// are made as they are set. Before the first backup of each class there may be a gap of the
// time between two.
func (o Options) longestDays() (days int) {
	for i, period := range periods {
		days += o.Keep/len(classes)*max(period, o.everyDays()) + o.everyDays()
		if i == 0 {
			days += o.Keep % len(classes) * o.everyDays()
		}
	}
	return days
}

// surplus returns the times of the backups to delete, so that at most keep are
// left. A quarter of keep each is for the newest, then for daily, then for
// weekly, then for monthly backups. The remainder of keep is for the newest. A
// daily backup is the last of its day, in UTC. Weekly and monthly ones likewise.
//
// A backup that is dropped would not have been kept later on: it is never the
// last of its day, week or month. Only the times count and not the clock, so
// that a clock which jumps drops nothing.
func surplus(times []time.Time, keep int) (dropped []time.Time) {
	left := make([]int, len(classes))
	for i := range left {
		left[i] = keep / len(classes)
	}
	left[0] += keep % len(classes)
	newestFirst := slices.SortedFunc(slices.Values(times), func(a, b time.Time) int { return b.Compare(a) })
	class := 0
	for i, t := range newestFirst {
		for class < len(classes) && left[class] == 0 {
			class++
		}
		if class == len(classes) || i > 0 && classes[class](t.UTC()) == classes[class](newestFirst[i-1].UTC()) {
			dropped = append(dropped, t)
			continue
		}
		left[class]--
	}
	return dropped
}
