package sqlite_test

import (
	"errors"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// bigNote adds a row of 100 pages.
func bigNote(db *sqlite.DB) error { return note(db, strings.Repeat("x", 400<<10)) }

func walSize(t *testing.T, db *sqlite.DB) int64 {
	t.Helper()
	info, err := os.Stat(db.Path() + "-wal")
	must(t, err)
	return info.Size()
}

// TestWALIsBounded checks that the -wal restarts while overlapping reads and writes never pause.
func TestWALIsBounded(t *testing.T) {
	t.Parallel()
	db := openToy(t)
	var stop atomic.Bool
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for !stop.Load() {
				noteCount(t, db)
			}
		})
	}
	defer func() { stop.Store(true); readers.Wait() }()
	for range 130 { // 52 MB
		must(t, bigNote(db))
		if size := walSize(t, db); size > 32<<20 {
			t.Fatalf("the size of the -wal is %d bytes", size)
		}
	}
}

// TestShortWAL checks that a -wal of less than 16 MB is not copied while writes follow each other.
func TestShortWAL(t *testing.T) {
	t.Parallel()
	db := openToy(t)
	for range 30 { // 12 MB
		must(t, bigNote(db))
	}
	if frames, copied, err := db.Frames(); frames < 3000 || copied != 0 || err != nil || db.Checkpointing() {
		t.Errorf("%d of %d pages are copied, %v", copied, frames, err)
	}
}

// TestEndlessReader checks that an open read transaction blocks no write, and that the -wal
// restarts once it ends.
func TestEndlessReader(t *testing.T) {
	t.Parallel()
	db := openToy(t)
	c, err := db.Connect()
	must(t, err)
	defer c.Close()
	must(t, c.Transaction(func() error {
		before, err := c.QueryInt(`SELECT count(*) FROM notes`)
		must(t, err)
		writeQuickly(t, db, 50)
		if after, err := c.QueryInt(`SELECT count(*) FROM notes`); after != before || err != nil {
			t.Errorf("the reader saw %d rows, then %d, %v", before, after, err)
		}
		return nil
	}))
	long := walSize(t, db)
	if long < 18<<20 {
		t.Errorf("the -wal restarted under a reader: %d bytes", long)
	}
	for range 120 { // 48 MB; the writes do not wait for a checkpoint
		before := walSize(t, db)
		writeQuickly(t, db, 1)
		if walSize(t, db) == before {
			return
		}
	}
	t.Errorf("the -wal still grows: %d, then %d bytes", long, walSize(t, db))
}

// writeQuickly adds large rows. No write may wait for a lock.
func writeQuickly(t *testing.T, db *sqlite.DB, rows int) {
	t.Helper()
	for range rows {
		start := time.Now()
		must(t, bigNote(db))
		if took := time.Since(start); took > 4*time.Second { // waiting for a lock takes 5 s
			t.Errorf("a write took %v", took)
		}
	}
}

// TestLitestream checks that SQLite truncates a restarted -wal only if Litestream replicates the
// database.
func TestLitestream(t *testing.T) {
	t.Parallel()
	for table, want := range map[string]bool{"_litestream_seq": true, "other": false} {
		path := created(t)
		must(t, toy.Migrate(path, 2, 3, func(c *sqlite.Conn) error {
			_, err := c.Exec(`CREATE TABLE ` + table + ` (id INTEGER PRIMARY KEY)`)
			return err
		}))
		db := openAt(t, path, sqlite.Options{})
		cut := false
		for last, i := int64(0), 0; !cut && (i < 48 || want && i < 480); i++ { // 19 MB, or more if a checkpoint is late
			if i >= 48 {
				time.Sleep(20 * time.Millisecond)
			}
			must(t, bigNote(db))
			size := walSize(t, db)
			cut = size < last
			last = size
		}
		if cut != want {
			t.Errorf("%s: truncated = %v", table, cut)
		}
	}
}

// TestCheckpointIdle checks that after a few idle seconds all changes are in the database file.
func TestCheckpointIdle(t *testing.T) {
	t.Parallel()
	db := openToy(t)
	left := func() int64 {
		frames, copied, err := db.Frames()
		must(t, err)
		return frames - copied
	}
	must(t, note(db, "x"))
	eventually(t, "the checkpoint", func() bool { must(t, db.CheckpointIdle()); return left() == 0 && !db.Checkpointing() })
}

// TestWritingFault checks that an error of the disk is reported until a write succeeds.
func TestWritingFault(t *testing.T) {
	t.Parallel()
	db := openToy(t)
	limit := func(pages string) func(*sqlite.Tx) error {
		return func(tx *sqlite.Tx) error { return tx.Query(`PRAGMA max_page_count = `+pages, nil, func(sqlite.Row) {}) }
	}
	must(t, db.Write(limit("1"))) // no more than the current size
	if err := db.WritingFault(); err != nil {
		t.Errorf("initial fault: %v", err)
	}
	if err := bigNote(db); !errors.Is(err, sqlite.ErrFull) {
		t.Fatalf("writing: %v", err)
	}
	if err := db.WritingFault(); !errors.Is(err, sqlite.ErrFull) {
		t.Errorf("fault on a full disk: %v", err)
	}
	must(t, db.Write(limit("1000000")))
	if err := db.WritingFault(); err != nil {
		t.Errorf("fault after space was freed: %v", err)
	}
}

func eventually(t *testing.T, what string, ready func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ready(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timed out waiting for %s", what)
		}
	}
}
