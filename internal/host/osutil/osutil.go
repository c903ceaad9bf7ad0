// Package osutil has file operations that the standard library lacks or that differ between
// systems: disk space, file systems, syncing, atomic writes, links, owners and permissions.
package osutil

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Space is the space on a disk in bytes. Free is the space available to the current user.
type Space struct{ Free, Total int64 }

// Writable reports whether the current user may create files in a folder, or write a file.
func Writable(path string) bool { return writeAccess(path) == nil }

// ReadOnly reports whether a folder is on a read-only or write-protected disk.
func ReadOnly(folder string) bool { return errors.Is(writeAccess(folder), errReadOnly) }

// NotPermitted reports whether err is a denied access to a file, by its permissions or because its
// disk is read-only.
func NotPermitted(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, errReadOnly)
}

// TooManyFiles reports whether err is the limit of open files of the process or the system.
func TooManyFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// Exists reports whether path names a file or folder, or a link to one.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// SameFile reports whether two paths are equal or name the same file.
func SameFile(a, b string) bool {
	x, errA := Stat(a)
	y, errB := Stat(b)
	return a == b || errA == nil && errB == nil && os.SameFile(x, y)
}

// Resolve returns the file that path names, after symbolic links. It returns the same text
// before and after a missing file is created. A link to a missing file is followed once.
// SQLite names the files next to a database after the resolved path.
func Resolve(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	if target, err := os.Readlink(path); err == nil {
		if !filepath.IsAbs(target) {
			target = filepath.Dir(path) + string(filepath.Separator) + target
		}
		path = target
	}
	folder, name := filepath.Split(path) // Dir would remove "link/.." without following the link
	if folder == "" {
		folder = "."
	}
	if resolved, err := filepath.EvalSymlinks(folder); err == nil {
		return filepath.Join(resolved, name)
	}
	return path
}

// InQuotes returns a path in quotation marks for a single-line message. It escapes unprintable
// characters, but not backslashes, which are common in Windows paths.
func InQuotes(path string) string {
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(strconv.Quote(path))
}

// CreatePrivate creates an empty file that only its owner can read and write. A file created by root
// belongs to the owner of the folder, so that a service can use it. An existing file gets the same
// permissions, and keeps its content and owner. A link is an error, because another user could
// redirect root to any file.
func CreatePrivate(path string) error {
	file, err := OpenPrivate(path)
	if err != nil {
		return err
	}
	return file.Close()
}

// OpenPrivate is CreatePrivate, and returns the file open for writing.
func OpenPrivate(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		GiveToFolder(file)
	} else if errors.Is(err, fs.ErrExist) {
		file, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY|noFollow, 0o600)
	}
	if err != nil {
		return nil, err
	}
	if err := file.Chmod(0o600); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// SyncFile makes the content of a file survive a power failure.
func SyncFile(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return cmp.Or(file.Sync(), file.Close())
}

// NoRoom reports whether the file at path cannot grow by 4 KiB because of a full disk, a quota or the
// file size limit of this process. It tests with a temporary file in the same folder.
func NoRoom(path string) bool {
	var size int64
	if info, err := os.Stat(path); err == nil {
		size = info.Size()
	}
	probe, err := os.CreateTemp(filepath.Dir(path), ".room-")
	if err == nil {
		os.Remove(probe.Name())       // in case of a crash
		defer os.Remove(probe.Name()) // Windows cannot remove an open file
		_, err = probe.WriteAt(bytes.Repeat([]byte{1}, 4096), size)
		err = cmp.Or(err, probe.Close())
	}
	return DiskFull(err)
}

// DiskFull reports whether err is a full disk, an exhausted quota or the file size limit of this
// process.
func DiskFull(err error) bool {
	return slices.ContainsFunc(noRoom, func(target error) bool { return errors.Is(err, target) })
}

// RenameIfExists renames a file. It does nothing if there is no such file.
func RenameIfExists(from, to string) error {
	if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
		return nil // Rename would fail with another error if to is on another disk
	}
	if err := os.Rename(from, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Cause returns the system error inside an error of package os, without the path.
func Cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}

// localeParts splits a locale such as hr_HR.UTF-8 or hr-HR.
func localeParts(locale string) []string {
	return strings.FieldsFunc(locale, func(r rune) bool { return strings.ContainsRune("_-.@", r) })
}

// languageOf returns the language of a locale, or "".
func languageOf(locale string) string { return strings.ToLower(append(localeParts(locale), "")[0]) }

// countryOf returns the country of a locale, such as "HR", or "".
func countryOf(locale string) string {
	for _, part := range localeParts(locale) {
		if len(part) == 2 && part >= "AA" && part <= "ZZ" {
			return part
		}
	}
	return ""
}

// Machine returns a hash of the ID that the operating system gave this computer, or of its host name
// if there is none.
var Machine = sync.OnceValue(func() string {
	id := machineID()
	if id == "" {
		id, _ = os.Hostname()
	}
	hash := sha256.Sum256([]byte("firefighters settings\x00" + id)) // the ID itself is confidential
	return hex.EncodeToString(hash[:16])
})
