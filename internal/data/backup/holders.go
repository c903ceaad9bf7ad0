package backup

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

// Holders are the backups of a database that hold something, and the copies beside it. A
// copy that somebody has made elsewhere is not known.
type Holders struct {
	Files  []Holder // backups first, the newest first
	Unread []File   // that cannot be read, so that nobody knows
	Away   bool     // the folder for backups cannot be read: its disk may not be connected
	NotSet bool     // there is no folder for backups
}

// Holder is a file that holds something, for all that is known. Nobody can look into an
// encrypted one: it is taken for one by its time.
type Holder struct {
	File
	Until   time.Time // the day (UTC) on which it is gone at the latest, if backups are made as they are set; zero: it stays
	Unknown bool      // it does not stay, but the settings that Until follows from are not known
}

// Search says what to look for in which backups. The database may be in use, in this
// process as well.
type Search struct {
	Database string
	Options  Options // of the Scheduler; without a Dir there are no backups, and with nothing else the rest is unknown

	Holds       func(*sqlite.Conn) (bool, error) // reports whether a database of any version of the schema holds it
	From, Until time.Time                        // when the database has held it; zero: for ever
}

// Run returns what was found.
func (s Search) Run(ctx context.Context) (found Holders, err error) {
	db, now := osutil.Resolve(s.Database), time.Now()
	own, _ := identify(sqlite.Peek, db) // Inspect would end the locks of this process on it
	var backups []File
	if found.NotSet = s.Options.Dir == ""; !found.NotSet {
		_, err := os.ReadDir(s.Options.Dir)
		found.Away = err != nil
		backups = ofDatabase(backupsIn(s.Options.Dir, db, now), own)
	}
	for i, f := range append(backups, copiesBeside(db, own, now)...) {
		if err := ctx.Err(); err != nil {
			return Holders{}, err
		}
		holding, err := s.isIn(f)
		switch {
		case holding:
			found.Files = append(found.Files, s.holder(f, i < len(backups), now))
		case err != nil && osutil.Exists(f.Path): // else it was deleted meanwhile
			found.Unread = append(found.Unread, f)
		}
	}
	return found, nil
}

// holder returns the Holder for a file. The plain copy beside the database goes with the next
// backup, and no other copy goes by itself.
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
	if day.Before(now) { // backups were not made for a while
		day = now.AddDate(0, 0, days)
	}
	return Holder{File: f, Until: day.UTC().Truncate(24 * time.Hour)}
}

// copiesBeside returns the copies beside a database that restores, upgrades, the guard and
// encrypted backups have made.
func copiesBeside(db string, own Identity, now time.Time) (all []File) {
	folder := filepath.Dir(db)
	for _, suffix := range []string{keptSuffix, beforeSuffix} {
		all = append(all, filesIn(folder, db, func(db string, at time.Time) string { return db + suffix + at.UTC().Format(nameTime) }, now)...)
	}
	return append(all, ofDatabase(append(filesIn(folder, db, SavedName, now), filesIn(folder, db, keptName, now)...), own)...)
}

// isIn reports whether a file holds what is looked for. The copy of a database that was
// replaced may have a -wal.
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
	return s.Holds(c)
}
