package managers

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// volumes is where macOS mounts disks. The startup disk has a link there.
const volumes = "/Volumes"

func (h Host) Disks(data string) (found []Disk, err error) {
	entries, err := os.ReadDir(volumes)
	for _, entry := range entries {
		folder := filepath.Join(volumes, entry.Name())
		var info unix.Statfs_t
		inUse := osutil.SameDisk(folder, volumes) || osutil.SameDisk(folder, filepath.Dir(data))
		if inUse || !entry.IsDir() || unix.Statfs(folder, &info) != nil {
			continue
		}
		d := Disk{Name: folder, Label: entry.Name(), Bytes: int64(info.Blocks) * int64(info.Bsize)}
		d.FileSystem = unix.ByteSliceToString(info.Fstypename[:])
		if info.Flags&unix.MNT_RDONLY != 0 {
			d.Unfit = "it is read-only"
		}
		found = append(found, d)
	}
	return found, err
}

// Is reports whether name is the path of the disk.
func (d Disk) Is(name string) bool { return d.Name == filepath.Clean(name) }

// Attach returns the path of the disk, which macOS mounts automatically.
func (h Host) Attach(d Disk) (folder string, steps []string, err error) { return d.Name, nil, nil }
