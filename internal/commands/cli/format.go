package cli

import (
	"fmt"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"
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

// Quote writes the name of a file as it can be typed, in one line: a name with a line
// break in it must not look like a line of ours.
func Quote(path string) string {
	switch {
	case runtime.GOOS == "windows" && printable(path, "\t") != path: // no file there has such a name
		return `"` + printable(path, "\t") + `"`
	case printable(path, "\t") != path:
		return "$'" + escaped(path) + "'" // as bash and zsh read it
	case runtime.GOOS == "windows" && strings.ContainsAny(path, " \t'&|;<>()$*?#~`"), runtime.GOOS == "windows" && path == "":
		return `"` + path + `"`
	case runtime.GOOS == "windows", path != "" && !strings.ContainsAny(path, " \t\n\r'\"&|;<>()[]{}!$*?#~`\\"):
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// escaped writes a text for between $' and ', where a shell reads \n as a line break.
func escaped(text string) string {
	var safe strings.Builder
	for text != "" {
		r, n := utf8.DecodeRuneInString(text)
		switch char := text[:n]; {
		case char == "\n":
			safe.WriteString(`\n`)
		case char == `\`, char == "'":
			safe.WriteString(`\` + char)
		case hidden(r), r == utf8.RuneError && n == 1:
			for _, b := range []byte(char) {
				fmt.Fprintf(&safe, `\x%02x`, b)
			}
		default:
			safe.WriteString(char)
		}
		text = text[n:]
	}
	return safe.String()
}
