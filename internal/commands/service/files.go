package service

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/host/managers"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// checkPaths returns an error for files and folders of the flags given that the
// service could not use. It changes nothing.
func (in *installation) checkPaths() error {
	for _, flag := range []string{"db", "backup-dir", "tls-cert", "tls-key"} {
		path := in.given.Get(flag)
		if path != "" && in.Host.Hides(osutil.Resolve(path)) {
			return cli.WithHint(fmt.Errorf("--%s: %s is hidden from the service, as all home and temporary folders are", flag, osutil.InQuotes(path)),
				"a place below /mnt, /media or /srv, or for a certificate /etc/firefighters")
		}
	}
	if in.given.Get("tls-cert") == "" && in.given.Get("tls-key") == "" {
		return nil
	}
	if _, err := tls.LoadX509KeyPair(in.settings.Get("tls-cert"), in.settings.Get("tls-key")); err != nil {
		return cli.WithHint(fmt.Errorf("--tls-cert and --tls-key: %w", err), "name PEM files that belong together")
	}
	return nil
}

// checkFiles lets the service write to the folders of the flags given, and makes
// sure that it may read the files. About what was given before it only warns: a disk
// may be missing just now. It opens no folder to the service because of what stands in
// the file of the settings alone, which the service itself can change.
func (in *installation) checkFiles() error {
	for _, flag := range []string{"db", "backup-dir", "tls-cert", "tls-key"} {
		path := in.settings.Get(flag)
		if path == "" {
			continue
		}
		var err error
		trusted := in.trusts(flag)
		switch {
		case flag == "db" && trusted:
			err = in.folderError(filepath.Dir(path), in.Host.Share(filepath.Dir(path)))
		case flag == "backup-dir" && trusted:
			if err = backup.CheckPlace(path, in.options.DB); err == backup.ErrAway {
				err = cli.WithHint(err, "connect it, and mount it, and then the same again")
			} else {
				err = in.folderError(path, in.Host.Share(path))
			}
		case strings.HasPrefix(flag, "tls-"):
			err = in.fileError(path, in.Host.MayRead(path))
		}
		if err == nil {
			continue
		}
		err = fmt.Errorf("--%s: %w", flag, err)
		if in.given.Get(flag) != "" {
			return err
		}
		in.env.Notef("Warning: %v", err)
	}
	return nil
}

// trusts reports whether an administrator has named the path of a flag.
func (in *installation) trusts(flag string) bool {
	return in.trusted.Get(flag) == in.settings.Get(flag)
}

// folderError says why the service may not write to a folder.
func (in *installation) folderError(folder string, err error) error {
	name := osutil.InQuotes(folder)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, managers.ErrNoOwners):
		return cli.WithHint(fmt.Errorf("the service may not write to %s: %w", name, err),
			fmt.Sprintf("mount that disk for the service: in /etc/fstab, with the options nofail,uid=%[1]s,gid=%[1]s,umask=077", managers.Account))
	case errors.Is(err, managers.ErrClosed):
		return cli.WithHint(fmt.Errorf("the service may not write to %s: %w", name, err),
			fmt.Sprintf("a folder that the user %s can enter; what a desktop mounts below /media is for one person alone: mount it below /mnt by a line in /etc/fstab", managers.Account))
	case errors.Is(err, fs.ErrNotExist):
		return cli.WithHint(fmt.Errorf("the folder of %s does not exist", name), "connect its disk, or make the folder first")
	case errors.Is(err, fs.ErrPermission) && runtime.GOOS != "windows":
		return cli.WithHint(fmt.Errorf("the service may not write to %s, and it is not empty, or a link", name),
			fmt.Sprintf("a new folder in it, as %s, or give it to the service: sudo chown -R %s: %s", cli.Quote(filepath.Join(folder, "firefighters")), managers.Account, cli.Quote(folder)))
	}
	return fmt.Errorf("the service may not write to %s: %w", name, err)
}

// fileError says why the service may not read a file.
func (in *installation) fileError(file string, err error) error {
	name := osutil.InQuotes(file)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no file %s", name)
	case errors.Is(err, fs.ErrPermission) && runtime.GOOS != "windows":
		return cli.WithHint(fmt.Errorf("the service may not read %s", name),
			fmt.Sprintf("sudo chgrp %[1]s %[2]s && sudo chmod g+r %[2]s, and its folders must be open to the service too", managers.Account, cli.Quote(file)))
	}
	return fmt.Errorf("the service may not read %s: %w", name, err)
}
