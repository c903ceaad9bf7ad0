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
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
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
	return backup.Restore{Content: toy{}, File: file, Database: db}.Run(t.Context())
}

func TestRestore(t *testing.T) {
	t.Parallel()
	db, saved := backedUp(t)
	done, err := restore(t, saved, db)
	must(t, err)
	kept := keptBeside(t, db)
	if len(kept) != 1 || records(t, kept[0]) != 20 || records(t, db) != 10 {
		t.Fatalf("kept %q", kept)
	}
	if done.Text != "10 records" || done.Bytes == 0 || done.Source.Time.UnixMilli() != 1000000 || done.Kept != kept[0] ||
		done.Revoked != 1 || done.Unread != nil || done.Raw {
		t.Errorf("%+v", done)
	}
	if count(t, db, "revoked") != 1 || count(t, db, "time") != 2 {
		t.Error("it has undone that a key was revoked, or gone back in time")
	}
	if count(t, db, "renewed") != 1 || count(t, saved, "renewed") != 0 {
		t.Error("it was not renewed, or the backup was")
	}
	if found := names(t, filepath.Dir(db)); len(found) != 3 { // with the lock
		t.Errorf("there is %q", found)
	}
	checkModes(t, filepath.Dir(db))
}

// unidentified cannot say which database "x.db" is.
type unidentified struct{ toy }

func (u unidentified) Identify(c *sqlite.Conn) (backup.Identity, error) {
	if is, err := c.QueryInt(`SELECT EXISTS (SELECT 1 FROM pragma_database_list WHERE file LIKE '%x.db')`); err != nil || is == 1 {
		return backup.Identity{}, errors.Join(sqlite.ErrCorrupt, err)
	}
	return u.toy.Identify(c)
}

// TestRestoreUnidentified: what the old database says of keys is carried over,
// though other parts of it are damaged.
func TestRestoreUnidentified(t *testing.T) {
	t.Parallel()
	db, saved := backedUp(t)
	done, err := backup.Restore{Content: unidentified{}, File: saved, Database: db}.Run(t.Context())
	if err != nil || done.Unread != nil || done.Revoked != 1 || count(t, db, "revoked") != 1 {
		t.Errorf("%+v, %v", done, err)
	}
}

// strict is a toy that knows its schema, and calls read when it reads the old
// database.
type strict struct {
	toy
	read func()
}

func (strict) Format() sqlite.Format {
	f := format
	f.Schema = schema1 + ";" + schema2
	return f
}

func (s strict) CarryOver(old *sqlite.Conn) (func(*sqlite.Conn) (int64, error), error) {
	s.read()
	return s.toy.CarryOver(old)
}

// TestRestoreSchema: a backup with a trigger of somebody else is refused, also one
// that has got it while it was restored. It is not named as a good one.
func TestRestoreSchema(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]bool{"before": false, "meanwhile": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, saved := backedUp(t)
			spoil := func() {
				execSQL(t, saved, `CREATE TRIGGER IF NOT EXISTS evil AFTER INSERT ON items BEGIN DELETE FROM items; END`)
			}
			read := func() { t.Error("it goes on") }
			if late {
				read = spoil
			} else {
				spoil()
			}
			before := contents(t, filepath.Dir(db))
			_, err := backup.Restore{Content: strict{read: read}, File: saved, Database: db}.Run(t.Context())
			failure, _ := errors.AsType[*backup.Error](err)
			wrong, _ := errors.AsType[*sqlite.SchemaError](err)
			if failure == nil || failure.Op != backup.OpRead || failure.Path != saved || wrong == nil || wrong.Error() != `its schema is not that of version 2: the trigger "evil" is not of this program` {
				t.Errorf("it says %v", err)
			}
			if after := contents(t, filepath.Dir(db)); !maps.Equal(before, after) && len(after) != len(before)+1 { // with the lock
				t.Errorf("there is %q", names(t, filepath.Dir(db)))
			}
		})
	}
	db, saved := backedUp(t)
	in := t.TempDir()
	name := filepath.Join(in, "x-20260101T000000Z.db")
	copyOf(t, saved, name)
	if found := backup.NewestValid(t.Context(), strict{}, db, in); found == nil || found.Path != name {
		t.Errorf("the newest is %+v", found)
	}
	execSQL(t, name, `CREATE VIEW evil AS SELECT 1`)
	if found := backup.NewestValid(t.Context(), strict{}, db, in); found != nil {
		t.Errorf("the newest is %+v", found)
	}
}

// TestRestoreGrows: what is carried over may take further pages.
func TestRestoreGrows(t *testing.T) {
	t.Parallel()
	db, saved := backedUp(t)
	execSQL(t, db, `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers LIMIT 5000)
		INSERT INTO items (kind, value) SELECT 'time', 2000000 + n FROM numbers`)
	done, err := restore(t, saved, db)
	if err != nil || done.Revoked != 1 || count(t, db, "time") != 5002 {
		t.Errorf("%+v, %v", done, err)
	}
}

// TestRestoreMissing makes a database where none was. It leaves no -wal that is
// of another database.
func TestRestoreMissing(t *testing.T) {
	t.Parallel()
	_, saved := backedUp(t)
	for _, wal := range []bool{false, true} {
		db := filepath.Join(t.TempDir(), "new.db")
		if wal {
			must(t, os.WriteFile(db+"-wal", []byte("of a database that was deleted"), 0o600))
		}
		done, err := restore(t, saved, db)
		if err != nil || !errors.Is(done.Unread, sqlite.ErrNotExist) || (done.Kept != "") != wal || records(t, db) != 10 || count(t, db, "renewed") != 1 {
			t.Errorf("%+v, %v", done, err)
		}
		if kept := keptBeside(t, db); (len(kept) == 1) != wal || exists(db+"-wal") {
			t.Errorf("kept %q", kept)
		}
	}
}

// TestRestoreRaw: a copy of the file of a database in use is no backup.
func TestRestoreRaw(t *testing.T) {
	t.Parallel()
	path, db := newDatabase(t, 5), filepath.Join(t.TempDir(), "x.db")
	raw, saved := filepath.Join(t.TempDir(), "raw.db"), filepath.Join(t.TempDir(), "saved.db")
	open := openDatabase(t, path)
	copyOf(t, path, raw)
	must(t, open.Close())
	makeBackup(t, path, saved)
	for file, want := range map[string]bool{raw: true, saved: false} {
		if done, err := restore(t, file, db); err != nil || done.Raw != want || records(t, db) != 5 {
			t.Errorf("%s: %+v, %v", file, done, err)
		}
	}
	if _, err := restore(t, path, db); err != nil {
		t.Errorf("from a database: %v", err)
	}
}

// TestRestoreOverDamage: a damaged database is kept as it is, and replaced.
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
			db, saved := backedUp(t)
			text, err := os.ReadFile(db)
			must(t, err)
			text = damage(text)
			must(t, os.WriteFile(db, text, 0o600))
			must(t, os.WriteFile(db+"-wal", []byte("damaged too"), 0o600))
			done, err := restore(t, saved, db)
			if err != nil || done.Unread == nil || done.Text != "10 records" || exists(db+"-wal") || records(t, db) != 10 || count(t, db, "renewed") != 1 {
				t.Fatalf("%+v, %v; there is %q", done, err, names(t, filepath.Dir(db)))
			}
			if was, err := os.ReadFile(done.Kept); err != nil || string(was) != string(text) {
				t.Errorf("the old database was not kept as it was: %v", err)
			}
			if wal, err := os.ReadFile(done.Kept + "-wal"); err != nil || string(wal) != "damaged too" {
				t.Errorf("its -wal was not kept: %v", err)
			}
		})
	}
}

// TestRestoreRefusals: nothing is changed.
func TestRestoreRefusals(t *testing.T) {
	t.Parallel()
	db, saved := backedUp(t)
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"bad.db", "newer.db", "empty.db", "foreign.db"} {
		copyOf(t, saved, in(name))
	}
	text, err := os.ReadFile(saved)
	must(t, err)
	copy(text[4096:], strings.Repeat("damage", 1000))
	must(t, os.WriteFile(in("bad.db"), text, 0o600))
	execSQL(t, in("newer.db"), `PRAGMA user_version = 1000`)
	execSQL(t, in("empty.db"), `DELETE FROM items`)
	execSQL(t, in("foreign.db"), `PRAGMA application_id = 7`)
	before := contents(t, filepath.Dir(db))
	for _, tt := range []struct {
		name, file, db string
		want           error
		of             string // whose error it is
	}{
		{"damaged", in("bad.db"), db, sqlite.ErrCorrupt, in("bad.db")},
		{"foreign", in("foreign.db"), db, sqlite.ErrForeign, in("foreign.db")},
		{"newer", in("newer.db"), db, &sqlite.NewerError{Version: 1000, Known: 2}, in("newer.db")},
		{"absent", in("absent.db"), db, sqlite.ErrNotExist, in("absent.db")},
		{"empty", in("empty.db"), db, backup.ErrEmpty, in("empty.db")},
		{"the database", db, db, backup.ErrIsDatabase, db},
		{"onto a folder", saved, dir, sqlite.ErrNotRegular, ""},
		{"into no folder", saved, in("missing/x.db"), sqlite.ErrNoFolder, ""},
	} {
		_, err := restore(t, tt.file, tt.db)
		var known *backup.Error
		var newer *sqlite.NewerError
		is := errors.Is(err, tt.want) || errors.As(tt.want, &newer) && errors.As(err, &newer)
		if !is || errors.As(err, &known) != (tt.of != "") || known != nil && (known.Op != backup.OpRead || known.Path != tt.of) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	delete(before, "x.db-lock")
	after := contents(t, filepath.Dir(db))
	if delete(after, "x.db-lock"); !maps.Equal(before, after) {
		t.Errorf("there is %q", names(t, filepath.Dir(db)))
	}
}

// TestRestoreStopped: nothing is changed.
func TestRestoreStopped(t *testing.T) {
	t.Parallel()
	db, saved := backedUp(t)
	ctx, stop := context.WithCancel(t.Context())
	_, err := backup.Restore{Content: toy{}, File: saved, Database: db, Progress: func(int, int) { stop() }}.Run(ctx)
	if !errors.Is(err, context.Canceled) || records(t, db) != 20 || len(names(t, filepath.Dir(db))) != 2 {
		t.Errorf("%v; there is %q", err, names(t, filepath.Dir(db)))
	}
}

// TestRestoreInUse: a database that somebody has open, server or not, stays.
func TestRestoreInUse(t *testing.T) {
	t.Parallel()
	db, saved := backedUp(t)
	release, err := backup.Lock(db)
	must(t, err)
	if _, err := restore(t, saved, db); !errors.Is(err, sqlite.ErrInUse) {
		t.Errorf("while it is served: %v", err)
	}
	must(t, release())
	open := openDatabase(t, db) // as a command has it for a moment
	_, err = restore(t, saved, db)
	var failure *sqlite.FileError
	if !errors.Is(err, backup.ErrOpen) || !errors.As(err, &failure) || failure.Path != db {
		t.Errorf("while it is open: %v", err)
	}
	must(t, open.Close())
	if records(t, db) != 20 || len(keptBeside(t, db)) > 0 {
		t.Errorf("there is %q", names(t, filepath.Dir(db)))
	}
}

// The steps of a restore.
const stepTakeOver = 3

// TestRestoreOvertaken: what is written while the copy is made is not lost.
func TestRestoreOvertaken(t *testing.T) {
	t.Parallel()
	db, saved := backedUp(t)
	release, err := backup.Lock(db)
	must(t, err)
	defer release()
	again, err := backup.Restore{Content: toy{}, File: saved, Database: db}.Begin(t.Context(), stepTakeOver+1)
	must(t, err)
	addItems(t, db, "revoked", "1")
	if err := again(stepTakeOver); !errors.Is(err, backup.ErrOpen) {
		t.Error(err)
	}
}

// TestRestoreCutOff: a restore that ends after any of its steps, as if killed,
// leaves the old database or the new one to the next program.
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
						t.Errorf("%s is the database or empty", kept)
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
					t.Errorf("left behind: %q", names(t, filepath.Dir(db)))
				}
			})
		}
	}
}

// cutOff does so many steps of a restore and no more, as if it were killed then.
func cutOff(t *testing.T, db, saved string, steps int, links bool) {
	t.Helper()
	release, err := backup.Lock(db)
	must(t, err)
	r := backup.Restore{Content: toy{}, File: saved, Database: db}
	if !links {
		r = r.OnStick()
	}
	_, err = r.Begin(t.Context(), steps)
	must(t, err)
	if err := backup.AwaitRestore(db); steps > 0 && steps < backup.RestoreSteps && !errors.Is(err, backup.ErrRestoring) {
		t.Errorf("meanwhile: %v", err)
	}
	must(t, release())
}

// TestRestoreCutOffDamaged: a damaged database has its -wal again, when the
// restore was cut off between the two.
func TestRestoreCutOffDamaged(t *testing.T) {
	t.Parallel()
	for _, links := range []bool{true, false} {
		db, saved := backedUp(t)
		must(t, os.WriteFile(db, []byte(strings.Repeat("damaged", 2000)), 0o600))
		must(t, os.WriteFile(db+"-wal", []byte("its own"), 0o600))
		must(t, os.WriteFile(db+"-lock", nil, 0o600))
		other := db + ".before-restore-20260101T000000Z" // of a restore before
		must(t, os.WriteFile(other, []byte(strings.Repeat("damages", 2000)), 0o600))
		must(t, os.WriteFile(other+"-wal", []byte("of that"), 0o600))
		before := contents(t, filepath.Dir(db))
		cutOff(t, db, saved, backup.RestoreSteps-1, links)
		if exists(db + "-wal") {
			t.Fatal("it was not cut off where it should be")
		}
		must(t, os.WriteFile(db+".restoring-half", []byte("half of a copy"), 0o600))
		if err := backup.AwaitRestore(db); err != nil {
			t.Error(err)
		}
		if after := contents(t, filepath.Dir(db)); !maps.Equal(before, after) {
			t.Errorf("links %v: there is %q", links, names(t, filepath.Dir(db)))
		}
	}
}

// TestRestoreOnStick: on a disk without links the old database is kept by a copy.
func TestRestoreOnStick(t *testing.T) {
	t.Parallel()
	db, saved := backedUp(t)
	done, err := backup.Restore{Content: toy{}, File: saved, Database: db}.OnStick().Run(t.Context())
	must(t, err)
	if kept := keptBeside(t, db); len(kept) != 1 || done.Kept != kept[0] || records(t, kept[0]) != 20 || records(t, db) != 10 || len(names(t, filepath.Dir(db))) != 3 {
		t.Errorf("there is %q", names(t, filepath.Dir(db)))
	}
	checkModes(t, filepath.Dir(db))
}

// TestRestoreFails: a restore that cannot keep the old database, or take its place,
// has changed nothing, and says why.
func TestRestoreFails(t *testing.T) {
	t.Parallel()
	db, saved := backedUp(t)
	must(t, os.WriteFile(db+"-lock", nil, 0o600))
	must(t, os.MkdirAll(filepath.Join(db+".restoring-half", "x"), 0o700)) // where a copy of it would be written
	before := names(t, filepath.Dir(db))
	_, err := backup.Restore{Content: toy{}, File: saved, Database: db}.OnStick().Run(t.Context())
	failure, _ := errors.AsType[*sqlite.FileError](err)
	if failure == nil || failure.Op != "restoring" || failure.Path != db {
		t.Errorf("it says %v", err)
	}
	if !slices.Equal(before, names(t, filepath.Dir(db))) || records(t, db) != 20 {
		t.Errorf("there is %q", names(t, filepath.Dir(db)))
	}
}

// TestRestoreFailsLate: where a file beside the old database cannot be moved away the
// new one does not take its place: it would be ruined by that file.
func TestRestoreFailsLate(t *testing.T) {
	t.Parallel()
	for _, links := range []bool{true, false} {
		db, saved := backedUp(t)
		must(t, os.WriteFile(db, []byte(strings.Repeat("damaged", 2000)), 0o600))
		must(t, os.WriteFile(db+"-wal", []byte("its own"), 0o600))
		must(t, os.WriteFile(db+"-journal", []byte("its own, too"), 0o600))
		must(t, os.WriteFile(db+"-lock", nil, 0o600))
		before := contents(t, filepath.Dir(db))
		began := time.Now().UTC()
		for second := range 600 { // in whichever the name is chosen
			at := began.Add(time.Duration(second) * time.Second).Format("20060102T150405Z")
			must(t, os.MkdirAll(filepath.Join(db+".before-restore-"+at+"-journal", "x"), 0o700))
		}
		r := backup.Restore{Content: toy{}, File: saved, Database: db}
		if !links {
			r = r.OnStick()
		}
		_, err := r.Run(t.Context())
		failure, _ := errors.AsType[*sqlite.FileError](err)
		if failure == nil || failure.Op != "restoring" || contents(t, filepath.Dir(db))["x.db"] != before["x.db"] {
			t.Errorf("links %v: it says %v", links, err)
		}
		folders, err := filepath.Glob(db + "*-journal")
		must(t, err)
		for _, folder := range folders {
			if folder != db+"-journal" {
				must(t, os.RemoveAll(folder))
			}
		}
		must(t, backup.AwaitRestore(db))
		if after := contents(t, filepath.Dir(db)); !maps.Equal(before, after) {
			t.Errorf("links %v: there is %q", links, names(t, filepath.Dir(db)))
		}
	}
}

// TestUndoFails: what cannot be undone keeps the database from being opened, and is
// undone as soon as it can be.
func TestUndoFails(t *testing.T) {
	t.Parallel()
	for _, links := range []bool{true, false} {
		db, saved := backedUp(t)
		must(t, os.WriteFile(db, []byte(strings.Repeat("damaged", 2000)), 0o600))
		must(t, os.WriteFile(db+"-wal", []byte("its own"), 0o600))
		must(t, os.WriteFile(db+"-lock", nil, 0o600))
		before := contents(t, filepath.Dir(db))
		cutOff(t, db, saved, backup.RestoreSteps-1, links)
		must(t, os.MkdirAll(filepath.Join(db+"-wal", "x"), 0o700)) // in the place of the file that comes back
		for range 2 {
			for name, err := range map[string]error{"waiting": backup.AwaitRestore(db), "locking": func() error { _, err := backup.Lock(db); return err }()} {
				failure, _ := errors.AsType[*sqlite.FileError](err)
				if failure == nil || failure.Op != "restoring" || failure.Path != db || errors.Is(err, backup.ErrRestoring) {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		must(t, os.RemoveAll(db+"-wal"))
		must(t, backup.AwaitRestore(db))
		if after := contents(t, filepath.Dir(db)); !maps.Equal(before, after) {
			t.Errorf("links %v: there is %q", links, names(t, filepath.Dir(db)))
		}
	}
}

// TestRestoreMarked: from the moment on at which a restore reads the old database, no
// other program opens it.
func TestRestoreMarked(t *testing.T) {
	t.Parallel()
	db, saved := backedUp(t)
	read := func() {
		if err := backup.AwaitRestore(db); !errors.Is(err, backup.ErrRestoring) {
			t.Errorf("another program opens it: %v", err)
		}
	}
	_, err := backup.Restore{Content: strict{read: read}, File: saved, Database: db}.Run(t.Context())
	must(t, err)
}

// TestRestoreKilled: as a process, at any step up to the renames, which
// TestRestoreCutOff is about.
func TestRestoreKilled(t *testing.T) {
	t.Parallel()
	db, saved := backedUp(t)
	execSQL(t, db, `CREATE TABLE filler AS SELECT zeroblob(5000000) AS filling`)
	makeBackup(t, db, saved+"-large")
	addRecords(t, db, 1) // so that the database is not the backup
	for _, step := range []string{"Identify 1", "Identify 2", "Progress 1", "Identify 3", "CarryOver 1", "Summarize 1", "Identify 4"} {
		kill(t, program("restore", step, db, saved+"-large"), step)
		if !exists(db + ".restoring") {
			t.Errorf("killed at %s, it was not under way", step)
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
			t.Errorf("left behind: %s", name)
		}
	}
}

// TestCopyFile: where the disk has no links, the old database is copied.
func TestCopyFile(t *testing.T) {
	t.Parallel()
	from := filepath.Join(t.TempDir(), "x.db")
	must(t, os.WriteFile(from, []byte("text"), 0o600))
	must(t, backup.CopyFile(from, from+"-kept"))
	if found := contents(t, filepath.Dir(from)); len(found) != 2 || found["x.db-kept"] != "text" {
		t.Errorf("there is %q", found)
	}
	if err := backup.CopyFile(from+"-none", from); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestEditedErasedList: who is in the list beside the backup stays erased, also after an
// editor of Windows has saved the list again.
func TestEditedErasedList(t *testing.T) {
	t.Parallel()
	db, dir := newDatabase(t, 1), t.TempDir()
	addItems(t, db, "record", "01a20ba5-1457-7642-a9b7-9ad8aa02039a", "01a20ba5-1458-7077-8fa6-231efc504246")
	saved, restored := filepath.Join(dir, "saved.db"), filepath.Join(t.TempDir(), "x.db")
	makeBackup(t, db, saved)
	must(t, os.WriteFile(filepath.Join(dir, backup.ErasedName), []byte("\ufeff01A20BA5-1457-7642-A9B7-9AD8AA02039A \r\n01a20ba5-1458-7077-8fa6-231efc504246"), 0o600))
	done, err := backup.Restore{Content: toy{}, File: saved, Database: restored}.Run(t.Context())
	if must(t, err); done.Erased != 2 || records(t, restored) != 1 {
		t.Errorf("%d erased, %d records left", done.Erased, records(t, restored))
	}
}
