package managers

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Host is a Mac with launchd.
type Host = launchd

// Account is the user that runs the service.
const Account = "_" + Name

// LogCommand returns the command line that prints the end of the service's log.
func LogCommand(follow bool) []string {
	if follow {
		return []string{"tail", "-n", "50", "-f", launchdLog}
	}
	return []string{"tail", "-n", "50", launchdLog}
}

func (h launchd) DataFolder() string     { return h.path("/Library/Application Support/Firefighters") }
func (h launchd) Packaged(string) string { return "" } // there is none for macOS
func (h launchd) Hides(string) bool      { return false }

// Prepare also creates the log file.
func (h launchd) Prepare(d Definition) (steps []string, err error) {
	owner, steps, err := h.prepare(d.Data, addUser)
	if err != nil {
		return steps, err
	}
	log, err := os.OpenFile(h.path(launchdLog), os.O_CREATE|os.O_WRONLY, 0o640)
	if err != nil {
		return steps, err
	}
	err = os.Lchown(h.path(launchdLog), owner.uid, owner.gid)
	return steps, errors.Join(err, log.Close())
}

// addUser creates a user and a group with the same ID.
func addUser() error {
	users, err := system("dscl", ".", "-list", "/Users", "UniqueID")
	if err != nil {
		return err
	}
	groups, err := system("dscl", ".", "-list", "/Groups", "PrimaryGroupID")
	if err != nil {
		return err
	}
	number := freeID(users + "\n" + groups)
	user, group := "/Users/"+Account, "/Groups/"+Account
	for _, entry := range [][]string{
		{group}, {group, "PrimaryGroupID", number}, {group, "Password", "*"},
		{user}, {user, "UniqueID", number}, {user, "PrimaryGroupID", number}, {user, "Password", "*"},
		{user, "UserShell", "/usr/bin/false"}, {user, "NFSHomeDirectory", "/var/empty"},
		{user, "RealName", "Firefighter Records Service"}, {user, "IsHidden", "1"},
	} {
		if _, err := system("dscl", append([]string{".", "-create"}, entry...)...); err != nil {
			return err
		}
	}
	return nil
}

// Firewall names the firewall of macOS, which is off unless someone turned it on.
func (h Host) Firewall(int) (name, command string) {
	const tool = "sudo /usr/libexec/ApplicationFirewall/socketfilterfw"
	program := osutil.Quote(h.InstalledProgram())
	return "macOS", tool + " --add " + program + " && " + tool + " --unblockapp " + program
}

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
		d := Disk{Name: folder, Folder: folder, Label: entry.Name(), Bytes: int64(info.Blocks) * int64(info.Bsize)}
		d.FileSystem = unix.ByteSliceToString(info.Fstypename[:])
		if info.Flags&unix.MNT_RDONLY != 0 {
			d.Unfit = "it is read-only"
		}
		found = append(found, d.withFree())
	}
	return found, err
}

// Is reports whether name is the path of the disk.
func (d Disk) Is(name string) bool { return d.Name == filepath.Clean(name) }

// Attach returns the path of the disk, which macOS mounts automatically.
func (h Host) Attach(d Disk) (folder string, steps []string, err error) { return d.Name, nil, nil }
