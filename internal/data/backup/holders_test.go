package backup_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// TestLongestDays checks that no backup is kept longer than the limit, and that the limit is close to
// the longest time.
func TestLongestDays(t *testing.T) {
	t.Parallel()
	options := []backup.Options{
		{Every: 3 * time.Hour, Keep: 30}, {Every: day, Keep: 90}, {Every: 5 * day, Keep: 14}, {Every: 40 * day, Keep: 9}}
	for keep := range 20 {
		options = append(options, backup.Options{Every: day, Keep: keep + 1})
	}
	for _, o := range options {
		longest := time.Duration(o.LongestDays()) * day
		var left []time.Time
		oldest := time.Duration(0)
		for at := time.Date(2026, 11, 24, 9, 30, 0, 0, time.UTC); at.Year() < 2030; at = at.Add(o.Every) {
			left = append(left, at)
			dropped := backup.Surplus(left, o.Keep)
			for _, gone := range dropped {
				oldest = max(oldest, at.Sub(gone))
			}
			left = slices.DeleteFunc(left, func(at time.Time) bool { return slices.ContainsFunc(dropped, at.Equal) })
		}
		if oldest > longest || longest > oldest*3/2+10*o.Every+10*day {
			t.Errorf("%+v: longest time %s, limit %s", o, oldest, longest)
		}
	}
}

// TestSearch checks that backups and the copies kept by restores and upgrades are searched, but not
// the backups of another database. An encrypted backup counts by its time, and an unreadable file is
// listed as such.
func TestSearch(t *testing.T) {
	t.Parallel()
	db, dir := newDatabase(t, 3), t.TempDir()
	at := func(hour int) time.Time { return time.Date(2026, 11, 20, hour, 0, 0, 0, time.UTC) }
	save := func(hour int) string {
		path := filepath.Join(dir, backup.FileName(db, at(hour)))
		makeBackup(t, db, path)
		return path
	}
	save(1)
	addDepartment(t, db, store.Department{Name: department, People: []record.Fields{{FirstName: "Ana", LastName: "B"}}})
	ana := ids(t, db)[3]
	held := []string{filepath.Base(save(3)), filepath.Base(save(2))}
	execSQL(t, db, `DELETE FROM firefighters WHERE id = ?`, ana)
	save(4)
	makeBackup(t, newDatabase(t, 1), filepath.Join(dir, backup.FileName(db, at(5))))
	copyTo := func(path string) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(dir, held[0]))
		must(t, err)
		must(t, os.WriteFile(path, text, 0o600))
		held = append(held, filepath.Base(path))
	}
	copyTo(db + ".before-restore-20261101T000000Z")
	copyTo(db + ".before-upgrade-20261101T000000Z")
	broken := filepath.Join(dir, backup.FileName(db, at(6)))
	must(t, os.WriteFile(broken, []byte("damaged"), 0o600))
	sealed := filepath.Join(dir, backup.FileName(db, at(2).Add(30*time.Minute))+".age")
	must(t, os.WriteFile(sealed, []byte("age-encryption.org/v1\n"), 0o600))
	held = slices.Insert(held, 1, filepath.Base(sealed))
	for _, path := range []string{filepath.Join(dir, "by hand.db"), filepath.Join(filepath.Dir(db), "next to it")} {
		copyTo(path)
	}
	copyOf(t, filepath.Join(dir, backup.FileName(db, at(4))), filepath.Join(dir, "without.db"))
	makeBackup(t, newDatabase(t, 1), filepath.Join(dir, "other.db"))
	must(t, os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("Ana"), 0o600))

	search := backup.Search{Database: db, Options: backup.Options{Dir: dir, Every: 24 * time.Hour, Keep: 4}, From: at(2), Until: at(4),
		Holds: func(c *sqlite.Conn) (bool, error) { return store.HoldsRecord(c, ana) }}
	found, err := search.Run(t.Context())
	must(t, err)
	var names []string
	for _, f := range found.Files {
		if names = append(names, filepath.Base(f.Path)); f.Until.IsZero() == strings.HasPrefix(names[len(names)-1], "x-") {
			t.Errorf("%s is deleted by %s", f.Path, f.Until)
		}
	}
	if !slices.Equal(names, held) || len(found.Unread) != 1 || found.Unread[0].Path != broken || found.Away || found.NotSet {
		t.Errorf("found %q, want %q; %+v", names, held, found)
	}
	search.Options.Dir = filepath.Join(dir, "away")
	if found, err := search.Run(t.Context()); err != nil || len(found.Files) != 3 || !found.Away {
		t.Errorf("if the folder is missing: %+v, %v", found, err)
	}
	search.Options.Dir = ""
	if found, err := search.Run(t.Context()); err != nil || len(found.Files) != 3 || !found.NotSet || found.Away {
		t.Errorf("if no folder is set: %+v, %v", found, err)
	}
}

// TestPlainCopyUntil checks that the next backup deletes the unencrypted copy of an encrypted backup,
// even though the encrypted backup stays.
func TestPlainCopyUntil(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC().Truncate(time.Second)
	db, dir := newDatabase(t, 3), t.TempDir()
	s, log := newScheduler(t, db, dir, 90, &now)
	_, to := newKey(t)
	s.Encrypt(to)
	s.Turn(t.Context())
	found, err := backup.Search{Database: db, Options: backup.Options{Dir: dir, Every: day, Keep: 90},
		Holds: func(*sqlite.Conn) (bool, error) { return true, nil }}.Run(t.Context())
	must(t, err)
	next := now.Add(day).Truncate(day)
	if len(found.Files) != 2 || !found.Files[0].Encrypted || !found.Files[0].Until.After(next) || !found.Files[1].Until.Equal(next) {
		t.Errorf("%+v, log %s", found.Files, log)
	}
}
