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

// What systemd and launchd share: the account of the service, commands of the system,
// and files of a log.

// RunAsService reports false: a manager here starts a service as anybody starts a program.
func RunAsService([]string, func(ctx context.Context, log io.Writer) int) bool { return false }

// Permitted reports whether this process is root. With a Root of their own, tests need
// no rights.
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

// prepare looks up the account, or makes it by addUser, and then the folder of the data.
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
	made, err := owner.take(data)
	return owner, append(steps, made...), err
}

// system runs a command of the system. The error has what the command says.
func system(program string, args ...string) (output string, err error) {
	command := exec.Command(program, args...)
	command.Env = append(os.Environ(), "LC_ALL=C", "TZ=UTC") // so that it can be read
	said, err := command.CombinedOutput()
	output = strings.TrimSpace(string(said))
	if _, ended := errors.AsType[*exec.ExitError](err); ended {
		first, _, _ := strings.Cut(output, "\n")
		err = fmt.Errorf("%s %s: %s", program, strings.Join(args, " "), cmp.Or(first, err.Error()))
	}
	return output, err
}

// writeOrRemove makes a file have a text or, if that is empty, removes the file. It
// removes a folder of drop-ins, too, if that is empty then; other folders are the system's.
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

// account is the user that runs the service.
type account struct{ uid, gid int }

// lookUpAccount returns the account of a user.
func lookUpAccount(name string) (account, error) {
	found, err := user.Lookup(name)
	if err != nil {
		return account{}, err
	}
	uid, err := strconv.Atoi(found.Uid)
	gid, gidErr := strconv.Atoi(found.Gid)
	return account{uid, gid}, cmp.Or(err, gidErr)
}

// take makes the folder of the data, for an account alone. What is in a folder that
// was there gets the same owner: somebody may have copied a database into it.
func (a account) take(folder string) (steps []string, err error) {
	if err := os.Mkdir(folder, 0o700); err == nil {
		steps = append(steps, "Created the folder "+folder+", which only the service can read.")
	} else if !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	root, err := os.OpenRoot(folder) // its owner may change what is in it meanwhile, but not lead this process out of it
	if err != nil {
		return steps, err
	}
	defer root.Close()
	given := 0
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return unlessGone(err)
		}
		gave, err := a.takeIn(root, name, entry)
		if gave {
			given++
		}
		return unlessGone(err)
	})
	if given > 0 && steps == nil {
		steps = append(steps, fmt.Sprintf("Made the service the owner of %s and its content.", folder))
	}
	if err != nil {
		return steps, err
	}
	return steps, os.Chmod(folder, 0o700)
}

// takeIn makes the account own a file or folder in the folder of the data, if it does
// not yet. It asks for the owner and changes it through the open file, so that nobody
// can put another file in between. A file with several names (hard links) stays as it
// is: it may be any file of the system.
func (a account) takeIn(root *os.Root, name string, entry fs.DirEntry) (gave bool, err error) {
	if !entry.IsDir() && !entry.Type().IsRegular() {
		return false, nil
	}
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || a.owns(info) || info.Mode().IsRegular() && osutil.LinkCount(info) > 1 {
		return false, err
	}
	return true, file.Chown(a.uid, a.gid)
}

// unlessGone returns err, or nil if a file has gone meanwhile: a service that runs
// removes files.
func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (a account) owns(info fs.FileInfo) bool {
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == a.uid && int(owner.Gid) == a.gid
}

// may reports whether an account may use a path: mode is r, w or x, as of test(1).
func (a account) may(mode, path string) bool {
	trial := exec.Command("/bin/sh", "-c", `test -"$1" "$2"`, "sh", mode, path)
	trial.Dir = "/"
	trial.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{
		Uid: uint32(a.uid), Gid: uint32(a.gid),
		NoSetGroups: os.Geteuid() != 0, // only root may set them
	}}
	return trial.Run() == nil
}

// share makes a folder that an account can write. Its parent must exist, and the
// account must be able to enter it. A folder that is empty gets the account as its
// owner; one that holds something, or that a link leads to, is left as it is.
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

// give makes the account own a folder that is empty.
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
	return file.Chown(a.uid, a.gid) // which fails on a disk without owners, such as a stick with FAT
}

// tailOf returns the last 64 KiB of a log, which may be large. Without one it is empty.
func tailOf(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	const most = 64 << 10
	if info, err := file.Stat(); err == nil {
		file.Seek(max(0, info.Size()-most), io.SeekStart)
	}
	text, _ := io.ReadAll(io.LimitReader(file, most)) // what can be read
	return string(text)
}
