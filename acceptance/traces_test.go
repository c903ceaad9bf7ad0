package acceptance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firefighter-records/firefighters/internal/data/backup"
)

// killedPurge kills a purge between the deletion and the rewrite of the file, for which a reader of
// the database makes it wait. It returns a function that ends the reader.
func killedPurge(t *testing.T, db, id string) (release func()) {
	t.Helper()
	reader := openSQL(t, db)
	tx, err := reader.Begin()
	must(t, err)
	count := 0
	must(t, tx.QueryRow(`SELECT count(*) FROM firefighters`).Scan(&count))
	cmd, _ := process(t, "purge", "--db", db, "--department", firstDepartment, "--yes", id)
	must(t, cmd.Start())
	eventually(t, "the deletion", func() bool {
		scanSQL(t, db, `SELECT count(*) FROM firefighters WHERE id = '`+id+`'`, &count)
		return count == 0
	})
	must(t, cmd.Process.Kill())
	cmd.Wait()
	return func() {
		must(t, tx.Rollback())
		must(t, reader.Close())
	}
}

// deletedCanary creates and soft-deletes a person among others.
func (s *testService) deletedCanary(t *testing.T) (id string) {
	t.Helper()
	for range 20 {
		s.create(t, ana)
	}
	id = s.create(t, `{"firstName":"Canaryfirst","lastName":"CANARY"}`)
	s.create(t, ana)
	s.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	return id
}

// checkFolder checks that no file of a folder contains a canary.
func checkFolder(t *testing.T, folder string) {
	t.Helper()
	must(t, filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			checkTraces(t, path)
		}
		return err
	}))
}

// TestKilledPurge checks that the file remembers that a killed purge has not rewritten it: check
// reports it, a backup contains no traces, and the same purge again removes them.
func TestKilledPurge(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.deletedCanary(t)
	s.stop(t)
	release := killedPurge(t, s.db, id)
	if len(traces(t, s.db)) == 0 {
		t.Error("the file has no traces to remove")
	}
	again := "firefighters check --repair --db " + s.db
	code, stdout, stderr := runCommand(t, "check", "--db", s.db)
	if code != 1 || stdout != "" || stderr != "Error: traces of permanently deleted data may be left in the file\nTry: "+again+"\n" {
		t.Errorf("check: %d, %q, %q", code, stdout, stderr)
	}
	saved := filepath.Join(t.TempDir(), "saved.db")
	works(t, "backup", saved, "--db", s.db)
	checkTraces(t, saved)
	works(t, "check", "--db", saved)
	release()
	_, stderr = works(t, "purge", "--db", s.db, "--yes", id)
	if stderr != "There is nothing to delete.\n" {
		t.Error(stderr)
	}
	checkFolder(t, filepath.Dir(s.db))
	works(t, "check", "--db", s.db)
}

// TestKilledPurgeServed checks that a running service and its page report the traces that a killed
// purge has left, that its backups have none, and that the next start removes them.
func TestKilledPurgeServed(t *testing.T) {
	t.Parallel()
	db, dir := filepath.Join(t.TempDir(), "x.db"), t.TempDir()
	s := startWith(t, db, "serve", "--db", db, "--backup-dir", dir, "--backup-every", "1s", "--backup-keep", "1")
	s.key = newKey(t, db, firstDepartment)
	b := s.signIn(t, newKey(t, db, firstDepartment, "--scope", "admin"), "en")
	id := s.deletedCanary(t)
	release := killedPurge(t, db, id)
	const detail = `"erasure":{"ok":false,"detail":"the file may contain traces of permanently deleted data until it is rewritten"}`
	if ready := s.do(t, "GET", "/readyz", "").wants(t, 200); !strings.Contains(string(ready.body), detail) {
		t.Errorf("/readyz: %s", ready.body)
	}
	b.get(t, "/office/").says(t, "traces of permanently deleted people")
	newest := ""
	for range 3 { // the first may be from before the purge, and the second may have begun before it
		eventually(t, "another backup", func() bool {
			found, _ := filepath.Glob(filepath.Join(dir, "x-*.db"))
			isNew := len(found) == 1 && found[0] > newest
			if isNew {
				newest = found[0]
			}
			return isNew
		})
	}
	s.stop(t)
	checkFolder(t, dir)
	release()
	if len(traces(t, db)) == 0 {
		t.Error("the file has no traces to remove")
	}
	s = startOn(t, db)
	s.logs(t, "the file was rewritten, without traces of permanently deleted people")
	checkFolder(t, filepath.Dir(db))
	s.stop(t)
	works(t, "check", "--db", db)
}

// TestRemoveLeavesNothing checks that the file contains no label, invitation or file name of a removed
// department.
func TestRemoveLeavesNothing(t *testing.T) {
	t.Parallel()
	s := start(t)
	other := s.as(newKey(t, s.db, "Canary company", "--label", "Ivo Canary"))
	works(t, "invite", "--db", s.db, "--department", "Canary company", "--name", "Eva Canary")
	list := filepath.Join(t.TempDir(), "canary.csv")
	must(t, os.WriteFile(list, []byte("First name,Last name\nAna,Canary\n"), 0o600))
	works(t, "import", list, "--apply", "--db", s.db, "--department", "Canary company")
	id := other.list(t, "").Data.Items[0].ID
	other.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
	works(t, "purge", "--db", s.db, "--department", "Canary company", "--yes", id)
	works(t, "departments", "remove", "Canary company", "--yes", "--db", s.db)
	checkFolder(t, filepath.Dir(s.db))
}

// TestPurgeUpdatesLists checks that a purge updates the list of deleted records in its folder of backups,
// and that the service does so if the purge names another folder or does not know the service's.
func TestPurgeUpdatesLists(t *testing.T) {
	t.Parallel()
	db, dir, other := filepath.Join(t.TempDir(), "x.db"), t.TempDir(), t.TempDir()
	s := startWith(t, db, "serve", "--db", db, "--backup-dir", dir)
	s.key = newKey(t, db, firstDepartment)
	listed := func(folder string) string {
		text, _ := os.ReadFile(filepath.Join(folder, backup.ErasedName))
		return string(text)
	}
	purge := func(args ...string) (id, stderr string) {
		t.Helper()
		id = s.create(t, ana)
		eventually(t, "a backup by hand, which waits for the service's", func() bool {
			code, _, _ := runCommand(t, "backup", filepath.Join(dir, "by hand.db"), "--force", "--db", db)
			return code == 0
		})
		s.do(t, "DELETE", collection+"/"+id, "").wants(t, 204)
		_, stderr = works(t, append([]string{"purge", "--db", db, "--yes", id}, args...)...)
		return id, stderr
	}
	first, stderr := purge()
	if want := first + "\n"; listed(dir) != want || !strings.Contains(stderr, "\nby hand.db ") {
		t.Errorf("the list is %q, want %q; %s", listed(dir), want, stderr)
	}
	second, _ := purge("--backup-dir", other)
	want := first + "\n" + second + "\n"
	if listed(other) != want {
		t.Errorf("the list is %q, want %q", listed(other), want)
	}
	eventually(t, "the list of the service", func() bool { return listed(dir) == want })
	must(t, backup.RemoveNotes(db))
	third, _ := purge()
	eventually(t, "the list of the service", func() bool { return listed(dir) == first+"\n"+second+"\n"+third+"\n" })
}
