package cli

import (
	"fmt"
	"runtime"
	"strings"
	"time"
)

// lastMilli is the last millisecond of the year 9999, the latest that RFC 3339 has.
const lastMilli = 253_402_300_799_999

// FormatTime writes a time in milliseconds since 1970 to the second, in UTC.
// Zero is no time, and is "-". A time after the year 9999 is its last second.
func FormatTime(milliseconds int64) string {
	if milliseconds == 0 {
		return "-"
	}
	return time.UnixMilli(min(milliseconds, lastMilli)).UTC().Format(time.RFC3339)
}

// FormatBytes writes a number of bytes in megabytes (10⁶ bytes).
func FormatBytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }

// Count writes how many there are: "1 record", "2 records".
func Count[N int | int64](n N, one, many string) string {
	if n == 1 {
		many = one
	}
	return fmt.Sprint(n, " ", many)
}

// Quote writes the name of a file as it can be typed.
func Quote(path string) string {
	switch {
	case runtime.GOOS == "windows" && strings.ContainsAny(path, " \t'&|;<>()$*?#~`"), runtime.GOOS == "windows" && path == "":
		return `"` + path + `"`
	case runtime.GOOS == "windows", path != "" && !strings.ContainsAny(path, " \t\n\r'\"&|;<>()[]{}!$*?#~`\\"):
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
