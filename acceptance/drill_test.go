package acceptance

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/notes"
)

// backupOf returns the name of a backup of x.db that was made so long ago.
func backupOf(dir string, ago time.Duration) string {
	return filepath.Join(dir, "x-"+time.Now().Add(-ago).UTC().Format("20060102T150405Z")+".db")
}

// wireDrill is what drill --json prints, as a client would declare it.
type wireDrill struct {
	OK             bool
	Error          string
	File           string
	Time           time.Time
	AgeSeconds     int64
	Old            bool
	OfOthers       int
	RestoreSeconds float64
	CheckSeconds   float64
	Bytes          int64
	Backup         *wireTotals
	Database       *wireTotals
	Faults         []string
}

type wireTotals struct {
	Departments, People, Deleted, Changes int64
	NewestChange                          time.Time
}

func drillJSON(t *testing.T, wantCode int, db, dir string) (d wireDrill) {
	t.Helper()
	code, stdout, stderr := runCommand(t, "drill", "--db", db, "--backup-dir", dir, "--json")
	if err := json.Unmarshal([]byte(stdout), &d); err != nil || code != wantCode || d.OK != (code == 0) || (d.Error == "") != d.OK || (stderr == "") != (d.OK && d.OfOthers == 0) {
		t.Fatalf("%d, %v, stdout %q, stderr %q", code, err, stdout, stderr)
	}
	return d
}

// TestDrill: beside a service, of a backup that is good. It leaves nothing.
func TestDrill(t *testing.T) {
	t.Parallel()
	s := startOn(t, invented(t, 2, 30))
	s.key = newKey(t, s.db, "A")
	dir := t.TempDir()
	works(t, "backup", backupOf(dir, 60*time.Hour), "--db", s.db)
	works(t, "backup", backupOf(dir, time.Hour), "--db", s.db)
	id := s.create(t, ana)
	s.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	before := namesIn(t, filepath.Dir(s.db))
	stdout, stderr := works(t, "drill", "--db", s.db, "--backup-dir", dir)
	form := regexp.MustCompile(`^Restored \S+x-\d{8}T\d{6}Z\.db, which is (60 minutes|1 hour) old, and checked it\. It is sound\.
departments +3 +3
people +30 +30
deleted +0 +1
changes +30 +32
newest change +\S+Z +\S+Z
A restore takes \d+\.\d\d seconds on this PC \(\d+\.\d MB\), and the check after it \d+\.\d\d seconds\.
$`)
	if !form.MatchString(stdout) || !strings.HasPrefix(stderr, "WHAT ") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("stdout %q, stderr %q", stdout, stderr)
	}
	d := drillJSON(t, 0, s.db, dir)
	if d.Database == nil || *d.Backup != (wireTotals{3, 30, 0, 30, d.Backup.NewestChange}) || *d.Database != (wireTotals{3, 30, 1, 32, d.Database.NewestChange}) ||
		!d.Database.NewestChange.After(d.Backup.NewestChange) || d.Old || d.AgeSeconds < 3600 || d.RestoreSeconds <= 0 || d.Bytes < 1000 {
		t.Errorf("%+v", d)
	}
	if after := namesIn(t, filepath.Dir(s.db)); !slices.Equal(without(before, ".x.db-notes"), without(after, ".x.db-notes")) {
		t.Errorf("there was %q and is %q", before, after)
	}
	must(t, os.Remove(d.File))
	if stdout, stderr := works(t, "drill", "--db", s.db, "--backup-dir", dir); !strings.Contains(stdout, "which is 2 days old") ||
		!strings.Contains(stderr, "Warning: the newest backup is 2 days old. What has changed since is in no backup of this folder.\n") {
		t.Errorf("an old one: stdout %q, stderr %q", stdout, stderr)
	}
	if d := drillJSON(t, 0, s.db, dir); !d.Old {
		t.Errorf("an old one: %+v", d)
	}
}

func without(names []string, left string) (rest []string) {
	for _, name := range names {
		if name != left {
			rest = append(rest, name)
		}
	}
	return rest
}

// TestDrillFails: each reason has its words, and what to do.
func TestDrillFails(t *testing.T) {
	t.Parallel()
	db, saved, _ := backedUp(t)
	dir, other := t.TempDir(), filepath.Join(t.TempDir(), "x.db")
	newKey(t, other, "Engine 8")
	line := func(what, try string) string { return fmt.Sprintf("Error: %s\nTry: %s\n", what, try) }
	drill := []string{"drill", "--db", db, "--backup-dir", dir}

	refuses(t, 2, line("drill: say where the backups are", "firefighters drill --db "+db+" --backup-dir DIR"), "drill", "--db", db)
	missing := filepath.Join(dir, "missing")
	refuses(t, 1, line(fmt.Sprintf("the folder of backups %q is not there", missing), "connect its disk, or name another: --backup-dir DIR"), "drill", "--db", db, "--backup-dir", missing)
	refuses(t, 1, line(fmt.Sprintf("there is no backup of %q in %q", db, dir),
		"name the right folder and database; or make backups: firefighters serve --backup-dir "+dir+" --db "+db), drill...)
	foreign := backupOf(dir, time.Minute)
	works(t, "backup", foreign, "--db", other)
	refuses(t, 1, line(fmt.Sprintf("all backups in %q are of another database than %q", dir, db), "name the right folder with --backup-dir, or the right database with --db"), drill...)

	good := backupOf(dir, 5*time.Hour)
	copyOf(t, saved, good)
	if d := drillJSON(t, 0, db, dir); d.File != good || d.OfOthers != 1 || d.Backup.People != 10 || d.Database.People != 20 {
		t.Errorf("beside a newer one of another database: %+v", d)
	}
	must(t, os.Remove(foreign))

	newest := backupOf(dir, time.Hour)
	copyOf(t, saved, newest)
	damage(t, newest)
	at, err := time.Parse("20060102T150405Z", strings.TrimSuffix(strings.TrimPrefix(filepath.Base(good), "x-"), ".db"))
	must(t, err)
	examine := "make a new backup, and have the disk of " + dir + " examined: firefighters backup FILE --db " + db
	older := "; the newest good one is of " + at.Format(time.RFC3339)
	refuses(t, 1, line(fmt.Sprintf("the newest backup %q is damaged", newest)+older, examine), drill...)
	if d := drillJSON(t, 1, db, dir); d.File != newest || d.Database != nil || !strings.Contains(d.Error, "is damaged; the newest good one") {
		t.Errorf("a damaged one: %+v", d)
	}
	copyOf(t, saved, newest)
	execSQL(t, newest, `UPDATE tenants SET live_count = 9`)
	execSQL(t, newest, `PRAGMA journal_mode = DELETE`)
	code, stdout, stderr := runCommand(t, drill...)
	if code != 1 || !strings.Contains(stdout, "people ") || !strings.Contains(stderr, `The department "default": its count of records is 9`) ||
		!strings.Contains(stderr, line(fmt.Sprintf("the newest backup %q can be restored, but what it restores does not pass the check", newest), examine)) &&
			!strings.Contains(stderr, line(fmt.Sprintf("the newest backup %q can be restored, but what it restores does not pass the check", newest)+older, examine)) {
		t.Errorf("one with a wrong count: %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	copyOf(t, saved, newest)
	execSQL(t, newest, `UPDATE firefighters SET first_name = 'Eva' WHERE row & 3 = 1`)
	execSQL(t, newest, `PRAGMA journal_mode = DELETE`)
	if code, stdout, stderr := runCommand(t, drill...); code != 1 || !strings.Contains(stderr, "Error: the newest backup can be restored, but 3 records in it are damaged\nTry: see which: firefighters check") {
		t.Errorf("one with damaged records: %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	if names := namesIn(t, filepath.Dir(db)); len(without(names, ".x.db-notes")) > 3 {
		t.Errorf("left beside the database: %q", names)
	}
}

// TestServiceDrills: a service tries out the newest backup by itself, and says how that
// went on its page, in /readyz and in its log.
func TestServiceDrills(t *testing.T) {
	t.Parallel()
	db, dir := filepath.Join(t.TempDir(), "x.db"), filepath.Join(t.TempDir(), "backups")
	s := startWith(t, db, "serve", "--db", db, "--backup-dir", dir)
	eventually(t, "a drill", func() bool { return s.readyz(t).Backup.Drilled != nil })
	s.logs(t, "a restore drill went well")
	admin := s.signIn(t, newKey(t, db, "default", "--scope", "admin"), "en")
	if text := admin.get(t, "/office/").one(t, "footer").text(); !strings.Contains(text, "Last successful trial of restoring one: "+time.Now().Format("2 January 2006")) {
		t.Errorf("the foot: %s", text)
	}
	s.create(t, ana)
	s.stop(t)

	// A backup that is whole, but not as it should be.
	must(t, notes.Remove(db, notes.Drill))
	execSQL(t, db, `UPDATE tenants SET live_count = 9`)
	works(t, "backup", backupOf(dir, 0), "--db", db, "--force")
	bad := startWith(t, db, "serve", "--db", db, "--backup-dir", dir)
	bad.mayFail = true
	eventually(t, "a failed drill", func() bool { return !bad.readyz(t).Backup.OK })
	if r := bad.readyz(t); r.Status != "ready" || r.Backup.Since == nil || r.Backup.Last == nil || r.Backup.Detail != "a restore drill has failed: what it restores does not pass the check" {
		t.Errorf("%+v", r)
	}
	bad.logs(t, "the newest backup has failed a restore drill: see firefighters drill")
	admin = bad.signIn(t, newKey(t, db, "default", "--scope", "admin"), "de")
	if text := admin.get(t, "/office/").one(t, "div", "class", "backups box warn").text(); !strings.Contains(text, "Die neueste Sicherung ließ sich bei einer Probe nicht wiederherstellen.") || !strings.Contains(text, "firefighters drill") {
		t.Errorf("the foot: %s", text)
	}
}
