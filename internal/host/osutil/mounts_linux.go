package osutil

import (
	"os"
	"path/filepath"
	"strings"
)

// FoldersOfDisks are the folders below which disks are mounted that come and go.
var FoldersOfDisks = []string{"/mnt", "/media", "/run/media"}

// MountPoints returns where the system mounts disks when they are there, by
// /etc/fstab. That of the system itself is not among them.
func MountPoints() []string {
	text, err := os.ReadFile("/etc/fstab")
	if err != nil {
		return nil
	}
	return mountPoints(string(text))
}

// Mounted returns what is mounted now, by the kernel, except the system itself.
func Mounted() []string {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	return mounted(string(text))
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
