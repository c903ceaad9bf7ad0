package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
)

// backupOf returns the path of a scheduled backup of x.db with this age.
func backupOf(dir string, ago time.Duration) string {
	return filepath.Join(dir, "x-"+time.Now().Add(-ago).UTC().Format("20060102T150405Z")+".db")
}

// TestCheckNewestBackup checks the error for each fault of the newest backup, and that a sound backup
// passes while a server uses the database.
func TestCheckNewestBackup(t *testing.T) {
	t.Parallel()
	db, saved, _ := backedUp(t)
	dir, other := t.TempDir(), filepath.Join(t.TempDir(), "x.db")
	newKey(t, other, "Engine 8")
	verify := []string{"check", "--db", db, "--backup-dir", dir}
	none := func(what string) string {
		return fmt.Sprintf("Error: looking for a backup of %q in %q: %s\n", db, dir, what)
	}
	missing := filepath.Join(dir, "missing")
	refuses(t, 1, fmt.Sprintf("Error: the folder %q does not exist\n", missing),
		"check", "--db", db, "--backup-dir", missing)
	refuses(t, 1, fmt.Sprintf("Error: there are no backups of %q made by the server in %q\n", db, dir), verify...)
	works(t, "backup", backupOf(dir, time.Minute), "--db", other)
	refuses(t, 1, none("there are only backups of another database"), verify...)

	good := backupOf(dir, 5*time.Hour)
	copyOf(t, saved, good)
	startOn(t, db)
	passes := func(file string) {
		t.Helper()
		before := contents(t, dir)
		if stdout, stderr := works(t, verify...); stdout != fmt.Sprintf("The newest backup %q is sound.\n", file) || stderr != "" {
			t.Errorf("stdout %q, stderr %q", stdout, stderr)
		}
		if len(contents(t, dir)) != len(before) {
			t.Errorf("files: %q", namesIn(t, dir))
		}
	}
	passes(good)

	newest := backupOf(dir, time.Hour)
	at, err := time.Parse("20060102T150405Z", strings.TrimSuffix(strings.TrimPrefix(filepath.Base(good), "x-"), ".db"))
	must(t, err)
	unsound := func(why string) string {
		return fmt.Sprintf("Error: the newest backup is not sound: %s; the newest valid backup is from %s\nTry: create a new backup, if possible on another disk: firefighters backup FILE --db %s\n",
			why, at.Format(time.RFC3339), db)
	}
	copyOf(t, saved, newest)
	passes(newest)
	damage(t, newest)
	refuses(t, 1, unsound(fmt.Sprintf("reading database %q: the database is damaged", newest)), verify...)
	copyOf(t, saved, newest)
	execSQL(t, newest, `UPDATE firefighters SET first_name = 'Eva' WHERE row & 3 = 1`)
	damaged := fmt.Sprintf("Error: the newest backup %q contains 3 damaged records\nTry: firefighters check --db %s\n", newest, db)
	if code, _, stderr := runCommand(t, verify...); code != 1 || strings.Count(stderr, "is damaged: its fields do not match their checksum\n") != 3 || !strings.HasSuffix(stderr, damaged) {
		t.Errorf("one with damaged records: %d, %q", code, stderr)
	}
	copyOf(t, saved, newest)
	execSQL(t, newest, `UPDATE tenants SET live_count = 9`)
	if code, _, stderr := runCommand(t, verify...); code != 1 || !strings.HasPrefix(stderr, `The department "default": it counts 9 records`) ||
		!strings.Contains(stderr, fmt.Sprintf("Error: the newest backup %q is not sound", newest)) {
		t.Errorf("a backup with a wrong count: %d, %q", code, stderr)
	}
}

// TestServiceVerifies checks that a service verifies the newest backup and reports the result on its
// page, in /readyz and in the log.
func TestServiceVerifies(t *testing.T) {
	t.Parallel()
	db, dir := filepath.Join(t.TempDir(), "x.db"), filepath.Join(t.TempDir(), "backups")
	s := startWith(t, db, "serve", "--db", db, "--backup-dir", dir)
	eventually(t, "the verification", func() bool { return s.readyz(t).Backup.Verified != nil })
	s.logs(t, "the newest backup was verified")
	admin := s.signIn(t, newKey(t, db, "default", "--scope", "admin"), "en")
	if text := admin.get(t, "/office/").one(t, "footer").text(); !strings.Contains(text, "Last successful verification: "+time.Now().Format("2 January 2006")) {
		t.Errorf("footer: %s", text)
	}
	if stdout, _ := works(t, "backup", "list", "--db", db, "--backup-dir", dir, "--json"); strings.Count(stdout, `"verifiedAt":"20`) != 1 {
		t.Errorf("backup list: %s", stdout)
	}
	s.create(t, ana)
	s.stop(t)

	// A complete backup with an inconsistency.
	must(t, backup.RemoveNote(db, "verified"))
	execSQL(t, db, `UPDATE tenants SET live_count = 9`)
	works(t, "backup", backupOf(dir, 0), "--db", db, "--force")
	bad := startWith(t, db, "serve", "--db", db, "--backup-dir", dir)
	bad.mayFail = true
	eventually(t, "the failure", func() bool { return !bad.readyz(t).Backup.OK })
	if r := bad.readyz(t); r.Status != "ready" || r.Backup.Since == nil || r.Backup.Last == nil || r.Backup.Detail != "the newest backup is not sound: it does not pass the check" {
		t.Errorf("%+v", r)
	}
	bad.logs(t, "the newest backup is not sound: see firefighters check --backup-dir")
	admin = bad.signIn(t, newKey(t, db, "default", "--scope", "admin"), "de")
	if text := admin.get(t, "/office/").one(t, "details", "class", "backups warn").text(); !strings.Contains(text, "Die neueste Datensicherung hat die Prüfung nicht bestanden.") || !strings.Contains(text, "firefighters check --backup-dir DIR") {
		t.Errorf("box: %s", text)
	}
}

// TestServiceReportsLostBackups checks that a service notices missing backups and makes another.
func TestServiceReportsLostBackups(t *testing.T) {
	t.Parallel()
	db, dir := filepath.Join(t.TempDir(), "x.db"), filepath.Join(t.TempDir(), "backups")
	s := startWith(t, db, "serve", "--db", db, "--backup-dir", dir, "--backup-every", "30s")
	s.mayFail = true
	eventually(t, "a verified backup", func() bool { return s.readyz(t).Backup.Verified != nil })
	must(t, os.RemoveAll(dir))
	eventually(t, "the report", func() bool { return !s.readyz(t).Backup.OK })
	eventually(t, "another backup", func() bool { return exists(dir) && s.readyz(t).Backup.Last != nil })
	if b := s.readyz(t).Backup; b.OK || b.Since == nil || b.Detail != "the newest backup is missing from its folder" {
		t.Errorf("%+v", b)
	}
	s.logs(t, "the newest backup is missing from its folder")
}
