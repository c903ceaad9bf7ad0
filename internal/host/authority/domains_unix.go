//go:build unix

package authority

import (
	"os"
	"strings"
)

// domains returns the domains in which this machine looks for names.
func domains() (all []string) {
	text, _ := os.ReadFile("/etc/resolv.conf") // no file: no domains
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 1 && (words[0] == "search" || words[0] == "domain") {
			all = append(all, words[1:]...)
		}
	}
	return all
}
