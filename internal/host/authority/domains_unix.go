//go:build unix

package authority

import (
	"os"
	"strings"
)

// domains returns the DNS search domains of this machine.
func domains() (all []string) {
	text, _ := os.ReadFile("/etc/resolv.conf")
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 1 && (words[0] == "search" || words[0] == "domain") {
			all = append(all, words[1:]...)
		}
	}
	return all
}
