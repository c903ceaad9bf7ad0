package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
)

// TestRestoreErased checks that a restore returns no record that was permanently deleted
// after the backup and leaves no traces of it in the file, and that it returns all others.
func TestRestoreErased(t *testing.T) {
	t.Parallel()
	s := start(t)
	other := s.as(newKey(t, s.db, "other"))
	var erased, deleted []string
	for i := range 30 { // mixed with other records, and enough to split pages
		id := s.create(t, fmt.Sprintf(`{"firstName":"Canary%d%s","lastName":"CANARY","phoneNumber":"0998877%d"}`, i, strings.Repeat("x", i), i))
		s.do(t, "PUT", collection+"/"+id, `{"firstName":"Canary","lastName":"Canary"}`).wants(t, 200)
		erased = append(erased, id)
		other.create(t, ana)
	}
	deleted = append(deleted, s.create(t, ana))
	otherID := other.create(t, `{"firstName":"Canary","lastName":"CANARY"}`)
	gone := s.create(t, `{"firstName":"Canary","lastName":"CANARY"}`)
	s.do(t, "DELETE", collection+"/"+gone, "").wants(t, 204)
	dir := t.TempDir()
	saved := filepath.Join(dir, backupName(time.Now()))
	works(t, "backup", saved, "--db", s.db)
	for _, id := range append(erased, deleted...) {
		s.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	}
	other.do(t, "DELETE", collection+"/"+otherID, "").wants(t, 204)
	works(t, append([]string{"purge", "--db", s.db, "--tenant", "default", "--yes", gone}, erased...)...)
	works(t, "purge", "--db", s.db, "--tenant", "other", "--yes", otherID)
	s.stop(t)

	stdout, stderr := works(t, "restore", saved, "--db", s.db)
	if !strings.Contains(stdout, ": 31 records of 2 departments, ") || !strings.Contains(stderr, "Records permanently deleted since the backup stay deleted (32).\n") {
		t.Errorf("stdout %q, stderr %q", stdout, stderr)
	}
	checkTraces(t, s.db)
	works(t, "check", "--db", s.db)
	checkCounts(t, s.db)
	wantDepartments(t, s.db, "default: 1, 0, 1", "other: 30, 0, 1")
	for tenant, id := range map[string]string{"default": erased[3], "other": otherID} {
		if stdout, _ := works(t, "history", "--db", s.db, "--tenant", tenant, "--id", id); strings.Count(stdout, "\n") != 1 || !strings.Contains(stdout, " purge ") {
			t.Errorf("the history is %s", stdout)
		}
	}
	again := startOn(t, s.db).as(s.key)
	if next := again.create(t, ana); again.list(t, "").TotalCount != 2 {
		t.Errorf("%d records after %s was created", again.list(t, "").TotalCount, next)
	}
	again.do(t, "GET", collection+"/"+deleted[0], "").wants(t, 200)
	again.do(t, "GET", collection+"/"+erased[0], "").wants(t, 404)
}

// TestRestoreErasedLost checks that the list next to the backups replaces a lost database: it
// names the permanently deleted records. It contains only ids. A restore with --keep-erased
// removes the ids of restored records.
func TestRestoreErasedLost(t *testing.T) {
	t.Parallel()
	db, dir := filepath.Join(t.TempDir(), "x.db"), t.TempDir()
	list := filepath.Join(dir, backup.ErasedName)
	s := startWith(t, db, "serve", "--db", db, "--backup-dir", dir, "--backup-every", "1s")
	c := s.as(newKey(t, db, "default"))
	kept, gone := c.create(t, ana), c.create(t, `{"firstName":"Canary","lastName":"CANARY"}`)
	saved := filepath.Join(dir, "saved.db")
	works(t, "backup", saved, "--db", db)
	c.do(t, "DELETE", collection+"/"+gone, "").wants(t, 204)
	works(t, "purge", "--db", db, "--tenant", "default", "--yes", gone)
	listed := func() string { text, _ := os.ReadFile(list); return string(text) }
	eventually(t, "the list", func() bool { return listed() == gone+"\n" })
	checkModes(t, dir)
	s.stop(t)

	restored := func(people int, args ...string) {
		t.Helper()
		works(t, append([]string{"restore", saved, "--db", db}, args...)...)
		wantDepartments(t, db, fmt.Sprintf("default: %d, 0, 2", people))
	}
	must(t, os.Remove(db))
	restored(1)
	checkTraces(t, db)
	damage(t, db)
	restored(1)
	restored(2, "--keep-erased")
	if listed() != "" {
		t.Errorf("the list contains %q", listed())
	}
	restored(2)
	must(t, os.WriteFile(list, []byte("# who was erased\r\n"+kept+"\n"), 0o600))
	restored(2) // the records exist in the database, so the list is outdated
	must(t, os.Remove(db))
	restored(1)
}

// TestPurgeNamesHolders checks that purge names the copies that still contain the permanently
// deleted records, and no others.
func TestPurgeNamesHolders(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.create(t, ana)
	gone := s.create(t, ana)
	s.do(t, "DELETE", collection+"/"+gone, "").wants(t, 204)
	copyOf(t, s.db, s.db+".before-upgrade-20260101T000000Z") // without the -wal, which contains the records
	s.stop(t)
	holds := s.db + ".before-restore-20260102T000000Z"
	copyOf(t, s.db, holds)
	dir := t.TempDir()
	saved := filepath.Join(dir, backupName(time.Now()))
	works(t, "backup", saved, "--db", s.db)
	_, stderr := works(t, "purge", "--db", s.db, "--tenant", "default", "--yes", "--backup-dir", dir, gone)
	if listed, err := os.ReadFile(filepath.Join(dir, backup.ErasedName)); err != nil || string(listed) != gone+"\n" {
		t.Errorf("the list contains %q, %v", listed, err)
	}
	if !strings.HasPrefix(stderr, "Permanently deleted 1 record.\n") || !strings.Contains(stderr, filepath.Base(holds)) || strings.Contains(stderr, ".before-upgrade-") ||
		!regexp.MustCompile(`(?m)^`+filepath.Base(saved)+` .* -$`).MatchString(stderr) { // no date without a server
		t.Errorf("stderr %q", stderr)
	}

	// A purge that deletes nothing completes the list, for example once the disk is connected.
	must(t, os.Remove(filepath.Join(dir, backup.ErasedName)))
	works(t, "purge", "--db", s.db, "--older-than", "100y", "--yes", "--backup-dir", dir)
	if listed, err := os.ReadFile(filepath.Join(dir, backup.ErasedName)); err != nil || string(listed) != gone+"\n" {
		t.Errorf("after the second purge the list contains %q, %v", listed, err)
	}
}

// TestPurgeDates checks that purge prints the date until which the server keeps a backup,
// according to the settings of the server.
func TestPurgeDates(t *testing.T) {
	t.Parallel()
	db, dir := filepath.Join(t.TempDir(), "x.db"), t.TempDir()
	s := startWith(t, db, "serve", "--db", db, "--backup-dir", dir, "--backup-every", "1h", "--backup-keep", "3")
	eventually(t, "a backup", func() bool { return s.readyz(t).Backup.Last != nil })
	s.key = newKey(t, db, "default")
	gone := s.create(t, ana)
	works(t, "backup", filepath.Join(dir, backupName(time.Now().Add(time.Minute))), "--db", db)
	s.do(t, "DELETE", collection+"/"+gone, "").wants(t, 204)
	_, stderr := works(t, "purge", "--db", db, "--yes", gone)
	found := regexp.MustCompile(`(?m)^x-.* (\d{4}-\d\d-\d\d)$`).FindStringSubmatch(stderr)
	if found == nil {
		t.Fatalf("stderr %q", stderr)
	}
	if until, err := time.Parse(time.DateOnly, found[1]); err != nil || time.Until(until) > 10*24*time.Hour { // and not years
		t.Errorf("stderr %q", stderr)
	}
}

// erasedBackup returns a database, a backup of it in another folder, a copy that looks an
// hour older, and the id of a record that was permanently deleted after both.
func erasedBackup(t *testing.T) (db, saved, older, gone string) {
	t.Helper()
	s := start(t)
	gone = s.create(t, ana)
	saved, older = filepath.Join(t.TempDir(), "saved.db"), filepath.Join(t.TempDir(), "older.db")
	works(t, "backup", older, "--db", s.db)
	s.create(t, ana)
	works(t, "backup", saved, "--db", s.db)
	s.do(t, "DELETE", collection+"/"+gone, "").wants(t, 204)
	works(t, "purge", "--db", s.db, "--tenant", "default", "--yes", gone)
	s.stop(t)
	execSQL(t, older, `UPDATE service SET latest_time = latest_time - 3600000`)
	return s.db, saved, older, gone
}

const (
	erasedUnknown = "Warning: people who were permanently deleted after this backup may be back: "
	noList        = erasedUnknown + "neither the old database nor erased-ids.txt lists them\n"
	badList       = erasedUnknown + "the old database does not list them, and erased-ids.txt cannot be read: "
)

// TestRestoreErasedUnknown checks that a restore warns if neither the old database nor the
// list names the records that were permanently deleted after the backup. The old database
// does not if it is a different one, as after an installation, or an older copy.
func TestRestoreErasedUnknown(t *testing.T) {
	t.Parallel()
	current, saved, older, gone := erasedBackup(t)
	list := filepath.Join(filepath.Dir(saved), backup.ErasedName)
	const revoked = "Warning: keys that were revoked since the backup may be valid again\n"
	for name, tt := range map[string]struct {
		put        func(t *testing.T, db string)
		knows      bool // which records were permanently deleted
		keysUnsure bool // whether revoked keys may work again
	}{
		"missing": {put: func(*testing.T, string) {}},
		"damaged": {put: func(t *testing.T, db string) { copyOf(t, current, db); overwrite(t, db, 0, "damage") }, keysUnsure: true},
		"another": {put: func(t *testing.T, db string) { newKey(t, db, "default") }, keysUnsure: true},
		"older":   {put: func(t *testing.T, db string) { copyOf(t, older, db) }, keysUnsure: true},
		"current": {put: func(t *testing.T, db string) { copyOf(t, current, db) }, knows: true},
	} {
		restored := func(what string, people int, warning string, args ...string) {
			t.Helper()
			db := filepath.Join(t.TempDir(), "x.db")
			tt.put(t, db)
			_, stderr := works(t, append([]string{"restore", saved, "--db", db}, args...)...)
			if tt.knows && people == 2 && len(args) == 0 {
				people, warning = 1, ""
			}
			if (warning == "") == strings.Contains(stderr, erasedUnknown) || !strings.Contains(stderr, warning) || strings.Contains(stderr, revoked) != tt.keysUnsure {
				t.Errorf("%s, %s: %s", name, what, stderr)
			}
			var count int
			if scanSQL(t, db, `SELECT count(*) FROM firefighters`, &count); count != people {
				t.Errorf("%s, %s: %d people", name, what, count)
			}
		}
		restored("no list", 2, noList)
		restored("on purpose", 2, "", "--keep-erased")
		must(t, os.Mkdir(list, 0o700))
		restored("a list that cannot be read", 2, badList)
		must(t, os.Remove(list))
		must(t, os.WriteFile(list, []byte(gone+"\n"), 0o600))
		restored("a list", 1, "")
		must(t, os.Remove(list))
	}
}

// wordsOf returns the words of a printed command. The name of the temporary folder may
// contain spaces.
func wordsOf(command string) []string {
	words := strings.Fields(strings.ReplaceAll(command, os.TempDir(), "{}"))
	for i, word := range words {
		words[i] = strings.ReplaceAll(word, "{}", os.TempDir())
	}
	return words
}

// TestRestoreErasedAgain checks that the commands in the warning work as printed.
func TestRestoreErasedAgain(t *testing.T) {
	t.Parallel()
	_, saved, _, gone := erasedBackup(t)
	db := filepath.Join(t.TempDir(), "x.db")
	_, stderr := works(t, "restore", saved, "--db", db)
	tries := regexp.MustCompile(`(?m)^Try: .*: firefighters (.*)$`).FindAllStringSubmatch(stderr, -1)
	if len(tries) != 2 {
		t.Fatalf("stderr %s", stderr)
	}
	again, purge := wordsOf(tries[0][1]), wordsOf(tries[1][1])

	s := startOn(t, db)
	s.as(newKey(t, db, "default")).do(t, "DELETE", collection+"/"+gone, "").wants(t, 204)
	s.stop(t)
	purge[slices.Index(purge, "ID")] = gone
	works(t, append(purge, "--yes")...)
	wantDepartments(t, db, "default: 1, 0, 2")

	must(t, os.WriteFile(filepath.Join(filepath.Dir(saved), backup.ErasedName), []byte(gone+"\n"), 0o600))
	must(t, os.Rename(db, db+".away"))
	if _, stderr := works(t, again...); strings.Contains(stderr, erasedUnknown) {
		t.Errorf("with a list: %s", stderr)
	}
	wantDepartments(t, db, "default: 1, 0, 1")
}

// TestRestoreErasedDepartment checks that a restore warns if a department was removed from
// the old database, which then does not name the deleted records of that department.
func TestRestoreErasedDepartment(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.create(t, ana)
	other := s.as(newKey(t, s.db, "other"))
	gone := other.create(t, ana)
	saved := filepath.Join(t.TempDir(), "saved.db")
	works(t, "backup", saved, "--db", s.db)
	other.do(t, "DELETE", collection+"/"+gone, "").wants(t, 204)
	works(t, "purge", "--db", s.db, "--tenant", "other", "--yes", gone)
	works(t, "departments", "remove", "other", "--yes", "--db", s.db)
	s.stop(t)
	_, stderr := works(t, "restore", saved, "--db", s.db)
	if !strings.Contains(stderr, noList) {
		t.Errorf("stderr %s", stderr)
	}
}
