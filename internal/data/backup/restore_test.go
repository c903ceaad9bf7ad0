package backup_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
)

// keptBeside returns the databases that restores have kept.
func keptBeside(t *testing.T, db string) (kept []string) {
	t.Helper()
	for _, name := range names(t, filepath.Dir(db)) {
		if strings.HasPrefix(name, filepath.Base(db)+".before-restore-") {
			kept = append(kept, filepath.Join(filepath.Dir(db), name))
		}
	}
	return kept
}

func restore(t *testing.T, file, db string) (backup.Restored, error) {
	t.Helper()
	return backup.Restore{Format: format, File: file, Database: db}.Run(t.Context())
}

// TestRestoreOverDamage checks that a damaged database is replaced and kept unchanged.
func TestRestoreOverDamage(t *testing.T) {
	t.Parallel()
	const history = `SELECT history FROM service`
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
			db, saved := backedUp(t)
			text, err := os.ReadFile(db)
			must(t, err)
			text = damage(text)
			must(t, os.WriteFile(db, text, 0o600))
			must(t, os.WriteFile(db+"-wal", []byte("damaged too"), 0o600))
			done, err := restore(t, saved, db)
			if err != nil || done.Unread == nil || done.Records != 10 || exists(db+"-wal") || records(t, db) != 10 ||
				queryInt(t, db, history) == queryInt(t, saved, history) {
				t.Fatalf("%+v, %v; files %q", done, err, names(t, filepath.Dir(db)))
			}
			if was, err := os.ReadFile(done.Kept); err != nil || string(was) != string(text) {
				t.Errorf("the old database was not kept unchanged: %v", err)
			}
			if wal, err := os.ReadFile(done.Kept + "-wal"); err != nil || string(wal) != "damaged too" {
				t.Errorf("the old -wal was not kept: %v", err)
			}
		})
	}
}

// TestRestoreKeepsCopies checks that restores keep each replaced database for 30 days, and longer if a
// restore finds no readable database.
func TestRestoreKeepsCopies(t *testing.T) {
	t.Parallel()
	db, saved := backedUp(t)
	age := func(path string, days int) string {
		t.Helper()
		older := db + ".before-restore-" + time.Now().AddDate(0, 0, -days).UTC().Format("20060102T150405Z")
		must(t, os.Rename(path, older))
		return older
	}
	run := func(dropped ...string) string {
		t.Helper()
		done, err := restore(t, saved, db)
		must(t, err)
		if !slices.Equal(done.Dropped, dropped) {
			t.Errorf("deleted %q, want %q", done.Dropped, dropped)
		}
		return done.Kept
	}
	original := run()
	run()
	run()
	if kept := keptBeside(t, db); len(kept) != 3 || records(t, original) != 20 {
		t.Errorf("kept %q, the original with %d records", kept, records(t, original))
	}
	original = age(original, 29)
	run()
	original = age(original, 31)
	must(t, os.WriteFile(original+"-wal", nil, 0o600))
	run(original)
	if exists(original) || exists(original+"-wal") || len(keptBeside(t, db)) != 4 {
		t.Errorf("files %q", names(t, filepath.Dir(db)))
	}
	for i, path := range keptBeside(t, db) {
		age(path, 40+i)
	}
	must(t, os.Remove(db))
	run()
	dropped := keptBeside(t, db)
	slices.Reverse(dropped)
	run(dropped...)
}

// TestRestoreStopped checks that a stopped restore changes nothing.
func TestRestoreStopped(t *testing.T) {
	t.Parallel()
	db, saved := backedUp(t)
	ctx, stop := context.WithCancel(t.Context())
	_, err := backup.Restore{Format: format, File: saved, Database: db, Progress: func(int, int) { stop() }}.Run(ctx)
	if !errors.Is(err, context.Canceled) || records(t, db) != 20 || len(names(t, filepath.Dir(db))) != 1 {
		t.Errorf("%v; files %q", err, names(t, filepath.Dir(db)))
	}
}

// TestRestoreCutOff checks that after a restore is killed after any step, the next program finds
// either the old or the new database.
func TestRestoreCutOff(t *testing.T) {
	t.Parallel()
	next := map[string]func(t *testing.T, db, saved string) error{
		"open":    func(_ *testing.T, db, _ string) error { return backup.AwaitRestore(db) },
		"restore": func(t *testing.T, db, saved string) error { _, err := restore(t, saved, db); return err },
		"serve": func(t *testing.T, db, _ string) error {
			release, err := backup.Lock(db)
			must(t, err)
			return release()
		},
	}
	for run := range 2 * (backup.RestoreSteps + 1) {
		steps, links := run/2, run%2 == 0
		for name, open := range next {
			t.Run(fmt.Sprintf("%d %s, links %v", steps, name, links), func(t *testing.T) {
				t.Parallel()
				db, saved := backedUp(t)
				cutOff(t, db, saved, steps, links)
				want := 20
				if steps == backup.RestoreSteps || name == "restore" {
					want = 10
				}
				must(t, open(t, db, saved))
				if n := records(t, db); n != want {
					t.Errorf("%d records", n)
				}
				for _, kept := range keptBeside(t, db) {
					x, err := os.Stat(kept)
					must(t, err)
					y, err := os.Stat(db)
					if must(t, err); os.SameFile(x, y) || records(t, kept) == 0 {
						t.Errorf("%s is the current database, or empty", kept)
					}
				}
				wantKept := 0
				if steps == backup.RestoreSteps {
					wantKept++
				}
				if name == "restore" {
					wantKept++
				}
				if exists(db+".restoring") || len(keptBeside(t, db)) != wantKept {
					t.Errorf("remaining files: %q", names(t, filepath.Dir(db)))
				}
			})
		}
	}
}

// cutOff runs only the first steps of a restore, as if it were killed.
func cutOff(t *testing.T, db, saved string, steps int, links bool) {
	t.Helper()
	release, err := backup.Lock(db)
	must(t, err)
	r := backup.Restore{Format: format, File: saved, Database: db}
	if !links {
		r = r.OnStick()
	}
	must(t, r.Begin(t.Context(), steps))
	if err := backup.AwaitRestore(db); steps > 0 && steps < backup.RestoreSteps && !errors.Is(err, backup.ErrRestoring) {
		t.Errorf("during the restore: %v", err)
	}
	must(t, release())
}

// TestRestoreOvertaken checks that a restore fails if a command that opened the database earlier
// writes to it during the restore.
func TestRestoreOvertaken(t *testing.T) {
	t.Parallel()
	db, saved := backedUp(t)
	var once sync.Once
	write := func(int, int) { once.Do(func() { revokeKey(t, db, 1) }) }
	_, err := backup.Restore{Format: format, File: saved, Database: db, Progress: write}.Run(t.Context())
	if !errors.Is(err, backup.ErrOpen) {
		t.Errorf("error %v", err)
	}
}

// TestRestoreCutOffDamaged checks that a damaged database gets its -wal back if the restore is killed
// after moving it.
func TestRestoreCutOffDamaged(t *testing.T) {
	t.Parallel()
	for _, links := range []bool{true, false} {
		db, saved := backedUp(t)
		must(t, os.WriteFile(db, []byte(strings.Repeat("damaged", 2000)), 0o600))
		must(t, os.WriteFile(db+"-wal", []byte("its own"), 0o600))
		other := db + ".before-restore-20260101T000000Z" // of an earlier restore
		must(t, os.WriteFile(other, []byte(strings.Repeat("damages", 2000)), 0o600))
		must(t, os.WriteFile(other+"-wal", []byte("of that"), 0o600))
		before := contents(t, filepath.Dir(db))
		cutOff(t, db, saved, backup.RestoreSteps-1, links)
		if exists(db + "-wal") {
			t.Fatal("the restore was not stopped after moving the -wal")
		}
		must(t, os.WriteFile(db+".restoring-half", []byte("half of a copy"), 0o600))
		if err := backup.AwaitRestore(db); err != nil {
			t.Error(err)
		}
		if after := contents(t, filepath.Dir(db)); !maps.Equal(before, after) {
			t.Errorf("links %v: files %q", links, names(t, filepath.Dir(db)))
		}
	}
}

// TestRestoreKilled kills a restore process at any step before the renames, which TestRestoreCutOff
// covers.
func TestRestoreKilled(t *testing.T) {
	t.Parallel()
	db, saved := backedUp(t)
	fill(t, db, 5e6)
	makeBackup(t, db, saved+"-large")
	addRecords(t, db, 1) // so that the database differs from the backup
	for _, step := range []string{"Progress 1", "Check 2", "Check 3", "Check 4"} {
		kill(t, program("restore", step, db, saved+"-large"), step)
		if !exists(db + ".restoring") {
			t.Errorf("killed at %s, but no restore was running", step)
		}
		if err := backup.AwaitRestore(db); err != nil {
			t.Fatal(err)
		}
		if n := records(t, db); n != 21 || len(keptBeside(t, db)) > 0 {
			t.Fatalf("killed at %s: %d records", step, n)
		}
	}
	if _, err := restore(t, saved, db); err != nil || records(t, db) != 10 {
		t.Error(err)
	}
	for _, name := range names(t, filepath.Dir(db)) {
		if strings.Contains(name, ".restoring") || strings.HasSuffix(name, "-wal") {
			t.Errorf("remaining file: %s", name)
		}
	}
}

// TestEditedErasedList checks that records listed next to the backup stay deleted, even if a Windows
// editor has saved the list.
func TestEditedErasedList(t *testing.T) {
	t.Parallel()
	db, dir := newDatabase(t, 3), t.TempDir()
	saved, restored := filepath.Join(dir, "saved.db"), filepath.Join(t.TempDir(), "x.db")
	makeBackup(t, db, saved)
	must(t, os.WriteFile(filepath.Join(dir, backup.ErasedName), []byte("\ufeff"+strings.ToUpper(ids(t, db)[0])+" \r\n"+ids(t, db)[1]), 0o600))
	done, err := backup.Restore{Format: format, File: saved, Database: restored}.Run(t.Context())
	if must(t, err); done.Erased != 2 || records(t, restored) != 1 {
		t.Errorf("%d records deleted, %d remain", done.Erased, records(t, restored))
	}
}
