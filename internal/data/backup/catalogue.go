package backup

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// nameTime is the format of the time in the name of a backup. Names in this format sort by time.
const nameTime = "20060102T150405Z"

// fileName returns the name of a backup. It begins with the name of the database, so that several
// databases can share a backup folder.
func fileName(db string, at time.Time) string {
	ext := filepath.Ext(db)
	return strings.TrimSuffix(filepath.Base(db), ext) + "-" + at.UTC().Format(nameTime) + ext
}

// ErrLongName is the error for a database that cannot be backed up.
var ErrLongName = errors.New("its name is too long for the names of its backups")

// CheckName returns ErrLongName if the file system rejects the longest name that the program derives
// from the name of a database. It does not detect that on Windows, nor for the file system of
// another backup folder.
func CheckName(db string) error {
	const longest = ".saved-" + nameTime + "-mixed.partial-journal"
	if _, err := os.Lstat(db + longest); errors.Is(err, syscall.ENAMETOOLONG) {
		return ErrLongName
	}
	return nil
}

// File is a file with the name of a backup.
type File struct {
	Path      string
	Time      time.Time // the time in its name
	Encrypted bool

	sum string // the SHA-256 of an encrypted backup; "" if unknown
}

// Name returns the name of the file without its folder.
func (f File) Name() string { return filepath.Base(f.Path) }

// Check reads the whole backup. Without the key, it checks the header, the length and, for the newest
// one of a server, the SHA-256 of an encrypted backup.
func (f File) Check(ctx context.Context, format sqlite.Format) (Copy, error) {
	if f.Encrypted {
		return checkEncrypted(ctx, f.Path, f.sum)
	}
	return check(ctx, format, f.Path)
}

// Inspect checks only the beginning of a backup.
func (f File) Inspect(format sqlite.Format) error {
	if f.Encrypted {
		_, err := identifyEncrypted(f.Path)
		return sqlite.Wrap("reading", f.Path, err)
	}
	return format.Inspect(f.Path)
}

func (f File) identify() (Identity, error) {
	if f.Encrypted {
		return identifyEncrypted(f.Path)
	}
	return identify(sqlite.OpenImmutable, f.Path)
}

// inUse reports whether a program has opened the file as a database.
func (f File) inUse() bool {
	return slices.ContainsFunc(append([]string{"-lock"}, sqlite.Sidecars...), func(suffix string) bool { return osutil.Exists(f.Path + suffix) })
}

// maxAhead is how far the time of a backup may be ahead of the clock. A later time means that the
// clock was wrong.
const maxAhead = time.Hour

func encryptedName(db string, at time.Time) string { return fileName(db, at) + encryptedSuffix }

// keptName returns the name of the unencrypted copy next to a database with encrypted backups.
func keptName(db string, at time.Time) string { return db + ".backup-" + at.UTC().Format(nameTime) }

// SavedName returns the name of the copy that is saved next to a database whose files were lost.
func SavedName(db string, at time.Time) string { return db + ".saved-" + at.UTC().Format(nameTime) }

// filesIn returns the files in a folder that have one of the names of a database's backups or other
// copies, sorted. If the folder cannot be read, there are none.
func filesIn(folder, db string, now time.Time, names ...func(db string, at time.Time) string) (found []File) {
	entries, _ := os.ReadDir(folder)
	var sum notedSum
	ReadNote(db, noteSum, &sum)
	for _, name := range names {
		prefix, ext, _ := strings.Cut(filepath.Base(name(db, time.Time{})), time.Time{}.Format(nameTime))
		for _, e := range entries {
			at, nameErr := time.Parse(nameTime, strings.TrimSuffix(strings.TrimPrefix(e.Name(), prefix), ext))
			info, err := e.Info()
			if nameErr == nil && err == nil && info.Mode().IsRegular() && e.Name() == filepath.Base(name(db, at)) {
				f := File{Path: filepath.Join(folder, e.Name()), Time: at, Encrypted: strings.HasSuffix(ext, encryptedSuffix)}
				if e.Name() == sum.File {
					f.sum = sum.SHA256
				}
				found = append(found, f)
			}
		}
	}
	sortFiles(found, now)
	return found
}

// backupsIn returns the encrypted and unencrypted backups of a database in a folder, sorted.
func backupsIn(folder, db string, now time.Time) []File {
	return filesIn(folder, db, now, fileName, encryptedName)
}

// sortFiles sorts files by time, newest first. A time in the future, from a wrong clock, counts as
// the oldest.
func sortFiles(files []File, now time.Time) {
	rank := func(f File) int {
		if f.Time.Sub(now) >= maxAhead {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(files, func(a, b File) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), b.Time.Compare(a.Time))
	})
}

// Files returns the backups and saved copies next to a database and, unless dir is "", the backups
// in dir. The newest file is first. A time in the future, from a wrong clock, counts as the oldest.
// This process must not have the database open.
func Files(format sqlite.Format, db, dir string) []File {
	db = osutil.Resolve(db)
	now := time.Now()
	folder := filepath.Dir(db)
	files := filesIn(folder, db, now, keptName, fileName, encryptedName, SavedName)
	if dir != "" && !osutil.SameFile(dir, folder) {
		files = append(files, backupsIn(dir, db, now)...)
		sortFiles(files, now)
	}
	var own Identity
	if Inspect(format, db) == nil && !isUnused(db) {
		own, _ = identify(sqlite.Peek, db)
	}
	return ofDatabase(files, own)
}

// RefuseBegin returns a FileError with ErrMissing if a server or a command would create an empty database
// although there are backups of a database with its name next to it or in dir: the database is missing
// or empty, or it never had records, no server has used dir for it, and dir has only backups of another
// one. For a missing database, the folder in the notes replaces an empty dir. This process must not have
// the database open.
func RefuseBegin(format sqlite.Format, db, dir string) error {
	file := osutil.Resolve(db)
	noted, _ := NotedSettings(file)
	begins := false
	switch err := format.Inspect(file); {
	case errors.Is(err, sqlite.ErrNotExist):
		begins = slices.ContainsFunc(Files(format, db, cmp.Or(dir, noted.Dir)), func(f File) bool {
			err := f.Inspect(format)
			return !errors.Is(err, sqlite.ErrForeign) && !errors.Is(err, sqlite.ErrNotExist)
		})
	case err == nil && dir != "" && !osutil.SameFile(dir, noted.Dir):
		_, err := Newest(db, dir, false)
		begins = errors.Is(err, ErrOthers) && isUnused(file)
	}
	if !begins {
		return nil
	}
	return &sqlite.FileError{Op: "making", Path: file, Err: ErrMissing}
}

// isUnused reports whether a database never had records. Any backup with its name may then be of its
// predecessor.
func isUnused(db string) bool {
	c, err := sqlite.Peek(db)
	if err != nil {
		return false
	}
	defer c.Close()
	used, err := store.IsUsed(c)
	return err == nil && !used
}

// ofDatabase returns the files without those that certainly belong to another database. Departments
// are added and removed, so files that share an ID with a file of the database also belong to it.
func ofDatabase(files []File, own Identity) []File {
	if len(own.IDs) == 0 {
		return files
	}
	others := map[string]Identity{}
	for _, f := range files {
		others[f.Path], _ = f.identify()
	}
	for before := -1; before != len(others); {
		before = len(others)
		for path, other := range others {
			if own.mayBe(other) {
				own.IDs = slices.Concat(own.IDs, other.IDs)
				delete(others, path)
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(files), func(f File) bool { _, isOther := others[f.Path]; return isOther })
}

// NewestValid returns the newest valid backup of a database that is next to it or, unless dir is "",
// in dir. It skips backups that Restore rejects because of their schema, and takes an empty one only if
// all are empty. It returns nil if there is none. This process must not have the database open.
func NewestValid(ctx context.Context, format sqlite.Format, db, dir string) *File {
	isForeign := func(f File) bool { return foreignSchema(format, f.Path) != nil }
	return newestValid(ctx, format, slices.DeleteFunc(Files(format, db, dir), isForeign))
}

func newestValid(ctx context.Context, format sqlite.Format, files []File) (empty *File) {
	for _, f := range files {
		found, err := f.Check(ctx, format)
		switch {
		case err == nil && !found.Empty:
			return &f
		case err == nil && empty == nil:
			empty = &f
		}
	}
	return empty
}
