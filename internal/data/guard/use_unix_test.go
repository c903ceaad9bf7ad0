//go:build unix

package guard_test

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/guard"
	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// TestLegalUse: whatever the service, its commands and other programs do with a
// database by SQLite, in any order and at once, is no loss. Looks follow each other
// without a pause, so that each moment is met.
func TestLegalUse(t *testing.T) {
	t.Parallel()
	for range 2 {
		t.Run("", func(t *testing.T) { t.Parallel(); testLegalUse(t) })
	}
}

func testLegalUse(t *testing.T) {
	db := create(t, "one")
	g, _, stop := watch(t, db)
	write := func(to *sqlite.DB, text string) {
		err := to.Write(func(tx *sqlite.Tx) error {
			_, err := tx.Exec(text + `; INSERT INTO changes (text) VALUES (hex(randomblob(8)))`)
			return err
		})
		if err != nil && !errors.Is(err, sqlite.ErrBusy) { // another holds the lock for seconds
			t.Error(err)
		}
	}
	other := func(do func(*sqlite.DB)) { // another command
		d, err := sqlite.Open(db.Path(), sqlite.Options{})
		must(t, err)
		do(d)
		must(t, d.Close())
	}
	var idle sync.Mutex
	operations := []func(){
		func() { write(db, `INSERT INTO notes VALUES (randomblob(100))`) },
		func() { write(db, `INSERT INTO notes VALUES (randomblob(100000))`) },
		func() { write(db, `INSERT INTO notes VALUES (zeroblob(6000000))`) }, // a checkpoint
		func() { write(db, `INSERT INTO notes VALUES (zeroblob(20000000))`) },
		func() { write(db, `UPDATE notes SET note = randomblob(3000)`) },
		func() { write(db, `DELETE FROM notes`) },
		func() { write(db, `INSERT INTO marks VALUES ('more')`) },
		func() {
			idle.Lock()
			defer idle.Unlock()
			must(t, db.CheckpointIdle())
		},
		func() { other(func(d *sqlite.DB) { write(d, `INSERT INTO notes VALUES (randomblob(20000))`) }) },
		func() { other(func(d *sqlite.DB) { write(d, `DELETE FROM notes`) }) },
		func() { other(func(d *sqlite.DB) { write(d, `INSERT INTO notes VALUES (zeroblob(6000000))`) }) },
		func() {
			other(func(d *sqlite.DB) {
				write(d, `INSERT INTO notes VALUES (zeroblob(20000000))`)
				write(d, `INSERT INTO notes VALUES (zeroblob(20000000))`)
			})
		},
		func() {
			if err := sqlite.Vacuum(db.Path()); err != nil && !errors.Is(err, sqlite.ErrBusy) {
				t.Error(err)
			}
		},
		func() { // a backup
			c, err := sqlite.Peek(db.Path())
			must(t, err)
			copied := filepath.Join(t.TempDir(), "copy")
			must(t, os.WriteFile(copied, nil, 0o600))
			must(t, c.Transaction(func() error { return c.CopyTo(t.Context(), copied, nil) }))
			must(t, c.Close())
		},
	}
	var working sync.WaitGroup
	for range 3 {
		order := make([]int, 40)
		for i := range order {
			order[i] = rand.IntN(len(operations))
		}
		working.Go(func() {
			for _, i := range order {
				operations[i]()
			}
		})
	}
	ended := make(chan bool)
	go func() { working.Wait(); close(ended) }()
	var found []string
	for done := false; !done; {
		select {
		case <-ended:
			done = true
		default:
			if g.Loss() == nil {
				found = append(found, guard.Look(g))
			}
		}
	}
	stop()
	if loss := g.End(); loss != nil {
		found = slices.DeleteFunc(found, func(what string) bool { return what == "" })
		t.Errorf("a loss: %v, after %v", loss, slices.Compact(found))
	}
}

// TestOlderContent: what somebody takes away by SQL is no loss, also where the -wal
// restarts with that.
func TestOlderContent(t *testing.T) {
	t.Parallel()
	for what, restart := range map[string]bool{"the -wal goes on": false, "the -wal restarts": true} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			db := create(t, "one")
			g, lost, stop := watch(t, db)
			checkpoint := func() {
				for frames, copied := int64(1), int64(0); frames != copied; time.Sleep(time.Millisecond) {
					var err error
					must(t, db.CheckpointIdle())
					frames, copied, err = db.Frames()
					must(t, err)
				}
				time.Sleep(500 * time.Millisecond) // some looks
			}
			for range 50 {
				exec(t, db, `INSERT INTO notes VALUES (randomblob(2000))`)
			}
			checkpoint()
			if !restart {
				exec(t, db, `SELECT 1`)
				time.Sleep(500 * time.Millisecond)
			}
			other, err := sqlite.Open(db.Path(), sqlite.Options{})
			must(t, err)
			must(t, other.Write(func(tx *sqlite.Tx) error { _, err := tx.Exec(`DELETE FROM changes WHERE id > 20`); return err }))
			must(t, other.Close())
			time.Sleep(500 * time.Millisecond)
			checkpoint()
			select {
			case <-lost:
			case <-time.After(3 * time.Second):
			}
			stop()
			if loss := g.End(); loss != nil {
				t.Error(loss)
			}
		})
	}
}

// TestPartOfLog: a checkpoint that copies a part of the -wal leaves pages of several states
// in the file. That is no loss, although the file alone has less than before.
func TestPartOfLog(t *testing.T) {
	t.Parallel()
	db := create(t, "one")
	other, err := sql.Open("sqlite", db.Path()) // as another process, whose checkpoints nobody announces
	must(t, err)
	other.SetMaxOpenConns(1)
	defer other.Close()
	checkpoint := func() { t.Helper(); must(t, onlyErr(other.Exec(`PRAGMA wal_checkpoint`))) }
	write := func(text string) {
		t.Helper()
		must(t, db.Write(func(tx *sqlite.Tx) error { _, err := tx.Exec(text); return err }))
	}
	rows := func(from, step, to int) {
		t.Helper()
		write(fmt.Sprintf(`WITH n (i) AS (SELECT %d UNION ALL SELECT i + %d FROM n WHERE i + %d <= %d) INSERT INTO changes SELECT i, hex(randomblob(8)) FROM n`, from, step, step, to))
	}
	rows(1000, 1000, 400_000)
	g, lost, stop := watch(t, db)
	checkpoint()
	time.Sleep(500 * time.Millisecond) // some looks
	rows(350_001, 50, 399_999)         // the last leaf of the table becomes several
	reader, err := db.Connect()
	must(t, err)
	must(t, onlyErr(reader.Exec(`BEGIN`)))
	must(t, onlyErr(reader.QueryInt(`SELECT count(*) FROM changes`)))
	rows(399_502, 2, 399_998) // the last of them does, so that the page above gets a later frame
	checkpoint()
	frames, copied, err := db.Frames()
	if err != nil || copied == 0 || copied == frames {
		t.Fatalf("%d of %d frames were copied: %v", copied, frames, err)
	}
	select {
	case <-lost:
	case <-time.After(3 * time.Second):
	}
	must(t, onlyErr(reader.Exec(`COMMIT`)))
	must(t, reader.Close())
	stop()
	if loss := g.End(); loss != nil {
		t.Error(loss)
	}
}

func onlyErr[T any](_ T, err error) error { return err }
