package acceptance

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/commands/cli"
	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// backedUpFiles are the files that backedUp copies. They are created once.
var backedUpFiles struct {
	sync.Once
	db, saved []byte
	keys      [2]string
}

// backedUp returns a database of 20 records and a backup of its first 10 records in another folder.
// The second of its two keys was revoked after the backup.
func backedUp(t *testing.T) (db, saved string, keys [2]string) {
	t.Helper()
	db, saved = filepath.Join(t.TempDir(), "x.db"), filepath.Join(t.TempDir(), "saved.db")
	f := &backedUpFiles
	f.Do(func() {
		f.keys = [2]string{newKey(t, db, "default"), newKey(t, db, "default")}
		s := openAt(t, db, time.Now)
		createTen(t, s)
		works(t, "backup", saved, "--db", db)
		createTen(t, s)
		must(t, s.Close())
		works(t, "keys", "revoke", "2", "--db", db)
		var err error
		f.db, err = os.ReadFile(db)
		must(t, err)
		f.saved, err = os.ReadFile(saved)
		must(t, err)
	})
	must(t, os.WriteFile(db, f.db, 0o600))
	must(t, os.WriteFile(saved, f.saved, 0o600))
	return db, saved, f.keys
}

func createTen(t *testing.T, s *store.Store) {
	t.Helper()
	fields, err := record.Decode([]byte(ana), time.Now())
	must(t, err)
	for range 10 {
		_, err := s.Create(1, 1, fields, nil)
		must(t, err)
	}
}

// keptBeside returns the databases that restores have kept.
func keptBeside(t *testing.T, db string) (kept []string) {
	t.Helper()
	for _, name := range namesIn(t, filepath.Dir(db)) {
		if strings.HasPrefix(name, filepath.Base(db)+".before-restore-") {
			kept = append(kept, filepath.Join(filepath.Dir(db), name))
		}
	}
	return kept
}

// TestRestoreNamesDropped checks that restore names the old copies that it deletes.
func TestRestoreNamesDropped(t *testing.T) {
	t.Parallel()
	db, saved, _ := backedUp(t)
	old := db + ".before-restore-20200101T000000Z"
	must(t, os.WriteFile(old, nil, 0o600))
	_, stderr := works(t, "restore", saved, "--db", db)
	if !strings.Contains(stderr, "Deleted "+old+", which an earlier restore had kept.\n") || slices.Contains(keptBeside(t, db), old) {
		t.Errorf("stderr %q, files %q", stderr, keptBeside(t, db))
	}
}

func TestRestore(t *testing.T) {
	t.Parallel()
	db, saved, keys := backedUp(t)
	stdout, stderr := works(t, "restore", saved, "--db", db)
	kept := keptBeside(t, db)
	if len(kept) != 1 || recordsIn(t, kept[0]) != 20 {
		t.Fatalf("kept %q, stderr %q", kept, stderr)
	}
	found := regexp.MustCompile(`^Restored (.+) from (.+): 10 records of 1 department, as it was at 20\S+Z\.\n$`).FindStringSubmatch(stdout)
	if found == nil || found[1] != db || found[2] != saved ||
		stderr != fmt.Sprintf("The old database is kept as %s.\nKeys revoked since the backup stay revoked (1).\n", kept[0]) {
		t.Errorf("stdout %q, stderr %q", stdout, stderr)
	}
	if names := namesIn(t, filepath.Dir(db)); len(names) != 2 {
		t.Errorf("files: %q", names)
	}
	checkModes(t, filepath.Dir(db))
	s := startOn(t, db)
	if l := s.as(keys[0]).list(t, ""); l.TotalCount != 10 {
		t.Errorf("%d records", l.TotalCount)
	}
	if a := s.as(keys[1]).do(t, "GET", collection, ""); a.status != 401 {
		t.Errorf("a key that was revoked after the backup: %d", a.status)
	}
}

// TestRestoreSettings checks that a restore reports the settings that it separates from their PC.
func TestRestoreSettings(t *testing.T) {
	t.Parallel()
	db, saved, _ := backedUp(t)
	execSQL(t, saved, `INSERT INTO settings VALUES (1, '', '', 1, 'this PC')`)
	if _, stderr := works(t, "restore", saved, "--db", db); !strings.Contains(stderr, "Until an admin confirms Settings on the page") {
		t.Errorf("stderr %q", stderr)
	}
}

// TestRestoreMissing checks that a restore creates a missing database and moves away a -wal of
// another database.
func TestRestoreMissing(t *testing.T) {
	t.Parallel()
	_, saved, keys := backedUp(t)
	db := filepath.Join(t.TempDir(), "new.db")
	if _, stderr := works(t, "restore", saved, "--db", db); !strings.HasPrefix(stderr, noList) || !strings.HasSuffix(stderr,
		fmt.Sprintf("\nCreated the database %s with the keys of the backup. See: firefighters keys list --db %s\n", db, db)) {
		t.Errorf("stderr:\n%s", stderr)
	}
	if l := startOn(t, db).as(keys[1]).list(t, ""); l.TotalCount != 10 {
		t.Errorf("%d records", l.TotalCount)
	}
	db = filepath.Join(t.TempDir(), "new.db")
	must(t, os.WriteFile(db+"-wal", []byte("of a database that was deleted"), 0o600))
	stdout, stderr := works(t, "restore", saved, "--db", db)
	if !strings.HasPrefix(stdout, "Restored ") || !strings.Contains(stderr, "Warning: keys that were revoked") {
		t.Errorf("stdout %q, stderr %q", stdout, stderr)
	}
	if kept := keptBeside(t, db); len(kept) != 1 || exists(db+"-wal") || recordsIn(t, db) != 10 {
		t.Errorf("kept %q", kept)
	}
}

// TestRestoreRaw checks that a copy of a database file in use is not accepted as a backup.
func TestRestoreRaw(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.create(t, ana)
	raw := filepath.Join(t.TempDir(), "raw.db")
	copyOf(t, s.db, raw)
	db := filepath.Join(t.TempDir(), "x.db")
	refuses(t, 1, fmt.Sprintf("Error: the backup %q has no department\n"+
		"Try: if it is a copy of a database file, make a backup of that database instead: firefighters backup NEWFILE --db FILE\n", raw),
		"restore", raw, "--db", db)
	if exists(db) {
		t.Error("the restore created a database")
	}
	s.stop(t)
	copyOf(t, s.db, raw)
	want := fmt.Sprintf("Warning: %s is a copy of a database file, not a backup: the latest changes may be missing\n", raw)
	if _, stderr := works(t, "restore", raw, "--db", db); !strings.Contains(stderr, want) {
		t.Errorf("stderr %q", stderr)
	}
}

// TestRestoreOverDamagedPage checks that keys stay revoked although another table of the old database
// is damaged.
func TestRestoreOverDamagedPage(t *testing.T) {
	t.Parallel()
	db, saved, keys := backedUp(t)
	var page int64
	scanSQL(t, db, `SELECT rootpage FROM sqlite_schema WHERE name = 'tenants'`, &page)
	overwrite(t, db, (page-1)*4096, strings.Repeat("damage", 600))
	_, stderr := works(t, "restore", saved, "--db", db)
	if !strings.HasSuffix(stderr, "\nKeys revoked since the backup stay revoked (1).\n") {
		t.Errorf("stderr %q", stderr)
	}
	if a := startOn(t, db).as(keys[1]).do(t, "GET", collection, ""); a.status != 401 {
		t.Errorf("a key that was revoked after the backup: %d", a.status)
	}
}

// TestRestoreHistory checks that each restore starts a new history, whatever database existed before.
func TestRestoreHistory(t *testing.T) {
	t.Parallel()
	db, saved, _ := backedUp(t)
	number := func(path string) string { t.Helper(); return dump(t, path, `SELECT history FROM service`) }
	seen := map[string]bool{number(db): true, "[0]\n": true}
	if !seen[number(saved)] {
		t.Error("the backup has a different history")
	}
	next := func(what string) {
		t.Helper()
		works(t, "keys", "list", "--db", db)
		if current := number(db); seen[current] {
			t.Errorf("%s: the number %s was already used", what, current)
		} else {
			seen[current] = true
		}
	}
	works(t, "restore", saved, "--db", db)
	next("over a database")
	must(t, os.Remove(db))
	works(t, "restore", saved, "--db", db)
	next("without a database")
	damage(t, db)
	works(t, "restore", saved, "--db", db)
	next("over damage")
}

// TestRestoreManyRevoked checks that a restore succeeds although the revoked keys make the file larger
// than the backup.
func TestRestoreManyRevoked(t *testing.T) {
	t.Parallel()
	db, saved := filepath.Join(t.TempDir(), "x.db"), filepath.Join(t.TempDir(), "saved.db")
	s := openAt(t, db, time.Now)
	const keys = 400
	for range keys {
		storeKey(t, s, time.Time{})
	}
	works(t, "backup", saved, "--db", db)
	for i := range keys {
		_, err := s.RevokeKey(store.AnyTenant, store.KeyID(1+i))
		must(t, err)
	}
	must(t, s.Close())
	before, err := os.Stat(saved)
	must(t, err)
	_, stderr := works(t, "restore", saved, "--db", db)
	after, err := os.Stat(db)
	must(t, err)
	if !strings.HasSuffix(stderr, fmt.Sprintf("\nKeys revoked since the backup stay revoked (%d).\n", keys)) || after.Size() <= before.Size() {
		t.Errorf("stderr %q; %d bytes, want more than the %d of the backup", stderr, after.Size(), before.Size())
	}
}

// TestRestoreRefusals checks that a rejected restore changes nothing.
func TestRestoreRefusals(t *testing.T) {
	t.Parallel()
	db, saved, _ := backedUp(t)
	dir := t.TempDir()
	text, err := os.ReadFile(saved)
	must(t, err)
	bad, foreign, newer := filepath.Join(dir, "bad.db"), filepath.Join(dir, "foreign.db"), filepath.Join(dir, "newer.db")
	must(t, os.WriteFile(newer, text, 0o600))
	execSQL(t, newer, `PRAGMA user_version = 1000`)
	copy(text[4096*3:], strings.Repeat("damage", 3000))
	must(t, os.WriteFile(bad, text, 0o600))
	execSQL(t, foreign, `CREATE TABLE t (a)`)
	before := contents(t, filepath.Dir(db))
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{bad, "--db", db}, 1, fmt.Sprintf("Error: the backup %q is damaged\n", bad)},
		{[]string{foreign, "--db", db}, 1, fmt.Sprintf("Error: the backup %q is not a database of this program\n", foreign)},
		{[]string{newer, "--db", db}, 1, fmt.Sprintf("Error: %q was written by a newer version of this program (schema 1000; this version supports 1)\n"+
			"Try: install the newer version\n", newer)},
		{[]string{filepath.Join(dir, "absent.db"), "--db", db}, 1,
			fmt.Sprintf("Error: there is no backup %q\n", filepath.Join(dir, "absent.db"))},
		{[]string{db, "--db", db}, 1, fmt.Sprintf("Error: reading the backup %q: it is the database itself\n", db)},
		{[]string{dir, "--db", db}, 1, fmt.Sprintf("Error: %q is not a file\n", dir)},
		{[]string{"", "--db", db}, 2, "Error: missing argument FILE\nTry: firefighters restore --help\n"},
		{[]string{saved, "--db", dir}, 1, fmt.Sprintf("Error: %q is not a file\n", dir)},
		{[]string{saved, "--db", filepath.Join(dir, "missing", "x.db")}, 1, fmt.Sprintf("Error: the folder of %q does not exist\nTry: mkdir %s\n",
			filepath.Join(dir, "missing", "x.db"), filepath.Join(dir, "missing"))},
		{[]string{"--db", db}, 2, "Error: missing argument FILE\nTry: firefighters restore --help\n"},
	} {
		refuses(t, tt.code, tt.want, append([]string{"restore"}, tt.args...)...)
	}
	if after := contents(t, filepath.Dir(db)); !maps.Equal(before, after) {
		t.Errorf("the files changed to %q", namesIn(t, filepath.Dir(db)))
	}
	// The hint names the newest valid backup with the same name.
	named := filepath.Join(dir, backupName(time.Unix(1, 0)))
	copyOf(t, saved, named)
	copyOf(t, bad, filepath.Join(dir, backupName(time.Unix(2, 0))))
	if _, _, stderr := runCommand(t, "restore", bad, "--db", db); !strings.Contains(stderr, "Try: firefighters restore "+named+" --db "+db+"\n") {
		t.Errorf("stderr %q", stderr)
	}
}

// TestRestoreInUse checks that a database that a server or another program has open is not replaced.
func TestRestoreInUse(t *testing.T) {
	t.Parallel()
	db, saved, keys := backedUp(t)
	s := startOn(t, db)
	refuses(t, 1, inUse(db)+"Try: stop the server first; if it is the service: "+cli.AsAdministrator("firefighters service stop")+"\n", "restore", saved, "--db", db)
	if l := s.as(keys[0]).list(t, ""); l.TotalCount != 20 {
		t.Errorf("%d records", l.TotalCount)
	}
	s.stop(t)
	other := openAt(t, db, time.Now) // like keys list for a moment
	refuses(t, 1, fmt.Sprintf("Error: restoring database %q: another program has the database open\n", db), "restore", saved, "--db", db)
	must(t, other.Close())
	if recordsIn(t, db) != 20 || len(keptBeside(t, db)) > 0 {
		t.Errorf("files: %q", namesIn(t, filepath.Dir(db)))
	}
}

// TestRestoreCutOff checks that no command opens a database during a restore, and that the next
// command undoes an interrupted restore. Package backup tests each step.
func TestRestoreCutOff(t *testing.T) {
	t.Parallel()
	db, _, _ := backedUp(t)
	for name, open := range map[string]func(){
		"serve": func() { startOn(t, db).stop(t) },
		"keys":  func() { newKey(t, db, "default") },
	} {
		release, err := backup.Lock(db)
		must(t, err)
		must(t, os.WriteFile(db+".restoring", []byte("half of a copy"), 0o600))
		must(t, os.Link(db, db+".before-restore-20260101T000000Z"))
		refuses(t, 1, fmt.Sprintf("Error: locking database %q: the database is being restored\n", db), "keys", "list", "--db", db)
		must(t, release())
		open()
		if n := recordsIn(t, db); n != 20 || exists(db+".restoring") || len(keptBeside(t, db)) > 0 {
			t.Errorf("%s: %d records, files %q", name, n, namesIn(t, filepath.Dir(db)))
		}
	}
}
