package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The backups that are there, and what is said of them.

// backupTime is how a backup is named: so that names sort by time.
const backupTime = "20060102T150405Z"

// backupName gives the name of the backup of a database, whose own stands in
// it: many databases may have their backups in one folder.
func backupName(db string, at time.Time) string {
	ext := filepath.Ext(db)
	return strings.TrimSuffix(filepath.Base(db), ext) + "-" + at.UTC().Format(backupTime) + ext
}

// backupFile is a file that has the name of a backup.
type backupFile struct {
	path    string
	of      time.Time // by its name
	written time.Time // by the file system
}

// inUse tells whether the file is more than a backup: a database that somebody
// has opened.
func (b backupFile) inUse() bool {
	return slices.ContainsFunc([]string{"-wal", "-shm", "-journal", "-lock"}, func(suffix string) bool { return exists(b.path + suffix) })
}

// maxAhead is how far the time of a backup may be ahead of the clock without
// telling that the clock was wrong once.
const maxAhead = time.Hour

// backupsIn gives the backups of a database in a folder, the newest first.
// Those of a time that is not yet come last: a clock was ahead.
func backupsIn(folder, db string, now time.Time) (found []backupFile) {
	entries, _ := os.ReadDir(folder) // a folder that cannot be read has none
	ext := filepath.Ext(db)
	prefix := strings.TrimSuffix(filepath.Base(db), ext) + "-"
	for _, e := range entries {
		at, err := time.Parse(backupTime, strings.TrimSuffix(strings.TrimPrefix(e.Name(), prefix), ext))
		info, err2 := e.Info()
		if err == nil && err2 == nil && info.Mode().IsRegular() && e.Name() == backupName(db, at) {
			found = append(found, backupFile{filepath.Join(folder, e.Name()), at, info.ModTime()})
		}
	}
	newestFirst(found, now)
	return found
}

func newestFirst(found []backupFile, now time.Time) {
	slices.SortStableFunc(found, func(a, b backupFile) int {
		if early := a.of.Sub(now) >= maxAhead; early != (b.of.Sub(now) >= maxAhead) {
			if early {
				return 1
			}
			return -1
		}
		return b.of.Compare(a.of)
	})
}

// identity tells databases apart that have the same name: by their first
// department. It is empty if that cannot be read.
func identity(dsn string) (first string) {
	c, err := openConn(dsn)
	if err != nil {
		return ""
	}
	defer c.Close()
	c.query(`SELECT concat(created_at, ' ', name) FROM tenants ORDER BY id LIMIT 1`, nil, func(row values) { first = text(row[0]) })
	return first
}

// ofOne gives those of the database with this identity, as far as is known.
func ofOne(there []backupFile, own string) []backupFile {
	return slices.DeleteFunc(slices.Clone(there), func(b backupFile) bool {
		its := identity(copyDSN(b.path))
		return own != "" && its != "" && its != own
	})
}

// whoseAmong gives the first department of a backup, if there are others of
// another database: somebody has to choose. Else it is empty.
func whoseAmong(there []backupFile, good *backupFile) string {
	its := identity(copyDSN(good.path))
	if len(ofOne(there, its)) == len(there) {
		return ""
	}
	_, name, _ := strings.Cut(its, " ")
	return name
}

// cleanWithin is how much older a backup without damaged records may be, and
// still be better than one with some.
const cleanWithin = 7 * 24 * time.Hour

// newestGood looks for the first that is whole, better without damaged records.
func newestGood(ctx context.Context, there []backupFile) (good *backupFile) {
	for i := range there {
		b := &there[i]
		if good != nil && good.of.Sub(b.of) > cleanWithin {
			break
		}
		holds, err := checkCopy(ctx, b.path)
		if err == nil && holds.damaged == 0 {
			return b
		}
		if err == nil && good == nil {
			good = b
		}
	}
	return good
}

// backupsOf gives the backups of a database beside it and in dir, if that is
// named, the newest first.
func backupsOf(db, dir string) []backupFile {
	db = resolve(db)
	now := time.Now()
	there := backupsIn(filepath.Dir(db), db, now)
	if dir != "" && !sameFile(dir, filepath.Dir(db)) {
		there = append(there, backupsIn(dir, db, now)...)
		newestFirst(there, now)
	}
	own := ""
	if inspect(db) == nil {
		own = identity(verifyDSN(db))
	}
	return ofOne(there, own)
}

// warnOfBackups warns that a database is about to be made, although there are
// backups of one.
func (p *program) warnOfBackups(db, dir string) {
	there := backupsOf(db, dir)
	if len(there) == 0 || !errors.Is(inspect(resolve(db)), errNoDatabase) {
		return
	}
	fmt.Fprintf(p.stderr, "Warning: there is no database at %s, but there are backups of it. A new one is made, without what they hold.\n"+
		"To have it back, stop this and type: firefighters restore %s --db %s\n", quoteArg(db), quoteArg(there[0].path), quoteArg(db))
}

// adviseRestore adds to an error that says that the database is damaged, not
// there or not ours to see, how to put the newest good backup in its place: one
// in dir, if that is named, or beside the database.
func adviseRestore(err error, db, dir string) error {
	if !errors.Is(err, errDamaged) && !errors.Is(err, errNotOurs) && !errors.Is(err, errNoDatabase) {
		return err
	}
	there := backupsOf(db, dir)
	good := newestGood(context.Background(), there)
	if good == nil {
		return err
	}
	hint := "firefighters restore " + quoteArg(good.path) + " --db " + quoteArg(db)
	if errors.Is(err, errNoDatabase) {
		hint = "name the right file with --db, or: " + hint
	}
	if whose := whoseAmong(there, good); whose != "" {
		return hinted{fmt.Errorf("%w; there are backups of more than one database: the newest good one is of %s, of the department %q",
			err, good.of.Format(time.RFC3339), whose), hint}
	}
	return hinted{fmt.Errorf("%w; the newest good backup is of %s", err, good.of.Format(time.RFC3339)), hint}
}

// warnOfBackupDir warns of a folder in which no backups can be made. It makes
// the folder, as the first backup would.
func (p *program) warnOfBackupDir(dir string) {
	if dir == "" {
		return
	}
	if fault, hint := unusable(dir); fault != "" {
		fmt.Fprintf(p.stderr, "Warning: no backups are made: the folder %s %s\nTry: %s\n", quoteArg(dir), fault, hint)
	}
}

// unusable says why no backups can be made in a folder, and what to do.
func unusable(dir string) (fault, hint string) {
	const another = ", or take another folder: --backup-dir DIR"
	if err := os.Mkdir(dir, 0o700); err != nil && !exists(dir) {
		return "cannot be made: " + blandly(err), "connect its disk, or make the folder by hand" + another
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return "is a file", "name a folder: --backup-dir DIR"
	}
	trial, err := os.CreateTemp(dir, ".trial-*")
	if err != nil {
		return "cannot be written: " + blandly(err), "start as the user who owns it" + another
	}
	trial.Close()
	os.Remove(trial.Name())
	return "", ""
}
