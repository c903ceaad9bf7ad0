package managers

import "strings"

// errorInLog returns the last error in a log, and what to type then, a line each. Both
// are empty if there is none.
func errorInLog(log string) (found, hint string) {
	for line := range strings.Lines(log) {
		line = strings.TrimSpace(line)
		if text, ok := strings.CutPrefix(line, "Error: "); ok {
			found, hint = text, ""
		} else if text, ok := strings.CutPrefix(line, "Try: "); ok && found != "" && hint == "" {
			hint = text
		}
	}
	return found, hint
}
