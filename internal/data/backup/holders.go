package backup

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Holders are the copies of a database that contain certain data, in the backup folder and next to the
// database. Copies in other places are unknown.
type Holders struct {
	Files  []Holder // backups first, newest first
	Unread []File   // files that cannot be read
	Away   bool     // the backup folder cannot be read, for example because its disk is not connected
	NotSet bool     // there is no backup folder
}

// Holder is a file that contains the data. An encrypted file counts as a Holder if its time is in the
// searched range.
type Holder struct {
	File
	Until   time.Time // the day (UTC) by which pruning deletes the file, if backups continue on schedule; zero if it stays
	Unknown bool      // the file will be deleted, but the schedule is unknown
}

// Search finds the backups that contain certain data. The database may be in use, even by this
// process.
type Search struct {
	Database string
	Options  Options // of the Scheduler; Dir "" means no backups, and Keep 0 an unknown schedule

	Holds       func(*sqlite.Conn) (bool, error) // reports whether a database with any schema version contains the data
	From, Until time.Time                        // when the database contained the data; zero means no limit
}

// Run returns the files that contain the data.
func (s Search) Run(ctx context.Context) (found Holders, err error) {
	db, now := osutil.Resolve(s.Database), time.Now()
	own, _ := identify(sqlite.Peek, db) // Inspect would release the locks of this process
	var backups []File
	if found.NotSet = s.Options.Dir == ""; !found.NotSet {
		_, err := os.ReadDir(s.Options.Dir)
		found.Away = err != nil
		backups = ofDatabase(backupsIn(s.Options.Dir, db, now), own)
	}
	copies := copiesBeside(db, own, now)
	copies = append(copies, copiesByHand(db, own, now, slices.Concat(backups, copies), s.Options.Dir, filepath.Dir(db))...)
	for i, f := range append(backups, copies...) {
		if err := ctx.Err(); err != nil {
			return Holders{}, err
		}
		holding, err := s.isIn(f)
		switch {
		case holding:
			found.Files = append(found.Files, s.holder(f, i < len(backups), now))
		case err != nil && osutil.Exists(f.Path): // otherwise it was deleted in the meantime
			found.Unread = append(found.Unread, f)
		}
	}
	return found, nil
}

// holder returns the Holder for a file. The next backup deletes the unencrypted copy next to the
// database. Other copies stay.
func (s Search) holder(f File, isBackup bool, now time.Time) Holder {
	days := s.Options.everyDays()
	switch {
	case !isBackup && (s.Options.Dir == "" || f.Path != keptName(osutil.Resolve(s.Database), f.Time)):
		return Holder{File: f}
	case s.Options.Keep == 0:
		return Holder{File: f, Unknown: true}
	case isBackup:
		days = s.Options.longestDays()
	}
	day := f.Time.AddDate(0, 0, days)
	if day.Before(now) { // backups were interrupted for a while
		day = now.AddDate(0, 0, days)
	}
	return Holder{File: f, Until: day.UTC().Truncate(24 * time.Hour)}
}

// copiesBeside returns the copies next to a database that were created by restores, upgrades, the
// guard and encrypted backups.
func copiesBeside(db string, own Identity, now time.Time) (all []File) {
	folder := filepath.Dir(db)
	for _, suffix := range []string{keptSuffix, beforeSuffix} {
		all = append(all, filesIn(folder, db, now, func(db string, at time.Time) string { return db + suffix + at.UTC().Format(nameTime) })...)
	}
	return append(all, ofDatabase(append(filesIn(folder, db, now, SavedName), filesIn(folder, db, now, keptName)...), own)...)
}

// copiesByHand returns the copies of a database in folders that have other names than the known ones,
// such as those of the backup command. Their time is the latest time in the content.
func copiesByHand(db string, own Identity, now time.Time, known []File, folders ...string) (all []File) {
	// Closing a file that this process has open as a database would release its locks.
	isOpen := func(path string) bool {
		return slices.ContainsFunc(append([]string{"", "-lock", lockSuffix}, sqlite.Sidecars...), func(suffix string) bool { return osutil.SameFile(path, db+suffix) })
	}
	for _, folder := range folders {
		entries, _ := os.ReadDir(folder)
		for _, e := range entries {
			f := File{Path: filepath.Join(folder, e.Name())}
			isKnown := func(other File) bool { return f.Name() == other.Name() && osutil.SameFile(f.Path, other.Path) }
			if strings.HasPrefix(e.Name(), ".") || !e.Type().IsRegular() || isOpen(f.Path) || slices.ContainsFunc(known, isKnown) {
				continue
			}
			f.Encrypted = IsEncrypted(f.Path)
			if id, err := f.identify(); err == nil && len(id.IDs) > 0 && len(own.IDs) > 0 && own.mayBe(id) {
				f.Time = id.Time
				all, known = append(all, f), append(known, f)
			}
		}
	}
	sortFiles(all, now)
	return all
}

// isIn reports whether a file contains the data, perhaps as traces. The copy of a replaced database may
// have a -wal.
func (s Search) isIn(f File) (bool, error) {
	if f.Encrypted {
		return !f.Time.Before(s.From.Truncate(time.Second)) && (s.Until.IsZero() || !f.Time.After(s.Until)), nil
	}
	open := sqlite.OpenImmutable
	if osutil.Exists(f.Path + "-wal") {
		open = sqlite.Peek
	}
	c, err := open(f.Path)
	if err != nil {
		return false, err
	}
	defer c.Close()
	holding, err := s.Holds(c)
	if err == nil && !holding {
		holding, err = store.HasTraces(c)
	}
	return holding, err
}
