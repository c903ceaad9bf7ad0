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

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// How a disk for backups reaches the service. A rule of udev gives each disk that was
// chosen the same name, by the number of its file system (UUID), so that sticks may take
// turns, and no other stick that has the same label gets the records. As long as such a
// disk is connected, systemd waits at a folder, mounts the disk when somebody looks, and
// unmounts it when nobody has looked for a while. So a stick that is pulled out was
// unmounted long ago. While there is no disk, nothing waits for one: the folder is an
// empty one that the service cannot write to.
const (
	diskFolder    = "/mnt/backup-disk"
	diskLink      = "disk/firefighters" // below /dev
	diskDevice    = "dev-disk-firefighters.device"
	diskMount     = `mnt-backup\x2ddisk.mount` // as systemd wants it for the folder
	diskAutomount = `mnt-backup\x2ddisk.automount`
	diskRules     = "/etc/udev/rules.d/90-firefighters.rules"
	diskIdle      = "20" // seconds; less than the time between two looks of the service
)

// diskFiles are all that Attach writes, in this order.
var diskFiles = []string{diskRules, unitPath(diskAutomount), unitPath(diskMount)}

func unitPath(unit string) string { return filepath.Join(filepath.Dir(unitFile), unit) }

// fileSystems are those that can hold backups, and whether they keep owners of files.
var fileSystems = map[string]bool{"ext2": true, "ext3": true, "ext4": true, "xfs": true, "btrfs": true,
	"vfat": false, "exfat": false, "ntfs": false}

// leastDisk keeps out the drives without a disk in them, in bytes.
const leastDisk = 16 << 20

// block is what lsblk says of a disk or a part of one.
type block struct {
	Name, Type, FSType, Label, UUID, Model, Mountpoint string
	Size                                               json.Number
	Children                                           []block
}

// Disks returns the connected disks, except the disks of the system and of the data.
func (h Host) Disks(data string) ([]Disk, error) {
	text, err := system("lsblk", "--json", "--bytes", "--paths", "--output", "NAME,TYPE,SIZE,FSTYPE,LABEL,UUID,MODEL,MOUNTPOINT")
	if err != nil {
		return nil, err
	}
	return parseDisks([]byte(text), data)
}

// parseDisks reads what lsblk prints. It leaves out a whole disk that has a part of the
// system on it, or the data.
func parseDisks(text []byte, data string) (found []Disk, err error) {
	var known struct{ Blockdevices []block }
	if err := json.Unmarshal(text, &known); err != nil {
		return nil, fmt.Errorf("lsblk: %w", err)
	}
	for _, whole := range known.Blockdevices {
		if size, _ := whole.Size.Int64(); size >= leastDisk && whole.Type != "loop" && whole.Type != "rom" && !whole.holds(data) {
			found = whole.parts(found, whole.Model)
		}
	}
	return found, nil
}

// holds reports whether something is mounted of it that is not for disks that come and
// go, or that has the data.
func (b block) holds(data string) bool {
	mount := b.Mountpoint
	if mount != "" && (!within(mount, unitWrites[1:]) || within(data, []string{mount})) {
		return true
	}
	return slices.ContainsFunc(b.Children, func(child block) bool { return child.holds(data) })
}

// parts adds what has no parts itself.
func (b block) parts(found []Disk, model string) []Disk {
	for _, child := range b.Children {
		found = child.parts(found, model)
	}
	if len(b.Children) > 0 || slices.ContainsFunc(found, func(d Disk) bool { return d.Name == b.Name }) { // of several disks
		return found
	}
	bytes, _ := b.Size.Int64()
	d := Disk{Name: b.Name, Label: b.Label, FileSystem: b.FSType, Bytes: bytes,
		Model: strings.TrimSpace(model), id: b.UUID, mounted: b.Mountpoint}
	_, usable := fileSystems[d.FileSystem]
	switch {
	case d.FileSystem == "":
		d.Unfit = "it has no file system: format it, as exFAT or ext4"
	case !usable:
		d.Unfit = "it has no file system for backups: format it, as exFAT or ext4"
	case !validID.MatchString(d.id):
		d.Unfit = "its file system has no number (UUID): format it again"
	}
	return append(found, d)
}

// validID matches the numbers of file systems. They go into a rule of udev.
var validID = regexp.MustCompile(`^[0-9A-Za-z-]{4,64}$`)

// Is reports whether the disk has the name that was typed: /dev/sdb1 or sdb1.
func (d Disk) Is(typed string) bool { return d.Name == typed || d.Name == "/dev/"+typed }

// Attach lets the service reach a disk, in a folder, whenever the disk is connected.
func (h Host) Attach(d Disk) (folder string, steps []string, err error) {
	if err := h.own(); err != nil {
		return "", nil, err
	}
	folder = h.path(diskFolder)
	if !osutil.Exists(h.path(unitPath(diskMount))) && osutil.IsMountPoint(folder) {
		return "", nil, fmt.Errorf("%w: another one is mounted at %s", ErrDiskUsed, folder)
	}
	options, err := h.diskOptions(d)
	if err != nil {
		return "", nil, err
	}
	systemctl("stop", diskAutomount, diskMount) // which fails the first time, and later if there is no disk
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
	return folder, append(steps, fmt.Sprintf("%s is at %s whenever it is connected, for the service only.", d.Name, diskFolder)), nil
}

// unmount takes a disk from the desktop, which mounts it for one person.
func unmount(d Disk) (steps []string, err error) {
	if d.mounted == "" || d.mounted == diskFolder { // systemctl has unmounted it
		return nil, nil
	}
	if _, err := system("umount", d.mounted); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrDiskUsed, err)
	}
	return []string{fmt.Sprintf("Took %s from the desktop, which had it at %s.", d.Name, d.mounted)}, nil
}

// diskOptions returns how a disk is mounted. Where files have no owners all of them are
// the service's.
func (h Host) diskOptions(d Disk) (string, error) {
	options := "nosuid,nodev,noexec"
	if fileSystems[d.FileSystem] {
		return options, nil
	}
	owner, err := lookUpAccount(h.user())
	return fmt.Sprintf("%s,uid=%d,gid=%d,umask=077", options, owner.uid, owner.gid), err
}

// writeDisk writes the units and the rule. Disks that were chosen before stay, unless they
// need other options.
func (h Host) writeDisk(d Disk, options string) (steps []string, err error) {
	ids, mount := h.chosenDisks(), mountUnit(options)
	if old, _ := os.ReadFile(h.path(unitPath(diskMount))); len(ids) > 0 && string(old) != mount {
		ids = nil
		steps = append(steps, "The disk before is used no more: its file system is of another kind, and all that take turns must be of one.")
	}
	if !slices.Contains(ids, d.id) {
		ids = append(ids, d.id)
	}
	// The mount unit is last: its options say which disks the rules are for.
	texts := []string{rulesFor(ids), automountUnit, mount}
	for i, path := range diskFiles {
		if _, err := writeOrRemove(h.path(path), texts[i]); err != nil {
			return steps, err
		}
	}
	if len(ids) > 1 {
		steps = append(steps, fmt.Sprintf("Disks that take turns now: %d. Connect one at a time.", len(ids)))
	}
	return steps, nil
}

var ruleID = regexp.MustCompile(`(?m)^SUBSYSTEM.*ENV\{ID_FS_UUID\}=="([0-9A-Za-z-]+)"`)

// chosenDisks returns the numbers of the file systems that the rule names.
func (h Host) chosenDisks() (ids []string) {
	text, _ := os.ReadFile(h.path(diskRules))
	for _, found := range ruleID.FindAllSubmatch(text, -1) {
		ids = append(ids, string(found[1]))
	}
	return ids
}

// rulesFor returns the rules of udev that give the disks their common name. A desktop
// leaves them alone, because a disk that it has mounted for a person is that person's.
func rulesFor(ids []string) string {
	rules := "# Made by firefighters service backup-disk: the disks for the backups of the service.\n"
	for _, id := range ids {
		rules += fmt.Sprintf("SUBSYSTEM==\"block\", ENV{ID_FS_UUID}==\"%s\", SYMLINK+=\"%s\", ENV{UDISKS_IGNORE}=\"1\"\n", id, diskLink)
	}
	return rules
}

const diskUnit = `# Made by firefighters service backup-disk.
[Unit]
Description=Disk for the backups of the Firefighter Records Service
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

// mountUnit returns the unit that mounts a disk. A disk that was pulled out is unmounted
// although somebody may have a file of it open.
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
