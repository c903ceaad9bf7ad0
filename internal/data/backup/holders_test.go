package backup_test

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// TestDeletedOn: the days are those on which backups go that are made and pruned one by one.
func TestDeletedOn(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(25, 2))
	for range 60 {
		now := time.Date(2026, 11, 24, random.IntN(24), random.IntN(60), 0, 0, time.UTC)
		o := backup.Options{Every: []time.Duration{3 * time.Hour, 7 * time.Hour, 24 * time.Hour, 5 * 24 * time.Hour}[random.IntN(4)], Keep: 1 + random.IntN(14)}
		var existing []time.Time
		for at := now; len(existing) < 1+random.IntN(20); at = at.Add(-time.Duration(1+random.IntN(40)) * time.Hour) {
			existing = append(existing, at)
		}
		existing = slices.DeleteFunc(existing, func(at time.Time) bool { return slices.ContainsFunc(backup.Surplus(existing, o.Keep), at.Equal) })
		left, want := slices.Clone(existing), map[int64]time.Time{}
		for next := existing[0].Add(o.Every); len(want) < len(existing); next = next.Add(o.Every) {
			if next.Before(now) {
				next = now
			}
			left = append(left, next)
			for _, dropped := range backup.Surplus(left, o.Keep) {
				left = slices.DeleteFunc(left, dropped.Equal)
				if slices.ContainsFunc(existing, dropped.Equal) {
					want[dropped.Unix()] = next.Truncate(24 * time.Hour)
				}
			}
		}
		if got := backup.DeletedOn(filesAt(existing), o, now); !maps.EqualFunc(got, want, time.Time.Equal) {
			t.Fatalf("%+v at %s of %v:\ngot  %v\nwant %v", o, now, existing, got, want)
		}
	}
}

func filesAt(times []time.Time) (files []backup.File) {
	for _, at := range times {
		files = append(files, backup.File{Time: at})
	}
	return files
}

// TestDeletedNever: what is kept for longer than anybody lives takes no time to find out,
// and has no day.
func TestDeletedNever(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 24, 9, 30, 0, 0, time.UTC)
	for _, o := range []backup.Options{{Every: 24 * time.Hour, Keep: 1e6}, {Every: 100 * 365 * 24 * time.Hour, Keep: 90}} {
		if days := backup.DeletedOn([]backup.File{{Time: now}}, o, now); len(days) > 0 {
			t.Errorf("%+v: %v", o, days)
		}
	}
	if days := backup.DeletedOn(nil, backup.Options{}, now); len(days) > 0 {
		t.Errorf("of no backup: %v", days)
	}
}

// TestSearch: backups, and what restores and upgrades have kept, but neither those of
// another database nor those without what is looked for. An encrypted one holds it by its
// time, and one that cannot be read is named.
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
	addItems(t, db, "record", "Ana")
	held := []string{filepath.Base(save(3)), filepath.Base(save(2))}
	execSQL(t, db, `DELETE FROM items WHERE value = 'Ana'`)
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

	search := backup.Search{Content: toy{}, Database: db, Options: backup.Options{Dir: dir, Every: 24 * time.Hour, Keep: 4}, From: at(2), Until: at(4),
		Holds: func(c *sqlite.Conn) (bool, error) {
			n, err := c.QueryInt(`SELECT count(*) FROM items WHERE value = 'Ana'`)
			return n > 0, err
		}}
	found, err := search.Run(t.Context())
	must(t, err)
	var names []string
	for _, f := range found.Files {
		if names = append(names, filepath.Base(f.Path)); f.Until.IsZero() != strings.Contains(f.Path, ".before-") {
			t.Errorf("%s is deleted on %s", f.Path, f.Until)
		}
	}
	if !slices.Equal(names, held) || len(found.Unread) != 1 || found.Unread[0].Path != broken || found.Away || found.NotSet {
		t.Errorf("found %q, want %q; %+v", names, held, found)
	}
	search.Options.Dir = filepath.Join(dir, "away")
	if found, err := search.Run(t.Context()); err != nil || len(found.Files) != 2 || !found.Away {
		t.Errorf("without the folder: %+v, %v", found, err)
	}
	search.Options.Dir = ""
	if found, err := search.Run(t.Context()); err != nil || len(found.Files) != 2 || !found.NotSet || found.Away {
		t.Errorf("without a folder: %+v, %v", found, err)
	}
}

// TestPlainCopyUntil: the plain copy of an encrypted backup goes with the next backup, and
// not with its encrypted one.
func TestPlainCopyUntil(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC().Truncate(time.Second)
	db, dir := newDatabase(t, 3), t.TempDir()
	s, log := newScheduler(t, db, dir, 90, &now)
	_, to := newKey(t)
	s.Encrypt(to)
	s.Turn(t.Context())
	found, err := backup.Search{Content: toy{}, Database: db, Options: backup.Options{Dir: dir, Every: day, Keep: 90},
		Holds: func(*sqlite.Conn) (bool, error) { return true, nil }}.Run(t.Context())
	must(t, err)
	next := now.Add(day).Truncate(day)
	if len(found.Files) != 2 || !found.Files[0].Encrypted || !found.Files[0].Until.After(next) || !found.Files[1].Until.Equal(next) {
		t.Errorf("%+v, log %s", found.Files, log)
	}
}
