//go:build !windows && !darwin

package managers

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// A backup disk is mounted as follows. A udev rule gives every chosen disk the same device name.
// The rule matches the UUID of the file system, so several sticks can be used in turn, and another
// stick with the same label is never used. While a disk is connected, a systemd automount mounts
// it on access and unmounts it after diskIdle, so that it can be unplugged at almost any time.
// Without a disk, the mount point is an empty folder that the service cannot write to.
const (
	diskFolder    = "/mnt/backup-disk"
	diskLink      = "disk/firefighters" // below /dev
	diskDevice    = "dev-disk-firefighters.device"
	diskMount     = `mnt-backup\x2ddisk.mount` // the escaped name of diskFolder
	diskAutomount = `mnt-backup\x2ddisk.automount`
	diskRules     = "/etc/udev/rules.d/90-firefighters.rules"
	diskIdle      = "20" // seconds; less than the service's interval between checks
)

// diskFiles are the files that Attach writes, in this order.
var diskFiles = []string{diskRules, unitPath(diskAutomount), unitPath(diskMount)}

func unitPath(unit string) string { return filepath.Join(filepath.Dir(unitFile), unit) }

// fileSystems are the supported file systems. The value reports whether files have owners.
var fileSystems = map[string]bool{"ext2": true, "ext3": true, "ext4": true, "xfs": true, "btrfs": true,
	"vfat": false, "exfat": false, "ntfs": false}

// leastDisk is the smallest disk in bytes. It excludes card readers without a card.
const leastDisk = 16 << 20

// block is a disk or partition in the output of lsblk.
type block struct {
	Name, Type, FSType, Label, UUID, Model, Mountpoint string
	Number                                             string `json:"maj:min"`
	Size                                               json.Number
	Children                                           []block
}

// Disks returns the connected disks, except the disks of the system and of the data. It needs no rights.
func (h Host) Disks(data string) ([]Disk, error) {
	text, err := system("lsblk", "--json", "--bytes", "--paths", "--output", "NAME,TYPE,SIZE,FSTYPE,LABEL,UUID,MODEL,MOUNTPOINT,MAJ:MIN")
	if err != nil {
		return nil, err
	}
	found, err := parseDisks([]byte(text), data, osutil.MountPoints())
	chosen := h.chosenDisks()
	for i, d := range found {
		if d.Folder = d.mounted; slices.Contains(chosen, d.id) {
			d.Folder = diskFolder
		}
		found[i] = d.withFree()
	}
	return found, err
}

// parseDisks parses the output of lsblk. It skips a disk if any of its partitions belongs to the
// system or holds the data. mounts is the result of osutil.MountPoints: of several mount points of a disk,
// such as the folders that the unit lets the service write to, lsblk reports one.
func parseDisks(text []byte, data string, mounts map[string][]string) (found []Disk, err error) {
	var output struct{ Blockdevices []block }
	if err := json.Unmarshal(text, &output); err != nil {
		return nil, fmt.Errorf("lsblk: %w", err)
	}
	for _, whole := range output.Blockdevices {
		if size, _ := whole.Size.Int64(); size >= leastDisk && whole.Type != "loop" && whole.Type != "rom" && !whole.holds(data, mounts) {
			found = whole.parts(found, whole.Model)
		}
	}
	return found, nil
}

// holds reports whether b or a part of it holds the data, or is mounted outside the folders for
// removable disks.
func (b block) holds(data string, mounts map[string][]string) bool {
	holds := func(mount string) bool {
		return mount != "" && (!within(mount, unitWrites[1:]) || within(data, []string{mount}))
	}
	return slices.ContainsFunc(slices.Concat([]string{b.Mountpoint}, mounts[b.Name], mounts[b.Number]), holds) ||
		slices.ContainsFunc(b.Children, func(child block) bool { return child.holds(data, mounts) })
}

// parts appends the partitions of b, or b itself if it has none. A RAID appears below each of its
// disks, but is added once.
func (b block) parts(found []Disk, model string) []Disk {
	for _, child := range b.Children {
		found = child.parts(found, model)
	}
	if len(b.Children) > 0 || slices.ContainsFunc(found, func(d Disk) bool { return d.Name == b.Name }) {
		return found
	}
	bytes, _ := b.Size.Int64()
	d := Disk{Name: b.Name, Label: b.Label, FileSystem: b.FSType, Bytes: bytes,
		Model: strings.TrimSpace(model), id: b.UUID, mounted: b.Mountpoint}
	_, usable := fileSystems[d.FileSystem]
	switch {
	case d.FileSystem == "":
		d.Unfit = "it has no file system: format it as exFAT or ext4, which erases everything on it"
	case !usable:
		d.Unfit = "it has no file system for backups: format it as exFAT or ext4, which erases everything on it"
	case !validID().MatchString(d.id):
		d.Unfit = "its file system has no UUID: format it again, which erases everything on it"
	}
	return append(found, d)
}

// validID matches UUIDs that are safe in a udev rule.
var validID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9A-Za-z-]{4,64}$`) })

// Is reports whether name refers to the disk: /dev/sdb1 or sdb1.
func (d Disk) Is(name string) bool { return d.Name == name || d.Name == "/dev/"+name }

// Attach makes a disk available to the service whenever the disk is connected, and returns the
// folder of the disk. It returns ErrDiskUsed or ErrMount if the system cannot do that.
func (h Host) Attach(d Disk) (folder string, steps []string, err error) {
	if err := h.own(); err != nil {
		return "", nil, err
	}
	folder = h.path(diskFolder)
	if !osutil.Exists(h.path(unitPath(diskMount))) && osutil.IsMountPoint(folder) {
		return "", nil, fmt.Errorf("%w: another disk is mounted at %s", ErrDiskUsed, folder)
	}
	options, err := h.diskOptions(d)
	if err != nil {
		return "", nil, err
	}
	systemctl("stop", diskAutomount, diskMount) // fails the first time and without a disk
	if steps, err = unmount(d); err != nil {
		return "", steps, err
	}
	wrote, err := h.writeDisk(d, options)
	steps = append(steps, wrote...)
	if err != nil {
		return "", steps, err
	}
	for _, command := range [][]string{
		{"systemctl", "daemon-reload"}, {"systemctl", "enable", diskAutomount},
		{"udevadm", "control", "--reload"}, {"udevadm", "trigger", "--action=change", d.Name}, {"udevadm", "settle"},
	} {
		if _, err := system(command[0], command[1:]...); err != nil {
			return "", steps, err
		}
	}
	for _, unit := range []string{diskAutomount, diskMount} {
		if _, err := systemctl("start", unit); err != nil {
			return "", steps, fmt.Errorf("%w: %v", ErrMount, err)
		}
	}
	return folder, append(steps, fmt.Sprintf("systemd mounts %s at %s when the service needs it.", d.Name, diskFolder)), nil
}

// unmount unmounts a disk that the desktop mounted for one user.
func unmount(d Disk) (steps []string, err error) {
	if d.mounted == "" || d.mounted == diskFolder { // systemctl has unmounted it
		return nil, nil
	}
	if _, err := system("umount", d.mounted); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrDiskUsed, err)
	}
	return []string{fmt.Sprintf("Unmounted %s from %s.", d.Name, d.mounted)}, nil
}

// diskOptions returns the mount options. On a file system without owners, all files belong to the
// service.
func (h Host) diskOptions(d Disk) (string, error) {
	options := "nosuid,nodev,noexec"
	if fileSystems[d.FileSystem] {
		return options, nil
	}
	owner, err := lookUpAccount(h.user())
	return fmt.Sprintf("%s,uid=%d,gid=%d,umask=077", options, owner.uid, owner.gid), err
}

// writeDisk writes the units and the rule. It keeps the disks that were chosen before, unless
// they need other mount options.
func (h Host) writeDisk(d Disk, options string) (steps []string, err error) {
	ids, mount := h.chosenDisks(), mountUnit(options)
	if old, _ := os.ReadFile(h.path(unitPath(diskMount))); len(ids) > 0 && string(old) != mount {
		ids = nil
		steps = append(steps, "The previous disk is no longer used. To use several disks, choose disks with the same kind of file system.")
	}
	if !slices.Contains(ids, d.id) {
		ids = append(ids, d.id)
	}
	// The mount unit comes last: after a crash in between, its old options still differ.
	texts := []string{rulesFor(ids), automountUnit, mount}
	for i, path := range diskFiles {
		if _, err := writeOrRemove(h.path(path), texts[i]); err != nil {
			return steps, err
		}
	}
	if len(ids) > 1 {
		steps = append(steps, fmt.Sprintf("Backups now use any of %d disks. Connect one at a time.", len(ids)))
	}
	return steps, nil
}

var ruleID = regexp.MustCompile(`(?m)^SUBSYSTEM.*ENV\{ID_FS_UUID\}=="([0-9A-Za-z-]+)"`)

// chosenDisks returns the UUIDs in the udev rules.
func (h Host) chosenDisks() (ids []string) {
	text, _ := os.ReadFile(h.path(diskRules))
	for _, found := range ruleID.FindAllSubmatch(text, -1) {
		ids = append(ids, string(found[1]))
	}
	return ids
}

// rulesFor returns the udev rules that give the disks their common name. The rules also keep the
// desktop from mounting a disk for one user.
func rulesFor(ids []string) string {
	rules := "# Created by firefighters service backup-disk: the backup disks of the service.\n"
	for _, id := range ids {
		rules += fmt.Sprintf("SUBSYSTEM==\"block\", ENV{ID_FS_UUID}==\"%s\", SYMLINK+=\"%s\", ENV{UDISKS_IGNORE}=\"1\"\n", id, diskLink)
	}
	return rules
}

const diskUnit = `# Created by firefighters service backup-disk.
[Unit]
Description=Backup disk of the Firefighter Records Service
Documentation=https://github.com/firefighter-records/firefighters
BindsTo=` + diskDevice + `
After=` + diskDevice + `
StartLimitIntervalSec=0
`

const automountUnit = diskUnit + `
[Automount]
Where=` + diskFolder + `
TimeoutIdleSec=` + diskIdle + `

[Install]
WantedBy=` + diskDevice + `
`

// mountUnit returns the unit that mounts a disk. LazyUnmount unmounts an unplugged disk even if
// a program has a file open.
func mountUnit(options string) string {
	return diskUnit + `
[Mount]
What=/dev/` + diskLink + `
Where=` + diskFolder + `
Options=` + options + `
LazyUnmount=yes
TimeoutSec=60
`
}
