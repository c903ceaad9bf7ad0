package service

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	common "github.com/firefighter-records/firefighters/internal/commands/database"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

func (s Service) backupDiskCommand() *cobra.Command {
	return &cobra.Command{
		Use:        "backup-disk [DEVICE]",
		Short:      "List disks for backups, or put the backups on one",
		SuggestFor: []string{"disk", "disks", "usb", "stick"},
		Long: `List the disks for the backups of the service: all disks except those of the
system and of the database. With DEVICE, the service creates its backups in a
private folder on that disk, the first one immediately. Nothing on the disk is
deleted. Formatting a disk, which some need first, erases everything on it.

On Linux, the disk is mounted only when the service needs it, so you can unplug it
except during a backup. To alternate between two disks, choose the second disk in the
same way.`,
		Example: `  firefighters service backup-disk
  sudo firefighters service backup-disk sdb1`,
		RunE: func(cmd *cobra.Command, args []string) error { return s.backupDisk(cli.EnvOf(cmd), args) },
	}
}

func (s Service) backupDisk(env cli.Env, args []string) error {
	o, err := s.readOptions()
	if err != nil { // useDisk reports it
		o.DB = managers.DatabaseIn(s.data())
	}
	disks, err := s.Host.Disks(osutil.Resolve(o.DB))
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return listDisks(env, disks)
	}
	disk, err := chooseDisk(disks, args[0])
	if err != nil {
		return err
	}
	state, err := s.changeable()
	if err != nil {
		return err
	}
	return s.useDisk(env, disk, state.Running)
}

func listDisks(env cli.Env, disks []managers.Disk) error {
	if len(disks) == 0 {
		return errors.New("no disk for backups is connected")
	}
	lines := []string{"Disks for backups:", ""}
	fit := ""
	for _, d := range disks {
		line := fmt.Sprintf("  %-14s %8s  %-8s %s", d.Name, sizeOf(d.Bytes), d.FileSystem, strings.TrimSpace(d.Label+"  "+d.Model))
		lines = append(lines, strings.TrimRight(line, " "))
		if d.Unfit != "" {
			lines = append(lines, "                 cannot be used: "+d.Unfit)
		} else if fit == "" {
			fit = d.Name
		}
	}
	if fit != "" {
		lines = append(lines, "", "To use one: "+cli.AsAdministrator(cli.Typed()+" service backup-disk "+cli.Quote(fit)))
	}
	return printAll(env, append(lines, aboutVolumes()...))
}

func sizeOf(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f GB", float64(bytes)/1e9)
}

// aboutVolumes returns the instructions for removable disks on macOS.
func aboutVolumes() []string {
	if runtime.GOOS != "darwin" {
		return nil
	}
	return []string{"",
		"macOS does not let services use removable disks. Allow it: System Settings, Privacy & Security, Full Disk Access, then",
		"+, Cmd-Shift-G and /usr/local/bin/firefighters. Repeat this after each upgrade. macOS mounts disks when someone signs in.",
		"Or keep the backups on this Mac and copy them with Time Machine."}
}

func chooseDisk(disks []managers.Disk, name string) (managers.Disk, error) {
	at := slices.IndexFunc(disks, func(d managers.Disk) bool { return d.Is(name) })
	if at < 0 {
		err := fmt.Errorf("no disk %s for backups: it is not connected, or holds the system or the database", cli.Quote(name))
		return managers.Disk{}, cli.WithHint(err, cli.Typed()+" service backup-disk")
	}
	if disk := disks[at]; disk.Unfit != "" {
		return disk, fmt.Errorf("%s cannot hold backups: %s", disk.Name, disk.Unfit)
	}
	return disks[at], nil
}

// useDisk configures the service to store its backups on a disk.
func (s Service) useDisk(env cli.Env, disk managers.Disk, isRunning bool) error {
	folder, steps, err := s.Host.Attach(disk)
	printAll(env, steps)
	if errors.Is(err, managers.ErrMount) && disk.FileSystem == "ntfs" {
		return cli.WithHint(err, "sudo apt install ntfs-3g")
	}
	if err != nil {
		return err
	}
	dir := filepath.Join(folder, backup.OwnFolder)
	if o, err := s.readOptions("--backup-dir=" + dir); err == nil {
		again := "firefighters service install --backup-dir " + cli.Quote(dir)
		if err := s.refuseBegin(env.Context, o, "firefighters", again, isRunning); err != nil {
			return err
		}
	}
	if err := s.Host.Share(dir); err != nil {
		return folderError(dir, err)
	}
	if err := s.saveOn(env, dir); err != nil {
		return err
	}
	_, cmd := installFlags()
	if err := cmd.Flags().Set("backup-dir", dir); err != nil {
		return err
	}
	if err := s.install(env, cmd); err != nil {
		return err
	}
	return printAll(env, aboutVolumes())
}

// saveOn creates the first backup, so that problems are reported before the settings change.
func (s Service) saveOn(env cli.Env, dir string) error {
	o, err := s.readOptions("--backup-dir=" + dir)
	if err != nil {
		return err
	}
	progress := env.StartProgress("Creating a backup")
	saved, err := backup.SaveNow(env.Context, s.Format, o.DB, o.Backups)
	progress.End()
	if env.Context.Err() != nil {
		return cli.Unfinished("Stopped. No backup was created.", "")
	}
	if err != nil {
		return fmt.Errorf("no backup could be created in %s, so the settings were not changed: %v", cli.Quote(dir), err)
	}
	return env.Println(fmt.Sprintf("Created and checked a backup: %s, %s.", common.Describe(saved.Summary), cli.FormatBytes(saved.Bytes)))
}
