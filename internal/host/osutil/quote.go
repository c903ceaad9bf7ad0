package osutil

import (
	"regexp"
	"runtime"
	"strings"
)

// Quote quotes an argument for the shell of this system.
func Quote(text string) string {
	switch {
	case runtime.GOOS == "windows" && (text == "" || strings.ContainsAny(text, " \t\n\r'\"&|;<>()$*?#~`")):
		return quoteForWindows(text)
	case runtime.GOOS == "windows", text != "" && !strings.ContainsAny(text, " \t\n\r'\"&|;<>()[]{}!$*?#~`\\"):
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// quoteForWindows quotes an argument for Windows programs, for which a backslash is special only
// before a quotation mark.
func quoteForWindows(text string) string {
	text = untilMark.ReplaceAllString(text+`"`, `$1$1\"`)
	return `"` + strings.TrimSuffix(text, `\"`) + `"`
}

var untilMark = regexp.MustCompile(`(\\*)"`)
