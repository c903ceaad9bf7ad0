//go:build !windows

package managers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// RunAsService returns false: systemd and launchd start a service like any other program.
func RunAsService([]string, func(ctx context.Context, log io.Writer) int) bool { return false }

// Permitted reports whether this process is root. Tests with a separate Root need no rights.
func (p pc) Permitted() bool { return os.Geteuid() == 0 || p.Root != "" }

// MayRead returns an error if the service may not read a file outside the data folder.
func (p pc) MayRead(file string) error {
	if _, err := os.Stat(file); err != nil {
		return err
	}
	account, err := lookUpAccount(p.user())
	if err == nil && !account.may("r", file) {
		err = fs.ErrPermission
	}
	return err
}

// Share lets the service write to a folder outside the data folder, and creates the folder.
func (p pc) Share(folder string) error {
	account, err := lookUpAccount(p.user())
	if err != nil {
		return err
	}
	return account.share(folder)
}

// prepare creates the account with addUser if it is missing, and then the data folder.
func (p pc) prepare(data string, addUser func() error) (owner account, steps []string, err error) {
	if owner, err = lookUpAccount(p.user()); err != nil {
		if err = addUser(); err == nil {
			owner, err = lookUpAccount(p.user())
		}
		if err != nil {
			return owner, nil, err
		}
		steps = append(steps, "Created the user "+Account+", which runs the service and cannot sign in.")
	}
	taken, err := owner.take(data)
	return owner, append(steps, taken...), err
}

// system runs a command. The error has the first line of its output.
func system(program string, args ...string) (output string, err error) {
	command := exec.Command(program, args...)
	command.Env = append(os.Environ(), "LC_ALL=C", "TZ=UTC") // for parsing
	text, err := command.CombinedOutput()
	output = strings.TrimSpace(string(text))
	if _, ended := errors.AsType[*exec.ExitError](err); ended {
		first, _, _ := strings.Cut(output, "\n")
		err = fmt.Errorf("%s %s: %s", program, strings.Join(args, " "), cmp.Or(first, err.Error()))
	}
	return output, err
}

// writeOrRemove writes a file, or removes it if text is empty. It also removes a drop-in folder
// that becomes empty.
func writeOrRemove(file, text string) (changed bool, err error) {
	old, err := os.ReadFile(file)
	switch {
	case err == nil && text == string(old) || err != nil && text == "":
		return false, nil
	case text == "":
		if err := os.Remove(file); err != nil {
			return false, err
		}
		if folder := filepath.Dir(file); strings.HasSuffix(folder, ".service.d") {
			os.Remove(folder)
		}
		return true, nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return false, err
	}
	return true, os.WriteFile(file, []byte(text), 0o644)
}

type account struct{ uid, gid int }

func lookUpAccount(name string) (account, error) {
	found, err := user.Lookup(name)
	if err != nil {
		return account{}, err
	}
	uid, err := strconv.Atoi(found.Uid)
	gid, gidErr := strconv.Atoi(found.Gid)
	return account{uid, gid}, cmp.Or(err, gidErr)
}

// take creates the data folder, readable for the account only. If the folder exists, take also
// changes the owner of its content: an administrator may have copied a database into it.
func (a account) take(folder string) (steps []string, err error) {
	if err := os.Mkdir(folder, 0o700); err == nil {
		steps = append(steps, "Created the folder "+folder+", which only the service can read.")
	} else if !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	root, err := os.OpenRoot(folder) // the owner of the folder cannot redirect this process out of it
	if err != nil {
		return steps, err
	}
	defer root.Close()
	isChanged := false
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil {
			var changed bool
			changed, err = a.takeIn(root, name, entry)
			isChanged = isChanged || changed
		}
		if errors.Is(err, fs.ErrNotExist) { // a running service removes files
			return nil
		}
		return err
	})
	if isChanged && steps == nil {
		steps = append(steps, fmt.Sprintf("Made the service the owner of %s and its content.", folder))
	}
	if err != nil {
		return steps, err
	}
	return steps, os.Chmod(folder, 0o700)
}

// takeIn makes the account the owner of a file or folder in the data folder, and lets it read and
// write a file. It checks and changes the file through the open file, so no other user can replace
// it in between. It skips files with hard links, because another name may be anywhere in the system.
func (a account) takeIn(root *os.Root, name string, entry fs.DirEntry) (changed bool, err error) {
	if !entry.IsDir() && !entry.Type().IsRegular() {
		return false, nil
	}
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.Mode().IsRegular() && osutil.LinkCount(info) > 1 {
		return false, err
	}
	if mode := info.Mode().Perm() | 0o600; info.Mode().IsRegular() && mode != info.Mode().Perm() {
		if err := file.Chmod(mode); err != nil {
			return false, err
		}
	}
	if a.owns(info) {
		return false, nil
	}
	return true, file.Chown(a.uid, a.gid)
}

func (a account) owns(info fs.FileInfo) bool {
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == a.uid && int(owner.Gid) == a.gid
}

// may reports whether the account has a permission, which is r, w or x as in test(1).
func (a account) may(mode, path string) bool {
	trial := exec.Command("/bin/sh", "-c", `test -"$1" "$2"`, "sh", mode, path)
	trial.Dir = "/"
	trial.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{
		Uid: uint32(a.uid), Gid: uint32(a.gid),
		NoSetGroups: os.Geteuid() != 0, // only root may set them
	}}
	return trial.Run() == nil
}

// share creates a folder that the account can write to. The parent must exist, and the account
// must be able to enter it. An existing folder changes its owner only if it is empty and no link
// leads to it. The error is fs.ErrPermission if the account still cannot write.
func (a account) share(folder string) error {
	parent := filepath.Dir(folder)
	if _, err := os.Stat(parent); err != nil {
		return err
	}
	if !a.may("x", parent) {
		return fs.ErrPermission
	}
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if a.may("w", folder) {
		return nil
	}
	if err := a.give(folder); err != nil {
		return err
	}
	if !a.may("w", folder) {
		return fs.ErrPermission
	}
	return nil
}

// give makes the account the owner of an empty folder.
func (a account) give(folder string) error {
	file, err := os.OpenFile(folder, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENOTDIR) {
		return fs.ErrPermission
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.ReadDir(1); !errors.Is(err, io.EOF) {
		return err
	}
	return file.Chown(a.uid, a.gid) // fails on a file system without owners, such as FAT
}

// tailOf returns the last 64 KiB of a file, or "" if it cannot be read.
func tailOf(path string) string {
	text, _ := os.ReadFile(path)
	return string(text[max(0, len(text)-64<<10):])
}
