// Package retention says which backups to keep as they grow old.
package retention

import (
	"fmt"
	"slices"
	"time"
)

// classes are the periods of which only the newest backup is kept, as the text
// that all times in a period have in common. The first class keeps every one.
var classes = []func(time.Time) string{
	func(t time.Time) string { return t.Format(time.RFC3339Nano) },
	func(t time.Time) string { return t.Format(time.DateOnly) },
	func(t time.Time) string { year, week := t.ISOWeek(); return fmt.Sprint(year, "-", week) },
	func(t time.Time) string { return t.Format("2006-01") },
}

// Drop returns the times of the backups to delete, so that at most keep are
// left. A quarter of keep each is for the newest, then for daily, then for
// weekly, then for monthly backups. The remainder of keep is for the newest. A
// daily backup is the last of its day, in UTC. Weekly and monthly ones likewise.
//
// A backup that is dropped would not have been kept later on: it is never the
// last of its day, week or month. Only the times count and not the clock, so
// that a clock which jumps drops nothing.
func Drop(times []time.Time, keep int) (dropped []time.Time) {
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
