package osutil

import (
	"os"
	"runtime"
	"strings"
)

// FoldersOfDisks are the folders below which disks are mounted that come and go.
// Windows has none: a drive that is away has no folder at all.
var FoldersOfDisks = map[string][]string{"linux": {"/mnt", "/media", "/run/media"}, "darwin": {"/Volumes"}}[runtime.GOOS]

// UnmountedAutomounts returns where Linux mounts a disk at the first access, and has none mounted now
// (autofs).
func UnmountedAutomounts() []string {
	text, _ := os.ReadFile("/proc/self/mountinfo") // other systems have none
	return asleep(string(text))
}

func asleep(mountinfo string) (found []string) {
	last := map[string]bool{} // what is mounted last at a point lies above the rest
	for line := range strings.Lines(mountinfo) {
		mount, source, ok := strings.Cut(line, " - ")
		if fields := strings.Fields(mount); ok && len(fields) > 4 {
			last[unescape.Replace(fields[4])] = strings.HasPrefix(source, "autofs ")
		}
	}
	for point, waits := range last {
		if waits {
			found = append(found, point)
		}
	}
	return found
}

var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
