package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// backedUp is a database with 20 records, of which a backup beside it has 10,
// and the keys 1 and 2, the second of which was revoked after the backup.
func backedUp(t *testing.T) (db, saved string, keys [2]string) {
	t.Helper()
	s := start(t)
	keys = [2]string{s.key, newKey(t, s.db, "default")}
	db, saved = s.db, filepath.Join(t.TempDir(), "saved.db")
	for range 10 {
		s.create(t, ana)
	}
	if code, _, stderr := command(t, "backup", saved, "--db", db); code != 0 {
		t.Fatal(stderr)
	}
	for range 10 {
		s.create(t, ana)
	}
	if code, _, stderr := command(t, "keys", "revoke", "2", "--db", db); code != 0 {
		t.Fatal(stderr)
	}
	s.stop(t)
	return db, saved, keys
}

// keptBeside is what restores have kept of the database that was there.
func keptBeside(t *testing.T, db string) (kept []string) {
	t.Helper()
	for _, name := range namesIn(t, filepath.Dir(db)) {
		if strings.HasPrefix(name, filepath.Base(db)+keptSuffix) {
			kept = append(kept, filepath.Join(filepath.Dir(db), name))
		}
	}
	return kept
}

func TestRestore(t *testing.T) {
	t.Parallel()
	db, saved, keys := backedUp(t)
	code, stdout, stderr := command(t, "restore", saved, "--db", db)
	kept := keptBeside(t, db)
	if code != 0 || len(kept) != 1 || recordsIn(t, kept[0]) != 20 {
		t.Fatalf("code %d, kept %q, stderr %q", code, kept, stderr)
	}
	said := regexp.MustCompile(`^Restored (\S+) from (\S+): 10 records of 1 departments, as it was at 20\S+Z\.\n$`).FindStringSubmatch(stdout)
	if said == nil || said[1] != db || said[2] != saved ||
		stderr != fmt.Sprintf("What was there is kept as %s.\nKeys that were revoked since the backup and stay revoked: 1.\n", kept[0]) {
		t.Errorf("stdout %q, stderr %q", stdout, stderr)
	}
	if names := namesIn(t, filepath.Dir(db)); len(names) != 3 { // with the lock
		t.Errorf("there is %q", names)
	}
	checkModes(t, filepath.Dir(db))
	s := startOn(t, db)
	if l := s.as(keys[0]).list(t, ""); l.TotalCount != 10 {
		t.Errorf("%d records", l.TotalCount)
	}
	if a := s.as(keys[1]).do(t, "GET", collection, ""); a.status != 401 {
		t.Errorf("a key that was revoked since: %d", a.status)
	}
}

// TestRestoreAnew makes a database that was not there, and leaves no -wal that
// is of no database.
func TestRestoreAnew(t *testing.T) {
	t.Parallel()
	_, saved, keys := backedUp(t)
	db := filepath.Join(t.TempDir(), "new.db")
	must(t, os.WriteFile(db+"-wal", []byte("of a database that was deleted"), 0o600))
	code, stdout, stderr := command(t, "restore", saved, "--db", db)
	if code != 0 || !strings.HasPrefix(stdout, "Restored ") || !strings.Contains(stderr, "Warning: keys that were revoked") {
		t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	if kept := keptBeside(t, db); len(kept) != 1 || exists(db+"-wal") {
		t.Errorf("kept %q", kept)
	}
	if l := startOn(t, db).as(keys[1]).list(t, ""); l.TotalCount != 10 {
		t.Errorf("%d records", l.TotalCount)
	}
}

// TestRestoreOnNothing: where nothing was, nothing is to be warned of.
func TestRestoreOnNothing(t *testing.T) {
	t.Parallel()
	_, saved, _ := backedUp(t)
	db := filepath.Join(t.TempDir(), "new.db")
	code, _, stderr := command(t, "restore", saved, "--db", db)
	want := fmt.Sprintf("Made the database %s.\nIts keys are those of the backup. See: firefighters keys list --db %s\n", db, db)
	if code != 0 || stderr != want {
		t.Errorf("code %d, stderr:\n%swant:\n%s", code, stderr, want)
	}
}

// TestRestoreRaw: a copy of the file of a service that runs is no backup.
func TestRestoreRaw(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.create(t, ana)
	raw := filepath.Join(t.TempDir(), "raw.db")
	copyOf(t, s.db, raw)
	db := filepath.Join(t.TempDir(), "x.db")
	code, stdout, stderr := command(t, "restore", raw, "--db", db)
	want := fmt.Sprintf("Error: the backup %q holds no department and no records; nothing was changed\n"+
		"Try: another one; if it is a copy of a database file, save that database: firefighters backup NEWFILE --db FILE\n", raw)
	if code != 1 || stdout != "" || stderr != want || exists(db) {
		t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	s.stop(t)
	copyOf(t, s.db, raw)
	code, _, stderr = command(t, "restore", raw, "--db", db)
	want = fmt.Sprintf("Warning: %s is a copy of a database file and not a backup: what was written last may be missing.\n", raw)
	if code != 0 || !strings.Contains(stderr, want) {
		t.Errorf("code %d, stderr %q", code, stderr)
	}
}

// TestRestoreOverDamage: that is what it is for.
func TestRestoreOverDamage(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(text []byte) []byte{
		"header":   func(text []byte) []byte { copy(text, "damaged!"); return text },
		"pages":    func(text []byte) []byte { copy(text[4096:], strings.Repeat("damage", 3000)); return text },
		"half":     func(text []byte) []byte { return text[:len(text)/2] },
		"no page":  func(text []byte) []byte { return text[:50] },
		"emptied":  func([]byte) []byte { return nil },
		"all zero": func(text []byte) []byte { clear(text); return text },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, saved, _ := backedUp(t)
			text, err := os.ReadFile(db)
			must(t, err)
			text = damage(text)
			must(t, os.WriteFile(db, text, 0o600))
			must(t, os.WriteFile(db+"-wal", []byte("damaged too"), 0o600))
			code, stdout, stderr := command(t, "restore", saved, "--db", db)
			if code != 0 || !strings.Contains(stdout, "10 records") || !strings.Contains(stderr, "Warning: keys that were revoked") {
				t.Fatalf("code %d, stdout %q, stderr %q", code, stdout, stderr)
			}
			kept := keptBeside(t, db)
			if len(kept) == 0 || exists(db+"-wal") || recordsIn(t, db) != 10 {
				t.Fatalf("kept %q, there is %q", kept, namesIn(t, filepath.Dir(db)))
			}
			if was, err := os.ReadFile(kept[0]); err != nil || string(was) != string(text) {
				t.Errorf("what was there is not what was kept: %v", err)
			}
			if wal, err := os.ReadFile(kept[0] + "-wal"); err != nil || string(wal) != "damaged too" {
				t.Errorf("the -wal was not kept: %v", err)
			}
		})
	}
}

// TestRestoreRefusals: nothing is changed.
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
	const other = "\nTry: another backup: firefighters restore --help\n"
	before := contents(t, filepath.Dir(db))
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{bad, "--db", db}, 1, fmt.Sprintf("Error: the backup %q is damaged; nothing was changed", bad) + other},
		{[]string{foreign, "--db", db}, 1, fmt.Sprintf("Error: the backup %q is not a database of this program; nothing was changed", foreign) + other},
		{[]string{newer, "--db", db}, 1, ""},
		{[]string{filepath.Join(dir, "absent.db"), "--db", db}, 1,
			fmt.Sprintf("Error: there is no backup at %q\nTry: another file: firefighters restore --help\n", filepath.Join(dir, "absent.db"))},
		{[]string{db, "--db", db}, 1, fmt.Sprintf("Error: %q is the database itself, not a backup of it\nTry: firefighters restore --help\n", db)},
		{[]string{saved, "--db", dir}, 1, fmt.Sprintf("Error: %q is a folder\nTry: name the file in it: --db %s\n", dir, filepath.Join(dir, "firefighters.db"))},
		{[]string{saved, "--db", filepath.Join(dir, "missing", "x.db")}, 1, ""},
		{[]string{"--db", db}, 2, ""},
	} {
		code, stdout, stderr := command(t, append([]string{"restore"}, tt.args...)...)
		if code != tt.code || stdout != "" || tt.want != "" && stderr != tt.want {
			t.Errorf("%q: code %d, stdout %q, stderr:\n%swant:\n%s", tt.args, code, stdout, stderr, tt.want)
		}
	}
	if after := contents(t, filepath.Dir(db)); !maps.Equal(before, after) {
		t.Errorf("there is %q", namesIn(t, filepath.Dir(db)))
	}
	// The newest good one of the same name is named.
	named := filepath.Join(dir, backupName(db, time.Unix(1, 0)))
	copyOf(t, saved, named)
	copyOf(t, bad, filepath.Join(dir, backupName(db, time.Unix(2, 0))))
	if _, _, stderr := command(t, "restore", bad, "--db", db); !strings.Contains(stderr, "Try: firefighters restore "+named+" --db "+db+"\n") {
		t.Errorf("stderr %q", stderr)
	}
}

func copyOf(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	must(t, err)
	must(t, os.WriteFile(to, text, 0o600))
}

// TestRestoreInUse: whoever has the database open, server or not, keeps it.
func TestRestoreInUse(t *testing.T) {
	t.Parallel()
	db, saved, keys := backedUp(t)
	s := startOn(t, db)
	code, _, stderr := command(t, "restore", saved, "--db", db)
	if want := fmt.Sprintf("Error: database %q is in use: another firefighters serves it\n", db); code != 1 || !strings.HasPrefix(stderr, want) {
		t.Errorf("code %d, stderr %q", code, stderr)
	}
	if l := s.as(keys[0]).list(t, ""); l.TotalCount != 20 {
		t.Errorf("%d records", l.TotalCount)
	}
	s.stop(t)
	other, _, err := openStore(db, false, time.Now) // as keys list has it for a moment
	must(t, err)
	code, _, stderr = command(t, "restore", saved, "--db", db)
	if want := fmt.Sprintf("Error: database %q is in use by another program\nTry: end that one first\n", db); code != 1 || stderr != want {
		t.Errorf("code %d, stderr %q", code, stderr)
	}
	must(t, other.close())
	if recordsIn(t, db) != 20 || len(keptBeside(t, db)) > 0 {
		t.Errorf("there is %q", namesIn(t, filepath.Dir(db)))
	}
}

// TestRestoreOvertaken: a key that is revoked while the copy is made is not
// made valid again.
func TestRestoreOvertaken(t *testing.T) {
	t.Parallel()
	db, saved, _ := backedUp(t)
	r := &restoring{p: &program{t.Context(), nil, io.Discard, io.Discard}, file: saved, db: db}
	must(t, r.mark())
	must(t, r.copy())
	must(t, r.takeOver())
	execSQL(t, db, `UPDATE keys SET revoked_at = 1 WHERE id = 1`)
	if err := r.takeOver(); err == nil || !strings.Contains(err.Error(), "is in use by another program") {
		t.Error(err)
	}
}

// TestRestoreCutOff: a restore that ends after any of its steps, as if killed,
// leaves the old database or the new, to whoever opens it next.
func TestRestoreCutOff(t *testing.T) {
	t.Parallel()
	next := map[string]func(t *testing.T, db, saved string){
		"serve": func(t *testing.T, db, _ string) { startOn(t, db).stop(t) },
		"keys":  func(t *testing.T, db, _ string) { newKey(t, db, "default") },
		"restore": func(t *testing.T, db, saved string) {
			if code, _, stderr := command(t, "restore", saved, "--db", db); code != 0 {
				t.Error(stderr)
			}
		},
	}
	for steps := range len((&restoring{}).steps()) + 1 {
		for name, open := range next {
			t.Run(fmt.Sprintf("%d %s", steps, name), func(t *testing.T) {
				t.Parallel()
				db, saved, _ := backedUp(t)
				cutOff(t, db, saved, steps)
				want := 20
				if steps == len((&restoring{}).steps()) || name == "restore" {
					want = 10
				}
				open(t, db, saved)
				if n := recordsIn(t, db); n != want {
					t.Errorf("%d records", n)
				}
				for _, kept := range keptBeside(t, db) {
					if n := recordsIn(t, kept); n == 0 || sameFile(kept, db) {
						t.Errorf("%s has %d records", kept, n)
					}
				}
				if exists(db + copySuffix) {
					t.Errorf("left behind: %q", namesIn(t, filepath.Dir(db)))
				}
			})
		}
	}
}

// cutOff does so many steps of a restore and no more, like one that is killed.
func cutOff(t *testing.T, db, saved string, steps int) {
	t.Helper()
	release, err := lockDatabase(db)
	must(t, err)
	r := &restoring{p: &program{t.Context(), nil, io.Discard, io.Discard}, file: saved, db: db}
	for _, step := range r.steps()[:steps] {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
	}
	if code, _, stderr := command(t, "keys", "list", "--db", db); steps > 0 && steps < len(r.steps()) &&
		(code != 1 || !strings.Contains(stderr, "is being restored")) {
		t.Errorf("meanwhile: code %d, stderr %q", code, stderr)
	}
	must(t, release())
}

// TestRestoreCutOffDamaged: what is left of a damaged database has its -wal
// again, when the restore was cut off between the two.
func TestRestoreCutOffDamaged(t *testing.T) {
	t.Parallel()
	db, saved, _ := backedUp(t)
	must(t, os.WriteFile(db, []byte(strings.Repeat("damaged", 2000)), 0o600))
	must(t, os.WriteFile(db+"-wal", []byte("its own"), 0o600))
	before := contents(t, filepath.Dir(db))
	cutOff(t, db, saved, len((&restoring{}).steps())-1)
	if exists(db + "-wal") {
		t.Fatal("it was not cut off where it should be")
	}
	code, _, stderr := command(t, "keys", "list", "--db", db)
	if after := contents(t, filepath.Dir(db)); code != 1 || !maps.Equal(before, after) {
		t.Errorf("code %d, stderr %q, there is %q", code, stderr, namesIn(t, filepath.Dir(db)))
	}
}

// TestRestoreKilled: as a process, at any moment.
func TestRestoreKilled(t *testing.T) {
	t.Parallel()
	db, saved, _ := backedUp(t)
	began := time.Now()
	must(t, programCommand(t, "restore", saved, "--db", db).Run())
	takes, killed := time.Since(began), 0
	for i := range 12 {
		s := startOn(t, db)
		s.as(newKey(t, db, "default")).create(t, ana) // so that the database is not the backup
		s.stop(t)
		cmd := programCommand(t, "restore", saved, "--db", db)
		must(t, cmd.Start())
		time.Sleep(takes * time.Duration(i) / 12)
		must(t, cmd.Process.Kill())
		if cmd.Wait() != nil {
			killed++
		}
		if n := countRecords(t, db); n != 10 && n != 11 {
			t.Fatalf("%d records after a kill", n)
		}
		if code, _, stderr := command(t, "restore", saved, "--db", db); code != 0 {
			t.Fatal(stderr)
		}
	}
	if killed == 0 {
		t.Error("none was killed before its end")
	}
	for _, name := range namesIn(t, filepath.Dir(db)) {
		if strings.Contains(name, copySuffix) || strings.HasSuffix(name, "-wal") {
			t.Errorf("left behind: %s", name)
		}
	}
}

func countRecords(t *testing.T, db string) (n int) {
	t.Helper()
	if code, _, stderr := command(t, "check", "--db", db); code != 0 {
		t.Fatal(stderr)
	}
	scanSQL(t, db, `SELECT count(*) FROM firefighters`, &n)
	return n
}

// TestCopyFile: where the disk has no links, what was there is copied.
func TestCopyFile(t *testing.T) {
	t.Parallel()
	from := filepath.Join(t.TempDir(), "x.db")
	must(t, os.WriteFile(from, []byte("text"), 0o600))
	must(t, copyFile(from, from+"-kept"))
	if text, err := os.ReadFile(from + "-kept"); err != nil || string(text) != "text" || len(namesIn(t, filepath.Dir(from))) != 2 {
		t.Errorf("%q, %v; there is %q", text, err, namesIn(t, filepath.Dir(from)))
	}
	if err := copyFile(from+"-none", from); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
