package backup

import (
	"context"
	"os"
	"path/filepath"
	"slices"
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
	Until time.Time // the day (UTC) on which the retention deletes it; zero: it does not, or in many years only
}

// Search says what to look for in which backups. The database may be in use, in this
// process as well.
type Search struct {
	Content  Content
	Database string
	Options  Options // of the Scheduler; without a Dir there are no backups

	Holds       func(*sqlite.Conn) (bool, error) // reports whether a database of any version of the schema holds it
	From, Until time.Time                        // when the database has held it; zero: for ever
}

// Run returns what was found.
func (s Search) Run(ctx context.Context) (found Holders, err error) {
	db, now := osutil.Resolve(s.Database), time.Now()
	own, _ := identify(s.Content, sqlite.Peek, db) // Inspect would end the locks of this process on it
	var backups []File
	if found.NotSet = s.Options.Dir == ""; !found.NotSet {
		_, err := os.ReadDir(s.Options.Dir)
		found.Away = err != nil
		backups = ofDatabase(s.Content, backupsIn(s.Options.Dir, db, now), own)
	}
	days := deletedOn(backups, s.Options, now)
	for _, f := range append(backups, copiesBeside(s.Content, db, own, now)...) {
		if err := ctx.Err(); err != nil {
			return Holders{}, err
		}
		holding, err := s.isIn(f)
		switch {
		case holding:
			found.Files = append(found.Files, Holder{f, s.until(f, db, backups, days, now)})
		case err != nil && osutil.Exists(f.Path): // else it was deleted meanwhile
			found.Unread = append(found.Unread, f)
		}
	}
	return found, nil
}

// until returns the day of a Holder. The plain copy beside the database goes with the next
// backup, and no other copy goes by itself.
func (s Search) until(f File, db string, backups []File, days map[int64]time.Time, now time.Time) time.Time {
	switch {
	case slices.ContainsFunc(backups, func(b File) bool { return b.Path == f.Path }):
		return days[f.Time.Unix()]
	case f.Path == keptName(db, f.Time) && s.Options.Dir != "":
		return nextBackup(backups, s.Options.Every, now).Truncate(24 * time.Hour)
	}
	return time.Time{}
}

// copiesBeside returns the copies beside a database that restores, upgrades, the guard and
// encrypted backups have made.
func copiesBeside(content Content, db string, own Identity, now time.Time) (all []File) {
	folder := filepath.Dir(db)
	for _, suffix := range []string{keptSuffix, beforeSuffix} {
		all = append(all, filesIn(folder, db, func(db string, at time.Time) string { return db + suffix + at.UTC().Format(nameTime) }, now)...)
	}
	return append(all, ofDatabase(content, append(filesIn(folder, db, SavedName, now), filesIn(folder, db, keptName, now)...), own)...)
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

// mostSteps limits the work of deletedOn, in backups looked at. It is enough for the
// default of 90 many times over.
const mostSteps = 200_000

// deletedOn returns the day (UTC) on which the retention will delete each of some backups,
// by the second in its name, if from now on backups are made as they should. It goes on day
// by day. Of the backups of a day only the newest can be kept. One that is kept for very
// long has no day.
func deletedOn(files []File, o Options, now time.Time) map[int64]time.Time {
	days, left := map[int64]time.Time{}, map[int64]bool{}
	next, waiting := nextBackup(files, o.Every, now), []time.Time{}
	for _, f := range files {
		if !left[f.Time.Unix()] { // plain and encrypted
			left[f.Time.Unix()], waiting = true, append(waiting, f.Time)
		}
	}
	slices.SortFunc(waiting, time.Time.Compare)
	newest := time.Duration(o.Keep/len(classes) + o.Keep%len(classes))
	var kept []time.Time
	for day, looked := now.UTC().Truncate(24*time.Hour), 0; len(left) > 0 && looked < mostSteps; day, looked = day.AddDate(0, 0, 1), looked+len(kept)+1 {
		end := day.AddDate(0, 0, 1)
		if !next.Before(end) {
			continue
		}
		for len(waiting) > 0 && waiting[0].Before(end) {
			kept, waiting = append(kept, waiting[0]), waiting[1:]
		}
		last := end.Add(-1).Sub(next) / o.Every // of the day, counted from next
		for n := max(0, last-newest); n <= last; n++ {
			kept = append(kept, next.Add(n*o.Every))
		}
		next = next.Add((last + 1) * o.Every)
		dropped := map[int64]bool{}
		for _, t := range surplus(kept, o.Keep) {
			if dropped[t.Unix()] = true; left[t.Unix()] {
				days[t.Unix()] = day
				delete(left, t.Unix())
			}
		}
		kept = slices.DeleteFunc(kept, func(t time.Time) bool { return dropped[t.Unix()] })
	}
	return days
}

// nextBackup returns when the next backup is due.
func nextBackup(files []File, every time.Duration, now time.Time) time.Time {
	next := now.UTC()
	for _, f := range files {
		if due := f.Time.Add(every); !f.Time.After(now) && due.After(next) {
			next = due
		}
	}
	return next
}
