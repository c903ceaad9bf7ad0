//go:build unix

package osutil

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// SpaceOf returns the room on the disk of a folder.
func SpaceOf(folder string) (Space, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return Space{}, &fs.PathError{Op: "statfs", Path: folder, Err: err}
	}
	size := int64(s.Bsize)
	return Space{Free: int64(s.Bavail) * size, Total: int64(s.Blocks) * size}, nil
}

// MaxOpenFiles returns how many files, sockets included, this process may have
// open at the same time.
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

// SyncFolder makes the names in a folder survive a power failure. It does
// nothing where the file system cannot sync a folder.
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

// GiveTo sets the owner and group of a file to those of another. Only root may do
// that; for any other user it does nothing.
func GiveTo(path string, like fs.FileInfo) error {
	owner, known := like.Sys().(*syscall.Stat_t)
	if !known || os.Geteuid() != 0 {
		return nil
	}
	return os.Lchown(path, int(owner.Uid), int(owner.Gid))
}

// GiveToFolder sets the owner and group of a file or folder that this process has
// just made to those of the folder that it lies in. Only root may do that; for any
// other user, and on a disk without owners, it does nothing.
func GiveToFolder(file *os.File) {
	if os.Geteuid() != 0 {
		return
	}
	if info, err := os.Stat(filepath.Dir(file.Name())); err == nil {
		give(file, info)
	}
}

func give(file *os.File, like fs.FileInfo) {
	if owner, known := like.Sys().(*syscall.Stat_t); known && owner.Uid != 0 {
		file.Chown(int(owner.Uid), int(owner.Gid)) // an error on a stick with FAT, which has no owners
	}
}

// Follow returns the file that path names, as Resolve does. Root follows no link
// that somebody else can change: the error is then ErrLink. Where another user can
// change the folder of the file, root gets that folder open as well. It must make the
// file by that, not by the path: each part of the path may be a link a moment later.
func Follow(path string) (resolved string, folder *os.Root, err error) { return follow(path, true) }

// follow is Follow. It follows a link in the place of the file only if followLast.
func follow(path string, followLast bool) (resolved string, folder *os.Root, err error) {
	if os.Geteuid() != 0 {
		if followLast {
			path = Resolve(path)
		}
		return path, nil, nil
	}
	w, err := followAsRoot(path, followLast)
	if err != nil {
		return "", nil, err
	}
	if w.others || !w.closed {
		folder = w.folder
	} else {
		w.folder.Close()
	}
	return filepath.Join(w.at, w.rest), folder, nil
}

// OwnFolder returns a folder for root alone, of this name, in a folder for temporary
// files. It makes it if it is not there. It is an error if somebody else could put
// another one in its place.
func OwnFolder(temporary, name string) (string, error) {
	path := filepath.Join(temporary, name)
	w, err := followAsRoot(path, true)
	if err != nil {
		return "", err
	}
	defer w.folder.Close()
	if w.others {
		return "", &fs.PathError{Op: "mkdir", Path: path, Err: ErrShared}
	}
	if err = w.folder.Mkdir(w.rest, 0o700); errors.Is(err, fs.ErrExist) {
		var info fs.FileInfo
		info, err = w.folder.Lstat(w.rest)
		if err == nil && (!info.IsDir() || ownerOf(info) != 0 || info.Mode().Perm()&0o077 != 0) {
			err = &fs.PathError{Op: "mkdir", Path: path, Err: ErrShared}
		}
	}
	return filepath.Join(w.at, w.rest), err
}

// followAsRoot follows a path for root. The caller closes the folder that it returns.
func followAsRoot(path string, followLast bool) (w walk, err error) {
	w.followLast = followLast
	if path, err = filepath.Abs(path); err != nil {
		return walk{}, err
	}
	w.rest = path
	for more := true; more && err == nil; {
		more, err = w.next()
	}
	if err != nil {
		if w.folder != nil {
			w.folder.Close()
		}
		return walk{}, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return w, nil
}

// walk follows a path from folder to folder, each by the one before.
type walk struct {
	folder *os.Root
	at     string // its path, which was followed
	rest   string // of the path
	links  int

	followLast bool // follow a link in the place of the file, too

	others bool // somebody else can replace what lies in a folder on the way
	closed bool // only root makes files in this one
}

// next follows a part of the path. It reports whether that was a folder or a link.
func (w *walk) next() (more bool, err error) {
	if w.folder == nil {
		w.at, w.rest, w.others = "/", strings.TrimLeft(w.rest, "/"), false
		if w.folder, err = os.OpenRoot("/"); err != nil {
			return false, err
		}
	}
	here, err := w.folder.Stat(".")
	if err != nil {
		return false, err
	}
	w.closed = ownerOf(here) == 0 && here.Mode().Perm()&0o022 == 0
	w.others = w.others || !w.closed && (ownerOf(here) != 0 || here.Mode()&fs.ModeSticky == 0)
	name, rest, isFolder := strings.Cut(w.rest, "/")
	info, err := w.folder.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !isFolder:
		return false, nil
	case err != nil:
		return false, err
	case info.Mode()&fs.ModeSymlink != 0 && (isFolder || w.followLast):
		return true, w.follow(name, rest, info)
	case !isFolder:
		return false, nil
	}
	inner, err := w.folder.OpenRoot(name) // which does not leave this folder if name has become a link
	if err != nil {
		return false, err
	}
	w.folder.Close()
	w.folder, w.at, w.rest = inner, filepath.Join(w.at, name), rest
	return true, nil
}

// follow follows a link of root, which only root can replace.
func (w *walk) follow(name, rest string, link fs.FileInfo) error {
	if w.links++; w.links > 40 {
		return unix.ELOOP
	}
	if w.others || ownerOf(link) != 0 {
		return ErrLink
	}
	target, err := w.folder.Readlink(name)
	if err != nil {
		return err
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(w.at, target)
	}
	w.folder.Close()
	w.folder, w.rest = nil, filepath.Join(target, rest)
	return nil
}

// ownerOf returns the user id of the owner of a file, -1 if it is not known.
func ownerOf(info fs.FileInfo) int64 {
	if owner, known := info.Sys().(*syscall.Stat_t); known {
		return int64(owner.Uid)
	}
	return -1
}

// MakePrivateFolder makes a folder for this user alone. The parent must exist.
func MakePrivateFolder(path string) error { return os.Mkdir(path, 0o700) }

// SharedFolder returns false: what lies in a folder has permissions of its own.
func SharedFolder(string) bool { return false }

// Stat is os.Stat.
func Stat(path string) (fs.FileInfo, error) { return os.Stat(path) }

// LinkCount returns the number of names (hard links) of a file.
func LinkCount(info fs.FileInfo) int {
	if known, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(known.Nlink)
	}
	return 1
}

// SameDisk reports whether two files or folders are on the same file system. It
// is false if that is not known.
func SameDisk(a, b string) bool {
	var x, y unix.Stat_t
	return unix.Stat(a, &x) == nil && unix.Stat(b, &y) == nil && x.Dev == y.Dev
}
