package osutil

import (
	"os"
	"runtime"
	"strings"
)

// FoldersOfDisks are the folders that contain the mount points of removable disks. Windows has
// none: without its disk a drive letter does not exist.
var FoldersOfDisks = map[string][]string{"linux": {"/mnt", "/media", "/run/media"}, "darwin": {"/Volumes"}}[runtime.GOOS]

// UnmountedAutomounts returns the mount points of autofs that have no disk mounted now. Linux mounts
// a disk there at the first access.
func UnmountedAutomounts() []string {
	text, _ := os.ReadFile("/proc/self/mountinfo") // missing on other systems
	return parseAutomounts(string(text))
}

func parseAutomounts(mountinfo string) (found []string) {
	last := map[string]bool{} // the last mount at a point hides the earlier ones
	for line := range strings.Lines(mountinfo) {
		mount, source, ok := strings.Cut(line, " - ")
		if fields := strings.Fields(mount); ok && len(fields) > 4 {
			last[unescape.Replace(fields[4])] = strings.HasPrefix(source, "autofs ")
		}
	}
	for point, isAutofs := range last {
		if isAutofs {
			found = append(found, point)
		}
	}
	return found
}

var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
