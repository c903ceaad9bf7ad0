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

func mountPoints(fstab string) (found []string) {
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\134`, `\`)
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
