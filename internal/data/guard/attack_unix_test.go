//go:build unix

package guard_test

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"modernc.org/sqlite"

	"github.com/firefighter-records/firefighters/internal/data/guard"
	engine "github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
)

// rounds is the number of times each attack runs.
var rounds = flag.Int("attack.rounds", 1, "number of runs of each attack on a database, with and without load")

// attacks are what people and programs do to the files of a served database. kept is an older copy of
// all files.
var attacks = map[string]func(t *testing.T, path, kept string){
	"file":          func(t *testing.T, path, kept string) { copyFiles(t, kept, path, "") },
	"file and -wal": func(t *testing.T, path, kept string) { copyFiles(t, kept, path, "", "-wal") },
	"-wal":          func(t *testing.T, path, kept string) { copyFiles(t, kept, path, "-wal") },
	"folder":        func(t *testing.T, path, kept string) { copyFiles(t, kept, path, "", "-wal", "-shm") },
	"mv": func(t *testing.T, path, kept string) {
		copyFiles(t, kept, path+".new", "")
		must(t, os.Rename(path+".new", path))
	},
	"deleted":      func(t *testing.T, path, _ string) { must(t, os.Remove(path)) },
	".restore":     func(t *testing.T, path, kept string) { must(t, backupInto(path, kept)) },
	"truncated":    func(t *testing.T, path, _ string) { must(t, os.Truncate(path, 0)) },
	"cut":          func(t *testing.T, path, _ string) { must(t, os.Truncate(path, sizeOf(t, path)/8192*4096)) },
	"-wal deleted": func(t *testing.T, path, _ string) { must(t, os.Remove(path+"-wal")) },
	"-wal emptied": func(t *testing.T, path, _ string) { must(t, os.Truncate(path+"-wal", 0)) },
	"-wal cut":     func(t *testing.T, path, _ string) { must(t, os.Truncate(path+"-wal", sizeOf(t, path+"-wal")/2)) },
	"another -wal": func(t *testing.T, path, kept string) { must(t, os.Rename(kept+"-wal", path+"-wal")) },
}

// TestAttacks checks that the guard detects each attack while the service runs, and that no later
// start continues without acknowledged records.
func TestAttacks(t *testing.T) {
	t.Parallel()
	for name, attack := range attacks {
		for _, clients := range []int{0, 16} {
			for range *rounds {
				t.Run(fmt.Sprintf("%s, %d clients", name, clients), func(t *testing.T) {
					t.Parallel()
					attackOnce(t, attack, clients)
				})
			}
		}
	}
}

func attackOnce(t *testing.T, attack func(t *testing.T, path, kept string), clients int) {
	s := newStore(t)
	w := watch(t, s)
	var acknowledged sync.Map
	write := func() bool {
		f, err := s.Create(ours, 0, ana, nil)
		if err == nil {
			acknowledged.Store(f.ID, true)
		}
		return err == nil
	}
	some := func() {
		for range 1 + rand.IntN(400) {
			write()
		}
		if rand.IntN(2) == 0 { // a pause
			for range 10 {
				must(t, s.DB().CheckpointIdle())
			}
		}
	}
	some()
	kept := filepath.Join(t.TempDir(), "kept")
	copyFiles(t, w.path, kept, "", "-wal", "-shm")
	some()
	write()
	var ended atomic.Bool
	var writers sync.WaitGroup
	for range clients {
		writers.Go(func() {
			for !ended.Load() && write() {
			}
		})
	}
	time.Sleep(time.Duration(rand.IntN(500)) * time.Millisecond)
	attack(t, w.path, kept)
	isNoticed := func() bool {
		select {
		case <-w.lost:
			return true
		case <-time.After(2 * time.Second):
			return false
		}
	}
	noticed := isNoticed()
	if !noticed { // the attack may be harmless, or the damaged part unread
		s.DB().Read(func(c *engine.Conn) error {
			_, err := c.QueryInt(`SELECT sum(length(search_text)) FROM firefighters`)
			return err
		})
		noticed = isNoticed()
	}
	ended.Store(true)
	writers.Wait()
	w.stop()
	loss := w.End()
	if loss != nil && !noticed {
		t.Errorf("detected only by End: %v", loss)
	}
	if loss == nil || loss.Closable() {
		must(t, s.Close())
	}
	if guard.RefuseLost(w.path) != nil {
		return
	}
	c, err := engine.Peek(w.path)
	must(t, err)
	defer c.Close()
	missing := 0
	acknowledged.Range(func(any, any) bool { missing++; return true })
	all := missing
	err = c.Query(`SELECT id FROM firefighters`, nil, func(row engine.Row) {
		if _, ok := acknowledged.Load(row.Text(0)); ok {
			missing--
		}
	})
	if err == nil {
		err = c.CheckStructure(t.Context())
	}
	if err != nil || missing > 0 {
		t.Errorf("after %v a start continues without %d of %d acknowledged records, %v", loss, missing, all, err)
	}
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	return info.Size()
}

// backupInto overwrites one database with another through SQLite's backup API, like the command
// .restore of sqlite3.
func backupInto(path, from string) error {
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(10000)")
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(context.Background())
	if err != nil {
		return err
	}
	return conn.Raw(func(driver any) error {
		restoring, err := driver.(interface {
			NewRestore(string) (*sqlite.Backup, error)
		}).NewRestore(from)
		if err != nil {
			return err
		}
		for more := true; more; {
			if more, err = restoring.Step(-1); err != nil && !isBusy(err) {
				return errors.Join(err, restoring.Finish())
			} else if err != nil {
				more = true
			}
		}
		return restoring.Finish()
	})
}

func isBusy(err error) bool {
	failure, ok := errors.AsType[*sqlite.Error](err)
	return ok && failure.Code()&0xff == 5
}

// checkpoint copies the -wal into the file, like another program.
func checkpoint(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	must(t, err)
	defer db.Close()
	db.Exec(`PRAGMA wal_checkpoint`) // it may fail
}

// TestNoFalseAlarm checks that nothing that the service, its commands and other programs do to a
// database through SQLite counts as a loss, in any order and concurrently. The guard checks the files
// without pause, to cover every moment.
func TestNoFalseAlarm(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	w := newGuard(t, s)
	path := w.path
	other := func(do func(*store.Store)) { // a command
		c, err := store.Open(path, time.Now)
		must(t, err)
		do(c)
		must(t, c.Close())
	}
	write := func(to *store.Store, count int) {
		people := make([]store.Person, count)
		for i := range people {
			people[i].Fields = ana
		}
		_, _, err := to.Import(ours, store.NewImport{File: "x.csv", Hash: make([]byte, 32), Decide: func(store.Roster) ([]store.Person, error) { return people, nil }})
		if err != nil && !errors.Is(err, engine.ErrBusy) { // another program holds the lock for seconds
			t.Error(err)
		}
	}
	var idle sync.Mutex
	operations := []func(){
		func() { create(t, s) },
		func() { write(s, 100) },
		func() { write(s, 5000) }, // enough for a checkpoint
		func() { idle.Lock(); defer idle.Unlock(); must(t, s.DB().CheckpointIdle()) },
		func() { other(func(c *store.Store) { write(c, 10) }) },
		func() { other(func(c *store.Store) { write(c, 5000) }) },
		func() { exec(t, path, `DELETE FROM changes WHERE id & 1`) },
		func() { exec(t, path, `DELETE FROM firefighters WHERE row % 3`) }, // SQL run by a person
		func() { checkpoint(t, path) },
		func() {
			if err := engine.Vacuum(context.Background(), path); err != nil && !errors.Is(err, engine.ErrBusy) {
				t.Error(err)
			}
		},
		func() { // a backup
			c, err := engine.Peek(path)
			must(t, err)
			copied := filepath.Join(t.TempDir(), "copy")
			must(t, os.WriteFile(copied, nil, 0o600))
			must(t, c.Transaction(func() error { return c.CopyTo(t.Context(), copied, nil) }))
			must(t, c.Close())
		},
	}
	var working sync.WaitGroup
	for range 3 {
		working.Go(func() {
			for range 25 * *rounds {
				operations[rand.IntN(len(operations))]()
			}
		})
	}
	ended := make(chan bool)
	go func() { working.Wait(); close(ended) }()
	found := map[string]int{}
	for done := false; !done; {
		select {
		case <-ended:
			done = true
		default:
			found[guard.Look(w.Guard)]++
		}
	}
	if loss := w.End(); loss != nil {
		t.Errorf("loss %v; number of findings: %v", loss, found)
	}
	t.Logf("looks by what they found: %v", found)
}
