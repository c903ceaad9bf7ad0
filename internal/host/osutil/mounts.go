package osutil

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// FoldersOfDisks are the folders below which disks are mounted that come and go.
// Windows has none: a drive that is away has no folder at all.
var FoldersOfDisks = map[string][]string{"linux": {"/mnt", "/media", "/run/media"}, "darwin": {"/Volumes"}}[runtime.GOOS]

// MountPoints returns where Linux mounts disks when they are there, by /etc/fstab. That
// of the system itself is not among them.
func MountPoints() []string { return mountPoints(ofLinux("/etc/fstab")) }

// Mounted returns what is mounted now, by the kernel of Linux, except the system itself.
func Mounted() []string { return mounted(ofLinux("/proc/self/mountinfo")) }

// ofLinux returns the text of a file, empty without it and on another system.
func ofLinux(file string) string {
	if runtime.GOOS != "linux" {
		return ""
	}
	text, _ := os.ReadFile(file)
	return string(text)
}

// Asleep returns where Linux mounts a disk as soon as somebody looks, and has none mounted
// now (autofs).
func Asleep() []string { return asleep(ofLinux("/proc/self/mountinfo")) }

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

func mounted(mountinfo string) (found []string) {
	for line := range strings.Lines(mountinfo) {
		if fields := strings.Fields(line); len(fields) > 4 && fields[4] != "/" {
			found = append(found, unescape.Replace(fields[4]))
		}
	}
	return found
}

var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

func mountPoints(fstab string) (found []string) {
	for line := range strings.Lines(fstab) {
		fields := strings.Fields(line)
		if len(fields) < 2 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if point := filepath.Clean(unescape.Replace(fields[1])); filepath.IsAbs(point) && point != "/" {
			found = append(found, point)
		}
	}
	return found
}
