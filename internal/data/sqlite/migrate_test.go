package sqlite_test

import (
	"database/sql"
	"errors"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/host/osutil"
)

func TestMigrate(t *testing.T) {
	t.Parallel()
	path := created(t)
	must(t, toy.Inspect(path))
	add := func(c *sqlite.Conn) error {
		_, err := c.Exec(`ALTER TABLE notes ADD COLUMN more TEXT; INSERT INTO notes VALUES (1, 2, 'x', 'y')`)
		return err
	}
	wants(t, toy.Migrate(path, 2, 3, func(c *sqlite.Conn) error {
		if err := add(c); err != nil {
			return err
		}
		return errToy
	}), errToy)
	if version, err := toy.Verify(path); version != 2 || err != nil {
		t.Fatalf("after a failed step: version %d, %v", version, err)
	}
	must(t, toy.Migrate(path, 2, 3, add))
	if version, err := toy.Verify(path); version != 3 || err != nil || toy.HeaderVersion(path) != 3 {
		t.Fatalf("version %d, %v", version, err)
	}
	must(t, toy.Migrate(path, 2, 3, func(*sqlite.Conn) error { t.Error("the migration ran again"); return nil }))
	if n := noteCount(t, openAt(t, path, sqlite.Options{})); n != 1 {
		t.Errorf("%d rows", n)
	}
}

// TestMigrationCutOff checks that a migration interrupted by a power failure is rolled back, and
// that the next one succeeds.
func TestMigrationCutOff(t *testing.T) {
	t.Parallel()
	for name, wal := range map[string]bool{"after a clean stop": false, "with a -wal": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := openToy(t)
			must(t, note(db, "x"))
			path := db.Path()
			if wal {
				path = cutOff(t, path)
			} else {
				must(t, db.Close())
				must(t, sqlite.MergeWAL(path))
			}
			left := ""
			wants(t, toy.Migrate(path, 2, 3, func(c *sqlite.Conn) error { left = spill(t, c, path); return errToy }), errToy)
			if version, err := toy.Verify(left); version != 2 || err != nil {
				t.Errorf("version %d, %v", version, err)
			}
			must(t, toy.Migrate(left, 2, 3, func(c *sqlite.Conn) error { _, err := c.Exec(`CREATE TABLE large (id)`); return err }))
			if version, err := toy.Verify(left); version != 3 || err != nil {
				t.Errorf("after the next migration: version %d, %v", version, err)
			}
			if n := noteCount(t, openAt(t, left, sqlite.Options{})); n != 1 {
				t.Errorf("%d rows", n)
			}
		})
	}
}

// TestMigrationsAtOnce checks that of several concurrent migrations, one changes the database.
func TestMigrationsAtOnce(t *testing.T) {
	t.Parallel()
	path := created(t)
	var done atomic.Int64
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			wants(t, toy.Migrate(path, 2, 3, func(c *sqlite.Conn) error {
				done.Add(1)
				_, err := c.Exec(`CREATE TABLE more (id)`)
				return err
			}), nil)
		})
	}
	running.Wait()
	if done.Load() != 1 {
		t.Errorf("%d migrations ran", done.Load())
	}
}

// TestVacuum checks that no deleted content remains in the file or its -wal.
func TestVacuum(t *testing.T) {
	t.Parallel()
	const canary = "canary-canary-canary"
	db := openToy(t)
	must(t, note(db, strings.Repeat("x", 5000)))
	must(t, note(db, canary))
	must(t, db.Write(func(tx *sqlite.Tx) error { return tx.ExecOne(`DELETE FROM notes WHERE body = ?`, canary) }))
	found := func() (files []string) {
		for _, suffix := range []string{"", "-wal"} {
			if strings.Contains(readFile(t, db.Path()+suffix), canary) {
				files = append(files, suffix)
			}
		}
		return files
	}
	if len(found()) == 0 {
		t.Error("the deleted row left no trace before Vacuum")
	}
	must(t, sqlite.Vacuum(t.Context(), db.Path()))
	if files := found(); len(files) > 0 {
		t.Errorf("the deleted row remains in %q", files)
	}
	must(t, note(db, "x"))
	if n := noteCount(t, db); n != 2 {
		t.Errorf("%d rows", n)
	}
}

// TestVacuumInUse checks that Vacuum returns ErrBusy while a reader still sees the deleted rows.
func TestVacuumInUse(t *testing.T) {
	t.Parallel()
	db := openToy(t)
	must(t, note(db, "x"))
	must(t, db.ReadTx(func(c *sqlite.Conn) error {
		_, err := c.QueryInt(`SELECT count(*) FROM notes`)
		must(t, err)
		wants(t, sqlite.Vacuum(t.Context(), db.Path()), sqlite.ErrBusy) // after waiting as long as a statement does
		return nil
	}))
	must(t, sqlite.Vacuum(t.Context(), db.Path()))
}

// TestVacuumBesideCheckpoints checks that Vacuum waits for a checkpoint of another program.
func TestVacuumBesideCheckpoints(t *testing.T) {
	t.Parallel()
	db := openToy(t)
	for range 300 {
		must(t, note(db, strings.Repeat("x", 5000)))
	}
	var others sync.WaitGroup
	defer others.Wait()
	var done atomic.Bool
	defer done.Store(true)
	others.Go(func() {
		c, err := sql.Open("sqlite", db.Path())
		for err == nil && !done.Load() {
			_, err = c.Exec(`PRAGMA wal_checkpoint(PASSIVE)`)
			time.Sleep(time.Millisecond)
		}
		if err = errors.Join(err, c.Close()); err != nil {
			t.Error(err)
		}
	})
	for range 50 {
		must(t, sqlite.Vacuum(t.Context(), db.Path()))
	}
}

// TestMergeWAL checks that a database with a -wal becomes a single file.
func TestMergeWAL(t *testing.T) {
	t.Parallel()
	db := openToy(t)
	must(t, note(db, "x"))
	left := cutOff(t, db.Path())
	must(t, sqlite.MergeWAL(left))
	must(t, sqlite.MergeWAL(left))
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if osutil.Exists(left + suffix) {
			t.Errorf("remaining file: %s", suffix)
		}
	}
	c, err := sqlite.OpenImmutable(left)
	must(t, err)
	defer c.Close()
	if n, err := c.QueryInt(`SELECT count(*) FROM notes`); n != 1 || err != nil {
		t.Errorf("%d rows, %v", n, err)
	}
	must(t, os.Remove(left))
	wants(t, sqlite.MergeWAL(left), sqlite.ErrPermission)
}

// TestMergeWALInUse checks that MergeWAL immediately rejects a database in use.
func TestMergeWALInUse(t *testing.T) {
	t.Parallel()
	refused := func(path string) {
		t.Helper()
		start := time.Now()
		wants(t, sqlite.MergeWAL(path), sqlite.ErrBusy)
		if waited := time.Since(start); waited > 4*time.Second { // waiting for a lock takes 5 s
			t.Errorf("waited for %v", waited)
		}
	}
	db := openToy(t)
	must(t, note(db, "x"))
	refused(db.Path())
	must(t, note(db, "x"))
	must(t, db.Close())
	must(t, sqlite.MergeWAL(db.Path()))
	c, err := sqlite.Peek(db.Path())
	must(t, err)
	defer c.Close()
	must(t, c.Transaction(func() error {
		_, err := c.QueryInt(`SELECT count(*) FROM notes`)
		refused(db.Path()) // the -wal is gone by now
		return err
	}))
}
