//go:build unix

package osutil

import (
	"cmp"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// SpaceOf returns the space on the disk of a folder.
func SpaceOf(folder string) (Space, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return Space{}, &fs.PathError{Op: "statfs", Path: folder, Err: err}
	}
	size := int64(s.Bsize)
	return Space{Free: int64(s.Bavail) * size, Total: int64(s.Blocks) * size}, nil
}

// MaxOpenFiles returns the limit of open files and sockets of this process.
func MaxOpenFiles() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return math.MaxInt32
	}
	return int(min(uint64(limit.Cur), math.MaxInt32))
}

const (
	noFollow    = syscall.O_NOFOLLOW
	errReadOnly = unix.EROFS
)

var noRoom = []error{unix.ENOSPC, unix.EDQUOT, unix.EFBIG}

func writeAccess(folder string) error { return unix.Access(folder, unix.W_OK) }

// SyncFolder makes the names in a folder survive a power failure. It does nothing if the file system
// cannot sync folders.
func SyncFolder(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOTSUP) {
		return err
	}
	return nil
}

// GiveTo copies the owner and group of another file to the file at path. It does nothing unless this
// process is root.
func GiveTo(path string, like fs.FileInfo) error {
	owner, known := like.Sys().(*syscall.Stat_t)
	if !known || os.Geteuid() != 0 {
		return nil
	}
	return os.Lchown(path, int(owner.Uid), int(owner.Gid))
}

// GiveToFolder copies the owner and group of the parent folder to a new file or folder. It does
// nothing unless this process is root, or on a disk without owners.
func GiveToFolder(file *os.File) {
	if os.Geteuid() != 0 {
		return
	}
	if info, err := os.Stat(filepath.Dir(file.Name())); err == nil {
		if owner, known := info.Sys().(*syscall.Stat_t); known && owner.Uid != 0 {
			file.Chown(int(owner.Uid), int(owner.Gid)) // fails on FAT, which has no owners
		}
	}
}

// RefuseRedirect returns ErrRedirect if this process is root and another user can redirect path to
// any file, with a link or by replacing a folder on the way. It trusts root, the user of sudo and,
// for folders, the owner of the folder of db, where root writes anyway.
func RefuseRedirect(path, db string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	if !filepath.IsAbs(path) {
		here, err := os.Getwd()
		if err != nil {
			return err
		}
		path = here + "/" + path // Join would remove "link/.." without following the link
	}
	trusted := []int64{0}
	if sudo, err := strconv.ParseInt(os.Getenv("SUDO_UID"), 10, 64); err == nil {
		trusted = append(trusted, sudo)
	}
	owners := trusted
	if info, err := os.Stat(filepath.Dir(Resolve(db))); err == nil {
		owners = append(slices.Clone(trusted), ownerOf(info))
	}
	at, rest := "/", path
	for links := 0; ; {
		if isRedirectable(at, owners) {
			return ErrRedirect
		}
		name, after, _ := strings.Cut(strings.TrimLeft(rest, "/"), "/")
		next := filepath.Join(at, name)
		info, err := os.Lstat(next)
		if name == "" || err != nil {
			return nil // opening the file returns the cause
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at, rest = next, after
			continue
		}
		if links++; !slices.Contains(trusted, ownerOf(info)) || links > 40 {
			return ErrRedirect
		}
		target, err := os.Readlink(next)
		if err != nil {
			return err
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		rest = target + "/" + after
	}
}

// isRedirectable reports whether users other than owners can replace files in a folder. On a file
// system without owners, which also has no links, the user who mounted it owns all files.
func isRedirectable(folder string, owners []int64) bool {
	info, err := os.Stat(folder)
	if err != nil || !info.IsDir() || withoutOwners(folder) {
		return false
	}
	return !slices.Contains(owners, ownerOf(info)) || writableByOthers(info) && info.Mode()&fs.ModeSticky == 0
}

// writableByOthers reports whether users other than the owner can write to a folder. A group whose ID
// equals the owner's ID has no other members.
func writableByOthers(info fs.FileInfo) bool {
	mode := info.Mode().Perm()
	stat, known := info.Sys().(*syscall.Stat_t)
	return mode&0o002 != 0 || mode&0o020 != 0 && !(known && stat.Gid == stat.Uid)
}

// ownerOf returns the user ID of the owner of a file, or -1 if it is unknown.
func ownerOf(info fs.FileInfo) int64 {
	if owner, known := info.Sys().(*syscall.Stat_t); known {
		return int64(owner.Uid)
	}
	return -1
}

// MakePrivateFolder creates a folder for this user only. The parent must exist.
func MakePrivateFolder(path string) error { return os.Mkdir(path, 0o700) }

// SharedFolder reports whether other users of this PC may read the files in a folder,
// because its file system has no owners and was not mounted for one user.
func SharedFolder(folder string) bool {
	info, err := os.Stat(folder)
	return err == nil && info.Mode().Perm()&0o077 != 0 && withoutOwners(folder)
}

// Stat is os.Stat.
func Stat(path string) (fs.FileInfo, error) { return os.Stat(path) }

// LinkCount returns the number of names (hard links) of a file.
func LinkCount(info fs.FileInfo) int {
	if known, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(known.Nlink)
	}
	return 1
}

// SameDisk reports whether two files or folders are on the same file system. It is false if either
// cannot be examined.
func SameDisk(a, b string) bool {
	var x, y unix.Stat_t
	return unix.Stat(a, &x) == nil && unix.Stat(b, &y) == nil && x.Dev == y.Dev
}

// Language returns the language code of the user, such as "hr", or "" if it is unknown.
func Language() string {
	return languageOf(cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG")))
}

// Country returns the country of the user, such as "HR", or "" if it is unknown.
func Country() string {
	return countryOf(cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_TELEPHONE"), os.Getenv("LC_TIME"), os.Getenv("LANG")))
}
