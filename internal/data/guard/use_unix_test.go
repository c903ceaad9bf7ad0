//go:build unix

package guard_test

import (
	"errors"
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
