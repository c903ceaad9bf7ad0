package osutil

import (
	"os"
	"runtime"
	"strings"
)

// FoldersOfDisks are the folders that contain the mount points of removable disks. Windows has
// none: without its disk a drive letter does not exist.
var FoldersOfDisks = map[string][]string{"linux": {"/mnt", "/media", "/run/media"}, "darwin": {"/Volumes"}}[runtime.GOOS]

// mount is a line of mountinfo.
type mount struct{ number, point, kind, source string }

// mounts returns the mounts that this process sees, in order. There are none on other systems.
func mounts() []mount {
	text, _ := os.ReadFile("/proc/self/mountinfo")
	return parseMounts(string(text))
}

func parseMounts(mountinfo string) (all []mount) {
	for line := range strings.Lines(mountinfo) {
		before, after, _ := strings.Cut(line, " - ")
		fields, kind := strings.Fields(before), strings.Fields(after)
		if len(fields) > 4 && len(kind) > 1 {
			all = append(all, mount{fields[2], unescape.Replace(fields[4]), kind[0], unescape.Replace(kind[1])})
		}
	}
	return all
}

// UnmountedAutomounts returns the mount points of autofs that have no disk mounted now. Linux mounts
// a disk there at the first access.
func UnmountedAutomounts() []string { return automounts(mounts()) }

func automounts(all []mount) (found []string) {
	last := map[string]bool{} // the last mount at a point hides the earlier ones
	for _, m := range all {
		last[m.point] = m.kind == "autofs"
	}
	for point, isAutofs := range last {
		if isAutofs {
			found = append(found, point)
		}
	}
	return found
}

// MountPoints returns the mount points of all disks, by the name of the disk (/dev/sdb1) and by its
// number (8:17). The root file system may have only the number.
func MountPoints() map[string][]string {
	found := map[string][]string{}
	for _, m := range mounts() {
		found[m.number] = append(found[m.number], m.point)
		found[m.source] = append(found[m.source], m.point)
	}
	return found
}

var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
