package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// damage makes a database file unreadable but for its header.
func damage(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	copy(text[4096:], strings.Repeat("damage", 3000))
	must(t, os.WriteFile(path, text, 0o600))
}

// servedInto serves a database until there is a backup made in dir.
func servedInto(t *testing.T, db, dir string) (s *service) {
	t.Helper()
	s = startWith(t, db, "serve", "--db", db, "--backup-dir", dir)
	eventually(t, "a backup", func() bool { r := s.readyz(t); return r.Backup.OK && r.Backup.Last != nil })
	return s
}

// TestClockWasAhead: what was saved while the clock was ahead, and what is
// saved since by a database that remembers it, is not taken for the newest.
func TestClockWasAhead(t *testing.T) {
	t.Parallel()
	db, saved, _ := backedUp(t)
	dir := t.TempDir()
	ahead := filepath.Join(dir, "x-20990101T000000Z.db")
	copyOf(t, saved, ahead)
	must(t, os.Chtimes(ahead, noon.AddDate(-1, 0, 0), noon.AddDate(-1, 0, 0)))
	execSQL(t, db, `UPDATE service SET latest_time = 4083000000000`) // in 2099
	before := time.Now().Add(-time.Second)
	s := startWith(t, db, "serve", "--db", db, "--backup-dir", dir)
	eventually(t, "a backup of today", func() bool {
		last := s.readyz(t).Backup.Last
		return last != nil && last.After(before) && last.Before(time.Now().Add(time.Minute))
	})
	s.stop(t)
	names := namesIn(t, dir)
	if len(names) != 2 {
		t.Fatalf("there is %q", names)
	}
	damage(t, db)
	_, _, stderr := command(t, "serve", "--db", db, "--backup-dir", dir)
	if want := "Try: firefighters restore " + filepath.Join(dir, names[0]) + " --db " + db + "\n"; !strings.HasSuffix(stderr, want) {
		t.Errorf("stderr %q, there is %q", stderr, names)
	}
}

// TestDamageInBackups: a backup that holds damaged records is made, is said to,
// and is not the one to restore.
func TestDamageInBackups(t *testing.T) {
	t.Parallel()
	db, saved, _ := backedUp(t)
	dir := t.TempDir()
	clean := filepath.Join(dir, backupName(db, time.Now().Add(-48*time.Hour)))
	copyOf(t, saved, clean)
	must(t, os.Chtimes(clean, time.Now(), time.Now().Add(-48*time.Hour)))
	execSQL(t, db, `UPDATE firefighters SET first_name = 'Anb' WHERE row & 7 = 1`)
	s := startWith(t, db, "serve", "--db", db, "--backup-dir", dir)
	s.mayFail = true
	want := backupState{OK: true, Detail: "3 records of the newest backup are damaged: see firefighters check"}
	eventually(t, "the damage to be said", func() bool { b := s.readyz(t).Backup; b.Last = nil; return b == want })
	if log := s.stderr.String(); !strings.Contains(log, "records are damaged, and so in the backups") {
		t.Errorf("log %s", log)
	}
	s.stop(t)
	damage(t, db)
	if _, _, stderr := command(t, "serve", "--db", db, "--backup-dir", dir); !strings.Contains(stderr, "restore "+clean+" ") {
		t.Errorf("stderr %q", stderr)
	}
}

// TestSharedFolder: a folder holds the backups of two databases of one name.
func TestSharedFolder(t *testing.T) {
	t.Parallel()
	dir, year := t.TempDir(), noon.AddDate(-1, 0, 0)
	now := year
	k, log := keeperOf(t, dir, 1, &now)
	stranger, _, _ := backedUp(t)
	var theirs []string
	for _, day := range []int{-3, -2, 1} {
		name := backupName(stranger, year.AddDate(0, 0, day))
		if code, _, stderr := command(t, "backup", filepath.Join(dir, name), "--db", stranger); code != 0 {
			t.Fatal(stderr)
		}
		theirs = append(theirs, name)
	}
	for range 3 {
		k.turn(t.Context())
		now = now.Add(24 * time.Hour)
	}
	names := namesIn(t, dir)
	if want := append(theirs, backupName(k.db, year.AddDate(0, 0, 2))); len(names) != 4 || !slices.Contains(names, want[0]) ||
		!slices.Contains(names, want[1]) || !slices.Contains(names, want[2]) || !slices.Contains(names, want[3]) {
		t.Errorf("there is %q, not %q", names, want)
	}
	if strings.Count(log.String(), "this folder holds backups of another database") != 1 {
		t.Errorf("log %s", log)
	}
	must(t, os.Remove(filepath.Join(dir, theirs[2])))
	execSQL(t, stranger, `PRAGMA writable_schema = on; UPDATE sqlite_schema SET rootpage = 2 WHERE name = 'changes'`) // as damage would
	_, _, stderr := command(t, "serve", "--db", stranger, "--backup-dir", dir)
	if want := "restore " + filepath.Join(dir, theirs[1]) + " --db " + stranger + "\n"; !strings.HasSuffix(stderr, want) {
		t.Errorf("stderr %q, not %q", stderr, want)
	}
}

// TestSharedFolderUnknown: of a database that cannot be read, a person has to
// know which backup is of it.
func TestSharedFolderUnknown(t *testing.T) {
	t.Parallel()
	dir, times := t.TempDir(), noon.AddDate(-1, 0, 0)
	one, saved, _ := backedUp(t)
	copyOf(t, saved, filepath.Join(dir, backupName(one, times)))
	other := filepath.Join(t.TempDir(), "x.db")
	newKey(t, other, "Engine 7")
	if code, _, stderr := command(t, "backup", filepath.Join(dir, backupName(one, times.Add(time.Hour))), "--db", other); code != 0 {
		t.Fatal(stderr)
	}
	damage(t, one)
	_, _, stderr := command(t, "serve", "--db", one, "--backup-dir", dir)
	if want := `; there are backups of more than one database: the newest good one is of 2025-11-20T13:00:00Z, of the department "Engine 7"`; !strings.Contains(stderr, want) {
		t.Errorf("stderr %q", stderr)
	}
}

// TestNewestIsBad: a backup that is not whole is not counted on.
func TestNewestIsBad(t *testing.T) {
	t.Parallel()
	db, saved, _ := backedUp(t)
	dir := t.TempDir()
	bad := filepath.Join(dir, backupName(db, time.Now().Add(-time.Minute)))
	copyOf(t, saved, bad)
	damage(t, bad)
	s := servedInto(t, db, dir)
	last := s.readyz(t).Backup.Last
	if names := namesIn(t, dir); !slices.Contains(names, backupName(db, *last)) || filepath.Base(bad) == backupName(db, *last) {
		t.Errorf("the last is of %v, there is %q", last, names)
	}
	s.stop(t)
	if n := recordsIn(t, filepath.Join(dir, backupName(db, *last))); n != 20 {
		t.Error(fmt.Sprint(n, " records"))
	}
}
