package backup

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// nameTime is the time in the name of a backup. Such names sort by time.
const nameTime = "20060102T150405Z"

// fileName returns the name of the backup of a database. It begins with the
// database's own, so that several databases may have their backups in one folder.
func fileName(db string, at time.Time) string {
	ext := filepath.Ext(db)
	return strings.TrimSuffix(filepath.Base(db), ext) + "-" + at.UTC().Format(nameTime) + ext
}

// File is a file that has the name of a backup.
type File struct {
	Path      string
	Time      time.Time // in its name
	Encrypted bool
}

// Name returns the name of the file, without its folder.
func (f File) Name() string { return filepath.Base(f.Path) }

// Check reads all of a backup. Of an encrypted one it checks what can be checked without
// the key: its header, its length and, where it was noted, its SHA-256.
func (f File) Check(ctx context.Context, format sqlite.Format) (Copy, error) {
	if f.Encrypted {
		return checkEncrypted(ctx, f.Path)
	}
	return check(ctx, format, f.Path)
}

// Inspect looks at the beginning of a backup alone.
func (f File) Inspect(format sqlite.Format) error {
	if f.Encrypted {
		_, err := identifyEncrypted(f.Path)
		return databaseError("reading", f.Path, err)
	}
	return format.Inspect(f.Path)
}

func (f File) identify() (Identity, error) {
	if f.Encrypted {
		return identifyEncrypted(f.Path)
	}
	return identify(sqlite.OpenImmutable, f.Path)
}

// remove deletes a backup, and what is noted beside it.
func (f File) remove() error {
	if f.Encrypted {
		os.Remove(f.Path + sumSuffix)
	}
	return os.Remove(f.Path)
}

// inUse reports whether the file has become a database that somebody has opened.
func (f File) inUse() bool {
	return slices.ContainsFunc(append([]string{"-lock"}, sidecars...), func(suffix string) bool { return osutil.Exists(f.Path + suffix) })
}

// maxAhead is how far the time of a backup may be ahead of the clock. Beyond
// that, the clock was wrong once.
const maxAhead = time.Hour

// encryptedName returns the name of an encrypted backup.
func encryptedName(db string, at time.Time) string { return fileName(db, at) + encryptedSuffix }

// keptName returns the name of the plain copy that stays beside a database whose backups
// are encrypted.
func keptName(db string, at time.Time) string { return db + ".backup-" + at.UTC().Format(nameTime) }

// SavedName returns the name of a copy that is made beside a database when its
// files have gone.
func SavedName(db string, at time.Time) string { return db + ".saved-" + at.UTC().Format(nameTime) }

// filesIn returns the files of a database in a folder that name has named (fileName: its
// backups), sorted. A folder that cannot be read has none.
func filesIn(folder, db string, name func(db string, at time.Time) string, now time.Time) (found []File) {
	entries, _ := os.ReadDir(folder)
	prefix, ext, _ := strings.Cut(filepath.Base(name(db, time.Time{})), time.Time{}.Format(nameTime))
	for _, e := range entries {
		at, nameErr := time.Parse(nameTime, strings.TrimSuffix(strings.TrimPrefix(e.Name(), prefix), ext))
		info, err := e.Info()
		if nameErr == nil && err == nil && info.Mode().IsRegular() && e.Name() == filepath.Base(name(db, at)) {
			found = append(found, File{filepath.Join(folder, e.Name()), at, strings.HasSuffix(ext, encryptedSuffix)})
		}
	}
	sortFiles(found, now)
	return found
}

// backupsIn returns the backups of a database in a folder, plain and encrypted, sorted.
func backupsIn(folder, db string, now time.Time) []File {
	found := append(filesIn(folder, db, fileName, now), filesIn(folder, db, encryptedName, now)...)
	sortFiles(found, now)
	return found
}

// sortFiles sorts the newest first. A backup dated in the future (the clock was
// wrong) counts as the oldest.
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

// Files returns the backups of a database, and saved copies of it, that are beside
// it and, unless dir is "", the backups in dir. The newest is first, and a backup dated
// in the future (the clock was wrong) counts as the oldest. This process must not have
// the database open.
func Files(format sqlite.Format, db, dir string) []File {
	db = osutil.Resolve(db)
	now := time.Now()
	folder := filepath.Dir(db)
	files := slices.Concat(filesIn(folder, db, keptName, now), backupsIn(folder, db, now), filesIn(folder, db, SavedName, now))
	if dir != "" && !osutil.SameFile(dir, folder) {
		files = append(files, backupsIn(dir, db, now)...)
	}
	sortFiles(files, now)
	var own Identity
	if Inspect(format, db) == nil {
		own, _ = identify(sqlite.Peek, db)
	}
	return ofDatabase(files, own)
}

// ofDatabase returns the files without those that are known to be of another
// database than this one. Departments come and go, so a file that has an ID in
// common with a file of this database is of it too.
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
		for path, its := range others {
			if own.mayBe(its) {
				own.IDs = slices.Concat(own.IDs, its.IDs)
				delete(others, path)
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(files), func(f File) bool { _, other := others[f.Path]; return other })
}

// NewestValid returns the newest valid backup of a database that is beside it
// or, unless dir is "", in dir. It leaves out one that Restore refuses for its schema. If
// there is none it returns nil. This process must not have the database open.
func NewestValid(ctx context.Context, format sqlite.Format, db, dir string) *File {
	isForeign := func(f File) bool { return foreignSchema(format, f.Path) != nil }
	return newestValid(ctx, format, slices.DeleteFunc(Files(format, db, dir), isForeign))
}

// newestValid returns the first valid one of the files, or nil.
func newestValid(ctx context.Context, format sqlite.Format, files []File) *File {
	for _, f := range files {
		if _, err := f.Check(ctx, format); err == nil {
			return &f
		}
	}
	return nil
}
