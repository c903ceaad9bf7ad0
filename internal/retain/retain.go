// Package retain says which of many backups to keep.
package retain

import (
	"fmt"
	"slices"
	"time"
)

// classes are the ages of a backup, from the newest on: what two backups have
// in common of which only the newer one is kept. The first class keeps all.
var classes = []func(time.Time) string{
	func(t time.Time) string { return t.Format(time.RFC3339Nano) },
	func(t time.Time) string { return t.Format(time.DateOnly) },
	func(t time.Time) string { year, week := t.ISOWeek(); return fmt.Sprint(year, "-", week) },
	func(t time.Time) string { return t.Format("2006-01") },
}

// Drop gives those of the times at which backups were made whose backups are
// to go, so that at most keep are left. A quarter of keep each is for the
// newest, then for daily ones, then weekly, then monthly ones; what does not
// divide is for the newest. The daily one is the last of its day, the weekly
// one the last of its week, the monthly one the last that is left of its
// month, all in UTC.
//
// A backup that is dropped would not have been kept later on: it is never the
// last of its day, week or month. Only the times count and not the clock, so
// that a clock which jumps drops nothing.
func Drop(times []time.Time, keep int) (drop []time.Time) {
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
			drop = append(drop, t)
			continue
		}
		left[class]--
	}
	return drop
}
