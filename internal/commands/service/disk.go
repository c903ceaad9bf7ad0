package service

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

const backupDiskHelp = `Usage: firefighters service backup-disk [DEVICE]

Lists the disks that can hold the backups of the service: all but those of the
system and of the records. With the device of one, the service makes its backups
there from then on, in a folder that it alone can read, and the first one at
once.

  firefighters service backup-disk
  firefighters service backup-disk DEVICE

On Linux the disk is mounted for the service whenever it is connected, and may
be pulled out at any time but during a backup. Choose a second one in the same
way, and the two take turns. Nothing on a disk is deleted.
`

// backupFolder is the name of the folder for backups on a disk.
const backupFolder = "firefighters"

func (s Service) backupDisk(env cli.Env, args []string) error {
	flags := env.Flags("service backup-disk", backupDiskHelp)
	if err := env.Parse(flags, args, 1); err != nil {
		return err
	}
	settings, settingsErr := managers.ReadSettings(s.data())
	o, err := s.options(env, settings)
	if settingsErr != nil || err != nil { // not for everybody to read, or wrong: installing says so
		o.DB = managers.DatabaseIn(s.data())
	}
	disks, err := s.Host.Disks(osutil.Resolve(o.DB))
	if err != nil {
		return s.explain(err, "service backup-disk")
	}
	if flags.NArg() == 0 {
		return listDisks(env, disks)
	}
	disk, err := chooseDisk(disks, flags.Arg(0))
	if err != nil {
		return err
	}
	state, err := s.Host.Current()
	switch {
	case err != nil:
	case !state.Installed:
		err = managers.ErrNotInstalled
	case !s.Host.Permitted():
		err = managers.ErrNotPermitted
	default:
		err = s.useDisk(env, disk)
	}
	return s.explain(err, "service backup-disk "+cli.Quote(flags.Arg(0)))
}

// listDisks prints the disks, and what to type.
func listDisks(env cli.Env, disks []managers.Disk) error {
	if len(disks) == 0 {
		return cli.WithHint(errors.New("no disk is connected but that of the system and of the records"), "connect one, and then the same again")
	}
	lines := []string{"Disks for the backups:", ""}
	fit := ""
	for _, d := range disks {
		line := fmt.Sprintf("  %-14s %8s  %-8s %s", d.Name, sizeOf(d.Bytes), d.FileSystem, strings.TrimSpace(d.Label+"  "+d.Model))
		lines = append(lines, strings.TrimRight(line, " "))
		if d.Unfit != "" {
			lines = append(lines, "                 not this one: "+d.Unfit)
		} else if fit == "" {
			fit = d.Name
		}
	}
	if fit != "" {
		lines = append(lines, "", "To use one, as the first: "+cli.AsAdministrator(typed()+" service backup-disk "+cli.Quote(fit)))
	}
	return sayAll(env, append(lines, aboutVolumes()...))
}

// sizeOf writes a size as those who sell disks do.
func sizeOf(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f GB", float64(bytes)/1e9)
}

// aboutVolumes says what macOS keeps from a service.
func aboutVolumes() []string {
	if runtime.GOOS != "darwin" {
		return nil
	}
	return []string{"",
		"macOS keeps removable disks from services. Let this one in: System Settings, Privacy & Security, Full Disk Access,",
		"then +, Cmd-Shift-G, and /usr/local/bin/firefighters; once more after each upgrade. Disks are mounted when somebody",
		"signs in. Without all that, Time Machine copies the backups that stay on this Mac."}
}

func chooseDisk(disks []managers.Disk, name string) (managers.Disk, error) {
	at := slices.IndexFunc(disks, func(d managers.Disk) bool { return d.Is(name) })
	if at < 0 {
		return managers.Disk{}, cli.WithHint(fmt.Errorf("no disk %s can hold backups: it is not connected, or it is one of the system or of the records", cli.Quote(name)),
			"see those that can: "+typed()+" service backup-disk")
	}
	if disk := disks[at]; disk.Unfit != "" {
		return disk, fmt.Errorf("%s cannot hold backups: %s", disk.Name, disk.Unfit)
	}
	return disks[at], nil
}

// useDisk makes the service have its backups on a disk.
func (s Service) useDisk(env cli.Env, disk managers.Disk) error {
	folder, steps, err := s.Host.Attach(disk)
	if saidErr := sayAll(env, steps); err != nil || saidErr != nil {
		return diskError(disk, errors.Join(err, saidErr))
	}
	dir := filepath.Join(folder, backupFolder)
	if err := s.Host.Share(dir); err != nil {
		return folderError(dir, err)
	}
	if err := s.saveOn(env, dir); err != nil {
		return err
	}
	if err := s.install(env, []string{"--backup-dir", dir}); err != nil {
		return err
	}
	return sayAll(env, aboutVolumes())
}

// saveOn makes a backup before the service has to, so that what is wrong is said here.
func (s Service) saveOn(env cli.Env, dir string) error {
	settings, err := managers.ReadSettings(s.data())
	if err != nil {
		return err
	}
	o, err := s.options(env, settings.Merge(managers.Settings{"--backup-dir=" + dir}))
	if err != nil {
		return err
	}
	made, err := backup.SaveNow(env.Context, s.Content, o.DB, o.Backups)
	if err != nil {
		return cli.WithHint(fmt.Errorf("no backup could be made in %s: %s", cli.Quote(dir), backup.Reason(err)), "what the service had before is as it was: "+typed()+" service status")
	}
	return env.Println(fmt.Sprintf("Made a backup there, and checked it: %s, %s.", made.Text, cli.FormatBytes(made.Bytes)))
}

// diskError says what to do about a disk that the service cannot have.
func diskError(disk managers.Disk, err error) error {
	switch {
	case errors.Is(err, managers.ErrDiskUsed):
		return cli.WithHint(err, "close what is open on it, and then the same again")
	case errors.Is(err, managers.ErrMount) && disk.FileSystem == "ntfs":
		return cli.WithHint(err, "sudo apt install ntfs-3g, and then the same again")
	case errors.Is(err, managers.ErrMount):
		return cli.WithHint(err, "see why: sudo journalctl -n 20; a stick that is damaged is repaired by formatting it")
	}
	return err
}
