package xlsx

import (
	"math"
	"strconv"
	"time"
)

// Day returns the day that a number in a cell means, as 1990-05-15, or with its time
// as 1990-05-15T08:30:00. The system that counts from 1900 has a 29 February
// 1900, number 60, which never was. It is no day here.
func Day(serial string, date1904 bool) (date string, ok bool) {
	const day = 24 * 60 * 60
	days, err := strconv.ParseFloat(serial, 64)
	if err != nil || !(days >= 0 && days < 3_000_000) {
		return "", false
	}
	seconds := int64(math.Round(days * day))
	epoch := time.Date(1899, time.December, 30, 0, 0, 0, 0, time.UTC)
	switch {
	case date1904:
		epoch = time.Date(1904, time.January, 1, 0, 0, 0, 0, time.UTC)
	case seconds < day, seconds/day == 60:
		return "", false
	case seconds < 60*day:
		epoch = epoch.AddDate(0, 0, 1)
	}
	at := epoch.AddDate(0, 0, int(seconds/day)).Add(time.Duration(seconds%day) * time.Second)
	layout := "2006-01-02T15:04:05"
	if seconds%day == 0 {
		layout = time.DateOnly
	}
	return at.Format(layout), at.Year() <= 9999
}
