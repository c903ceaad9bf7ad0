//go:build !windows && !darwin

package managers

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// lsblk is the output of lsblk on a PC with the system on a RAID, the data on another disk, four
// USB sticks, a card reader without a card and a CD.
const lsblk = `{"blockdevices": [
{"name":"/dev/loop0","type":"loop","size":4096,"fstype":"squashfs","label":null,"uuid":null,"model":null,"mountpoint":"/snap/x"},
{"name":"/dev/sda","type":"disk","size":500107862016,"fstype":null,"label":null,"uuid":null,"model":"SYSTEM","mountpoint":null,"children":[
	{"name":"/dev/sda1","type":"part","size":100,"fstype":"vfat","label":null,"uuid":"AAAA-0001","model":null,"mountpoint":null},
	{"name":"/dev/sda2","type":"part","size":100,"fstype":"linux_raid_member","label":null,"uuid":"x","model":null,"mountpoint":null,"children":[
		{"name":"/dev/md0","type":"raid1","size":100,"fstype":"ext4","label":null,"uuid":"0d2e","model":null,"mountpoint":"/"}]}]},
{"name":"/dev/sdb","type":"disk","size":"64000000000","fstype":null,"label":null,"uuid":null,"model":"DATA","mountpoint":null,"children":[
	{"name":"/dev/sdb1","type":"part","size":"64000000000","fstype":"ext4","label":"records","uuid":"0d2f","model":null,"mountpoint":"/srv/records"}]},
{"name":"/dev/sdc","type":"disk","size":"16000000000","fstype":null,"label":null,"uuid":null,"model":"Ultra Fit ","mountpoint":null,"children":[
	{"name":"/dev/sdc1","type":"part","size":"15999999000","fstype":"vfat","label":"STICK","uuid":"1A2B-3C4D","model":null,"mountpoint":"/media/ana/STICK"},
	{"name":"/dev/sdc2","type":"part","size":"1000","fstype":"crypto_LUKS","label":null,"uuid":"0d30","model":null,"mountpoint":null}]},
{"name":"/dev/sdd","type":"disk","size":8000000000,"fstype":"ext4","label":"STICK","uuid":"6e4ff95f-f662-45ee-a82a-bdf44a2d0b75","model":"Blaze","mountpoint":null},
{"name":"/dev/sde","type":"disk","size":8000000000,"fstype":null,"label":null,"uuid":null,"model":null,"mountpoint":null},
{"name":"/dev/sdf","type":"disk","size":8000000000,"fstype":"exfat","label":null,"uuid":"x\",RUN+=\"y","model":null,"mountpoint":null},
{"name":"/dev/sdg","type":"disk","size":0,"fstype":null,"label":null,"uuid":null,"model":"Card Reader","mountpoint":null},
{"name":"/dev/sr0","type":"rom","size":1073741312,"fstype":"iso9660","label":"CD","uuid":"2026-01-01","model":null,"mountpoint":null}
]}`

// TestParseDisks checks that the disks of the system and the data are excluded, and that disks
// that cannot hold backups have a reason.
func TestParseDisks(t *testing.T) {
	t.Parallel()
	// To the service, /mnt is a mount point of the disk of the system.
	service := strings.Replace(lsblk, `"mountpoint":"/"`, `"mountpoint":"/mnt","maj:min":"9:0"`, 1)
	found, err := parseDisks([]byte(service), "/srv/records/x.db", map[string][]string{"9:0": {"/", "/mnt"}})
	must(t, err)
	var names []string
	for _, d := range found {
		reason, _, _ := strings.Cut(d.Unfit, ":")
		names = append(names, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", d.Name, d.Label, d.Model, reason)))
	}
	want := []string{"/dev/sdc1 STICK Ultra Fit", "/dev/sdc2  Ultra Fit it has no file system for backups", "/dev/sdd STICK Blaze",
		"/dev/sde   it has no file system", "/dev/sdf   its file system has no UUID"}
	if !slices.Equal(names, want) {
		t.Errorf("got\n%q, want\n%q", names, want)
	}
	if found[0].Bytes != 15999999000 || found[0].FileSystem != "vfat" || found[0].mounted != "/media/ana/STICK" {
		t.Errorf("%+v", found[0])
	}
	if _, err := parseDisks([]byte("lsblk: nothing"), "", nil); err == nil {
		t.Error("no error for invalid output")
	}
	for name, want := range map[string]bool{"/dev/sdc1": true, "sdc1": true, "sdd": false, "": false, "/dev/": false} {
		if found[0].Is(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

// FuzzParseDisks checks that no content of a disk can inject a udev rule.
func FuzzParseDisks(f *testing.F) {
	f.Add([]byte(lsblk), "/srv/records/x.db")
	f.Fuzz(func(t *testing.T, text []byte, data string) {
		found, err := parseDisks(text, data, nil)
		if err != nil && found != nil || err == nil && !json.Valid(text) {
			t.Errorf("%+v, %v", found, err)
		}
		for _, d := range found {
			if rules := rulesFor([]string{d.id}); d.Unfit == "" && (strings.Count(rules, "\n") != 2 || strings.Count(rules, `"`) != 8) {
				t.Errorf("%+v: %s", d, rules)
			}
		}
	})
}

// diskHost is newHost with udevadm and umount.
func diskHost(t *testing.T) (h Host, in func(name string) string, calls func() string) {
	t.Helper()
	h, in, calls = newHost(t)
	me, err := user.Current()
	must(t, err)
	h.User = me.Username
	for _, tool := range []string{"udevadm", "umount"} {
		script, err := os.ReadFile(in("journalctl"))
		must(t, err)
		must(t, os.WriteFile(in(tool), []byte(strings.NewReplacer("journalctl", tool, "/log", "/"+tool+"-output").Replace(string(script))), 0o700))
	}
	return h, in, calls
}

// TestAttach checks the units and rules of a first disk, a second disk that alternates with it,
// and a third that replaces both because it has another kind of file system. Uninstall removes all.
func TestAttach(t *testing.T) {
	h, in, calls := diskHost(t)
	own := fmt.Sprintf("Options=nosuid,nodev,noexec,uid=%d,gid=%d,umask=077\n", os.Getuid(), os.Getgid())
	fat, other := Disk{Name: "/dev/sdc1", FileSystem: "vfat", id: "1A2B-3C4D", mounted: "/media/ana/STICK"}, Disk{Name: "/dev/sdd1", FileSystem: "exfat", id: "AAAA-0001"}
	linux := Disk{Name: "/dev/sde1", FileSystem: "ext4", id: "6e4ff95f-f662-45ee-a82a-bdf44a2d0b75"}
	for _, tt := range []struct {
		disk     Disk
		options  string
		ids      []string
		steps    int
		contains string
	}{
		{fat, own, []string{fat.id}, 2, "Unmounted /dev/sdc1 from /media/ana/STICK."},
		{other, own, []string{fat.id, other.id}, 2, "Backups now use any of 2 disks."},
		{other, own, []string{fat.id, other.id}, 2, "Backups now use any of 2 disks."},
		{linux, "Options=nosuid,nodev,noexec\n", []string{linux.id}, 2, "The previous disk is no longer used."},
	} {
		folder, steps, err := h.Attach(tt.disk)
		if err != nil || folder != h.path("/mnt/backup-disk") || len(steps) != tt.steps || !strings.Contains(strings.Join(steps, "\n"), tt.contains) {
			t.Errorf("%s: %s, %q, %v", tt.disk.Name, folder, steps, err)
		}
		if unit := content(h.path(unitPath(diskMount))); !strings.Contains(unit, tt.options) || content(h.path(unitPath(diskAutomount))) != automountUnit {
			t.Errorf("%s: %s", tt.disk.Name, unit)
		}
		if got := h.chosenDisks(); !slices.Equal(got, tt.ids) {
			t.Errorf("%s: the chosen disks are %q", tt.disk.Name, got)
		}
	}
	want := `systemctl stop mnt-backup\x2ddisk.automount mnt-backup\x2ddisk.mount
umount /media/ana/STICK
systemctl daemon-reload
systemctl enable mnt-backup\x2ddisk.automount
udevadm control --reload
udevadm trigger --action=change /dev/sdc1
udevadm settle
systemctl start mnt-backup\x2ddisk.automount
systemctl start mnt-backup\x2ddisk.mount
`
	if got := calls(); !strings.HasPrefix(got, want) {
		t.Errorf("got the calls\n%s, want\n%s", got, want)
	}
	for failing, want := range map[string]error{"umount-output": ErrDiskUsed, "start": ErrMount} {
		write(t, in(failing+".fails"), "")
		if _, _, err := h.Attach(fat); !errors.Is(err, want) || !strings.Contains(err.Error(), "it fails") {
			t.Errorf("%s fails: %v", failing, err)
		}
		must(t, os.Remove(in(failing+".fails")))
	}
	if steps, err := h.Uninstall(""); err != nil || len(steps) != 1+len(diskFiles) {
		t.Errorf("Uninstall: %q, %v", steps, err)
	}
	for _, file := range diskFiles {
		if osutil.Exists(h.path(file)) {
			t.Errorf("%s remains", file)
		}
	}
}

// TestDiskUnits checks that systemd accepts the units.
func TestDiskUnits(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	folder := t.TempDir()
	for unit, text := range map[string]string{diskMount: mountUnit("nosuid,uid=1"), diskAutomount: automountUnit} {
		write(t, filepath.Join(folder, unit), text)
	}
	out, err := exec.Command(analyze, "verify", "--man=no", filepath.Join(folder, diskMount), filepath.Join(folder, diskAutomount)).CombinedOutput()
	if err != nil || strings.Contains(string(out), "backup") {
		t.Errorf("%v, %s", err, out)
	}
}
