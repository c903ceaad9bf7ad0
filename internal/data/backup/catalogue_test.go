package backup_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

// saveAs creates a backup of a database with this time in its name and as its modification time.
func saveAs(t *testing.T, db, dir string, at time.Time) string {
	t.Helper()
	path := filepath.Join(dir, backup.FileName(db, at))
	makeBackup(t, db, path)
	must(t, os.Chtimes(path, at, at))
	return path
}

// TestListContent checks that the list names the people in a backup, and its latest change, also for
// an encrypted one.
func TestListContent(t *testing.T) {
	t.Parallel()
	_, to := newKey(t)
	for people, encryptTo := range map[int]backup.Recipients{0: nil, 2: nil, 3: to} {
		db, dir, now := newDatabase(t, people), t.TempDir(), noon
		s, log := newScheduler(t, db, dir, 9, &now)
		s.Encrypt(encryptTo)
		s.Begin(t.Context())
		s.Step(t.Context())
		all, err := backup.List(db, dir)
		if err != nil || len(all) != 1 || all[0].People != int64(people) || all[0].Seen.Year() != 2026 || all[0].Encrypted != (encryptTo != nil) {
			t.Errorf("%d people: %+v, %v, log %s", people, all, err, log)
		}
		must(t, os.Truncate(all[0].Path, 90))
		if all, err := backup.List(db, dir); err != nil || all[0].People != -1 || !all[0].Seen.IsZero() {
			t.Errorf("a damaged one: %+v, %v", all, err)
		}
	}
}

// TestRestorable checks that what a restore replaced is listed with the backups, and can be restored.
func TestRestorable(t *testing.T) {
	t.Parallel()
	db, dir := newDatabase(t, 3), t.TempDir()
	first := saveAs(t, db, dir, time.Now().Add(-time.Hour))
	saved := first
	addRecords(t, db, 2)
	for _, want := range []int{3, 5, 3} {
		_, err := backup.Restore{Format: format, File: saved, Database: db}.Run(t.Context())
		must(t, err)
		if got := records(t, db); got != want {
			t.Fatalf("%d records, want %d", got, want)
		}
		all, err := backup.Restorable(db, dir)
		must(t, err)
		if last := all[len(all)-1]; last.Kept || last.Path != first || !all[0].Kept || all[0].People == int64(want) {
			t.Fatalf("%+v", all)
		}
		saved = all[0].Path
	}
	if all, err := backup.Restorable(db, filepath.Join(dir, "missing")); err == nil || len(all) != 3 || !all[2].Kept {
		t.Errorf("without the folder: %+v, %v", all, err)
	}
	if all, err := backup.List(db, dir); err != nil || len(all) != 1 {
		t.Errorf("the list: %+v, %v", all, err)
	}
}

// TestNewestValid checks which backup is restored.
func TestNewestValid(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	now := time.Now()
	for _, tt := range []struct {
		name    string
		valid   []time.Duration // ages of backups
		invalid []time.Duration
		want    time.Duration
	}{
		{"the newest", []time.Duration{3 * day, day, 2 * day}, nil, day},
		{"a newer one is not valid", []time.Duration{3 * day, 2 * day}, []time.Duration{day}, 2 * day},
		{"one of the future is the oldest", []time.Duration{-400 * day, 2 * day}, nil, 2 * day},
		{"one slightly ahead of the clock", []time.Duration{-time.Minute, 2 * day}, nil, -time.Minute},
		{"one of the future is better than none", []time.Duration{-400 * day}, []time.Duration{day}, -400 * day},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			db, dir := newDatabase(t, 3), t.TempDir()
			paths := map[time.Duration]string{}
			for _, age := range append(tt.valid, tt.invalid...) {
				paths[age] = saveAs(t, db, dir, now.Add(-age))
			}
			for _, age := range tt.invalid {
				damage(t, paths[age])
			}
			found := backup.NewestValid(t.Context(), format, db, dir)
			if found == nil || found.Path != paths[tt.want] ||
				!found.Time.Equal(now.Add(-tt.want).UTC().Truncate(time.Second)) {
				t.Errorf("%+v", found)
			}
		})
	}
}

// TestFiles checks that Files returns the backups next to the database and in the folder, and no
// other files.
func TestFiles(t *testing.T) {
	t.Parallel()
	db, dir := newDatabase(t, 1), t.TempDir()
	now := time.Now()
	for _, name := range []string{"x.db", "x-20261120T120000Z", "x-20261120T120000Z.db.bak", "y-20260101T120000Z.db", "x-2026.db",
		"x-20261320T120000Z.db", "x-old-20260101T120000Z.db", "notes.txt"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600))
	}
	must(t, os.Mkdir(filepath.Join(dir, "x-20260101T120000Z.db"), 0o700))
	want := []string{saveAs(t, db, filepath.Dir(db), now.Add(-time.Hour)), saveAs(t, db, dir, now.Add(-2*time.Hour)),
		saveAs(t, db, filepath.Dir(db), now.Add(-3*time.Hour))}
	for _, dirs := range []struct {
		dir  string
		want []string
	}{{dir, want}, {"", []string{want[0], want[2]}}, {filepath.Dir(db), []string{want[0], want[2]}}, {filepath.Join(dir, "missing"), []string{want[0], want[2]}}} {
		files := backup.Files(format, db, dirs.dir)
		for i, f := range files {
			if len(files) != len(dirs.want) || f.Path != dirs.want[i] {
				t.Errorf("in %q: %+v", dirs.dir, files)
				break
			}
		}
		if len(files) == 0 {
			t.Errorf("no files in %q", dirs.dir)
		}
	}
	if found := backup.NewestValid(t.Context(), format, filepath.Join(dir, "other.db"), dir); found != nil {
		t.Errorf("files of a database without backups: %+v", found)
	}
}

// TestDepartmentsChange checks that a backup belongs to a database as long as they share a
// department, as another backup shares one with both, or as one of them has none.
func TestDepartmentsChange(t *testing.T) {
	t.Parallel()
	db, dir := newDatabase(t, 1), t.TempDir()
	now := time.Now()
	old := saveAs(t, db, dir, now.Add(-2*time.Hour))
	addDepartment(t, db, store.Department{Name: "second"})
	newer := saveAs(t, db, dir, now.Add(-time.Hour))
	for _, tt := range []struct {
		change string
		want   []string
	}{
		{`DELETE FROM tenants WHERE name = 'none'`, []string{newer, old}},
		{`DELETE FROM keys; DELETE FROM firefighters; DELETE FROM tenants WHERE name <> 'second'`, []string{newer, old}},
		{`UPDATE tenants SET created_at = created_at + 1`, nil},
		{`DELETE FROM tenants`, []string{newer, old}},
	} {
		execSQL(t, db, tt.change)
		var found []string
		for _, f := range backup.Files(format, db, dir) {
			found = append(found, f.Path)
		}
		if !slices.Equal(found, tt.want) {
			t.Errorf("after %s: %q", tt.change, found)
		}
	}
}
