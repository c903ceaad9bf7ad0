package backup

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// prune deletes old backups. It keeps the backup of time last, which is valid, and all later ones,
// which exist only if the clock was wrong. A zero last stands for the newest valid backup.
func (s *Scheduler) prune(ctx context.Context, last time.Time) error {
	if id, _ := identify(sqlite.Peek, s.db); len(id.IDs) == 0 {
		return nil // backups of other databases cannot be told apart
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
		if err := os.Remove(f.Path); err != nil {
			return &Error{OpDelete, f.Path, err}
		}
	}
	return nil
}

// classes are the kinds of periods of which only the newest backup is kept. Each function returns
// the same text for all times in a period. The first class keeps every backup.
var classes = []func(time.Time) string{
	func(t time.Time) string { return t.Format(time.RFC3339Nano) },
	func(t time.Time) string { return t.Format(time.DateOnly) },
	func(t time.Time) string { year, week := t.ISOWeek(); return fmt.Sprint(year, "-", week) },
	func(t time.Time) string { return t.Format("2006-01") },
}

var periods = []int{1, 1, 7, 31} // the lengths of these periods in days

func (o Options) everyDays() int { return int((o.Every + 24*time.Hour - 1) / (24 * time.Hour)) }

// longestDays returns the maximum number of days for which a backup is kept, if backups continue on
// schedule. There may be a gap of one interval before the first backup of each class. The backup of a
// month may be up to a week older than its end, because it is also the last of a week.
func (o Options) longestDays() (days int) {
	if o.Keep >= len(classes) {
		days = 7
	}
	for i, period := range periods {
		days += o.Keep/len(classes)*max(period, o.everyDays()) + o.everyDays()
		if i == 0 {
			days += o.Keep % len(classes) * o.everyDays()
		}
	}
	return days
}

// surplus returns the times of the backups to delete, so that keep remain once there are keep. Of these,
// a quarter each are the newest, daily, weekly and monthly backups. The remainder of the division goes
// to the newest. A daily backup is the last backup of a day in UTC, and so on. If there are not enough
// days, weeks or months, the newest of the other backups remain in their place.
//
// A later backup of the same day, week or month replaces each deleted one in all later classes. The
// result depends only on the times of the backups, so that a wrong clock deletes nothing.
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
	kept := len(times) - len(dropped)
	return dropped[min(keep-kept, len(dropped)):]
}
