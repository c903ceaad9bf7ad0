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

// TestRestoreErased: a restore brings back nobody who was erased since the backup, and
// leaves no trace of them in the file. It brings back everybody else.
func TestRestoreErased(t *testing.T) {
	t.Parallel()
	s := start(t)
	other := s.as(newKey(t, s.db, "other"))
	var erased, deleted []string
	for i := range 30 { // beside others, as long as it takes to split pages
		id := s.create(t, fmt.Sprintf(`{"firstName":"Canary%d%s","lastName":"CANARY","phoneNumber":"0998877%d"}`, i, strings.Repeat("x", i), i))
		s.do(t, "PUT", collection+"/"+id, `{"firstName":"Canary","lastName":"Canary"}`).wants(t, 200)
		erased = append(erased, id)
		other.create(t, ana)
	}
	deleted = append(deleted, s.create(t, ana))
	hers := other.create(t, `{"firstName":"Canary","lastName":"CANARY"}`)
	gone := s.create(t, `{"firstName":"Canary","lastName":"CANARY"}`)
	s.do(t, "DELETE", collection+"/"+gone, "").wants(t, 204)
	dir := t.TempDir()
	saved := filepath.Join(dir, backupName(time.Now()))
	works(t, "backup", saved, "--db", s.db)
	for _, id := range append(erased, deleted...) {
		s.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	}
	other.do(t, "DELETE", collection+"/"+hers, "").wants(t, 204)
	works(t, append([]string{"purge", "--db", s.db, "--tenant", "default", "--yes", gone}, erased...)...)
	works(t, "purge", "--db", s.db, "--tenant", "other", "--yes", hers)
	s.stop(t)

	stdout, stderr := works(t, "restore", saved, "--db", s.db)
	if !strings.Contains(stdout, ": 31 records of 2 departments, ") || !strings.Contains(stderr, "Records that were erased since the backup and stay erased: 32.\n") {
		t.Errorf("stdout %q, stderr %q", stdout, stderr)
	}
	checkTraces(t, s.db)
	works(t, "check", "--db", s.db)
	checkCounts(t, s.db)
	wantDepartments(t, s.db, "default: 1, 0, 1", "other: 30, 0, 1")
	for tenant, id := range map[string]string{"default": erased[3], "other": hers} {
		if stdout, _ := works(t, "history", "--db", s.db, "--tenant", tenant, "--id", id); strings.Count(stdout, "\n") != 1 || !strings.Contains(stdout, " purge ") {
			t.Errorf("the history says %s", stdout)
		}
	}
	again := startOn(t, s.db).as(s.key)
	if next := again.create(t, ana); again.list(t, "").TotalCount != 2 {
		t.Errorf("after %s was added there are %d", next, again.list(t, "").TotalCount)
	}
	again.do(t, "GET", collection+"/"+deleted[0], "").wants(t, 200)
	again.do(t, "GET", collection+"/"+erased[0], "").wants(t, 404)
}

// TestRestoreErasedLost: where the database is gone, the list beside the backups says who
// was erased. It has ids alone, and follows a restore that brings somebody back on purpose.
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
		t.Errorf("the list has %q", listed())
	}
	restored(2)
	must(t, os.WriteFile(list, []byte("# who was erased\r\n"+kept+"\n"), 0o600))
	restored(2) // the database has them, so the list is of another time
	must(t, os.Remove(db))
	restored(1)
}

// TestPurgeNamesHolders: purge names the copies that still hold whom it has erased, and no
// others.
func TestPurgeNamesHolders(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.create(t, ana)
	gone := s.create(t, ana)
	s.do(t, "DELETE", collection+"/"+gone, "").wants(t, 204)
	copyOf(t, s.db, s.db+".before-upgrade-20260101T000000Z") // without the -wal, in which they are
	s.stop(t)
	holds := s.db + ".before-restore-20260102T000000Z"
	copyOf(t, s.db, holds)
	dir := t.TempDir()
	made := filepath.Join(dir, backupName(time.Now()))
	works(t, "backup", made, "--db", s.db)
	_, stderr := works(t, "purge", "--db", s.db, "--tenant", "default", "--yes", "--backup-dir", dir, gone)
	if listed, err := os.ReadFile(filepath.Join(dir, backup.ErasedName)); err != nil || string(listed) != gone+"\n" {
		t.Errorf("the list has %q, %v", listed, err)
	}
	if !strings.HasPrefix(stderr, "Erased: 1.\n") || !strings.Contains(stderr, filepath.Base(made)) || !strings.Contains(stderr, filepath.Base(holds)) || strings.Contains(stderr, ".before-upgrade-") {
		t.Errorf("stderr %q", stderr)
	}
}
