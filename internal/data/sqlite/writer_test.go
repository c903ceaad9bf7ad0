package sqlite_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
)

// gather runs a job that holds the writer until all other jobs wait, so that they form one group.
// Call it within a synctest bubble.
func gather(t *testing.T, db *sqlite.DB, jobs []func(*sqlite.Tx) error) []error {
	t.Helper()
	var running sync.WaitGroup
	release := make(chan bool)
	running.Go(func() { wants(t, db.Write(func(*sqlite.Tx) error { <-release; return nil }), nil) })
	synctest.Wait()
	results := make([]error, len(jobs))
	for i, job := range jobs {
		running.Go(func() { results[i] = db.Write(job) })
	}
	synctest.Wait()
	close(release)
	running.Wait()
	return results
}

func addNote(tx *sqlite.Tx) error { return tx.ExecOne(insertNote, tx.Now, "good") }

var errToy = errors.New("for the test")

// groupCases are jobs that fail, and whether the other jobs of the group still share one
// transaction.
var groupCases = []struct {
	name   string
	do     func(*sqlite.Tx) error
	err    error // nil means any error
	shared bool
}{
	{"error at once", func(*sqlite.Tx) error { return errToy }, errToy, true},
	{"error after a SELECT", func(tx *sqlite.Tx) error {
		_, err := tx.QueryInt(`
			SELECT id FROM notes WHERE id = -1`)
		return err
	}, sqlite.ErrNoRows, true},
	{"error after an INSERT", func(tx *sqlite.Tx) error {
		tx.Exec(insertNote, tx.Now, "bad")
		return errToy
	}, errToy, false},
	{"error after an INSERT that is read", func(tx *sqlite.Tx) error {
		if _, err := tx.QueryInt(insertNote+` RETURNING id`, tx.Now, "bad"); err != nil {
			return err
		}
		return errToy
	}, errToy, false},
	{"error after a WITH that writes", func(tx *sqlite.Tx) error {
		tx.Query(`WITH t AS (SELECT 1) `+insertNote, sqlite.Args{tx.Now, "bad"}, func(sqlite.Row) {})
		return errToy
	}, errToy, false},
	{"failure of SQLite in a SELECT", func(tx *sqlite.Tx) error {
		_, err := tx.QueryInt(`SELECT json('}')`)
		return fmt.Errorf("reading: %w", err)
	}, nil, false},
	{"a constraint", func(tx *sqlite.Tx) error { return tx.ExecOne(insertNote, tx.Now, nil) }, nil, false},
	{"no row to change", func(tx *sqlite.Tx) error { return tx.ExecOne(`DELETE FROM notes WHERE id = -1`) }, nil, false},
	{"panic at once", func(*sqlite.Tx) error { panic("oops") }, nil, false},
	{"panic in a scan", func(tx *sqlite.Tx) error {
		return tx.Query(`SELECT 1`, nil, func(sqlite.Row) { panic("oops") })
	}, nil, false},
	{"panic after an INSERT", func(tx *sqlite.Tx) error {
		tx.Exec(insertNote, tx.Now, "bad")
		panic("oops")
	}, nil, false},
}

// TestGroupCommit checks that waiting jobs share a transaction, and that a failing job does not
// affect the others.
func TestGroupCommit(t *testing.T) {
	t.Parallel()
	for _, tt := range groupCases {
		path := created(t)
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const good = 63
				db := openAt(t, path, stepping())
				jobs := make([]func(*sqlite.Tx) error, good+1)
				for i := range jobs {
					jobs[i] = addNote
				}
				jobs[good/2] = tt.do
				for i, err := range gather(t, db, jobs) {
					if i == good/2 && (err == nil || tt.err != nil && !errors.Is(err, tt.err)) || i != good/2 && err != nil {
						t.Errorf("job %d: %v", i, err)
					}
				}
				want := "63 in 63, 0 bad"
				if tt.shared {
					want = "63 in 1, 0 bad"
				}
				if got := transactions(t, db); got != want {
					t.Errorf("rows and transactions: %s, want %s", got, want)
				}
				must(t, note(db, "good"))
			})
		})
	}
}

// stepping returns options with a clock that never returns the same time twice, so that each
// transaction has its own time.
func stepping() sqlite.Options {
	var seconds atomic.Int64
	return sqlite.Options{Now: func() time.Time { return time.Unix(1e9+seconds.Add(1), 0) }}
}

// transactions returns the number of good rows, of the transactions that added them, and of bad
// rows.
func transactions(t *testing.T, db *sqlite.DB) (counts string) {
	t.Helper()
	must(t, db.Read(func(c *sqlite.Conn) error {
		return c.QueryRow(`SELECT count(*) FILTER (WHERE body = 'good'), count(DISTINCT at) FILTER (WHERE body = 'good'), count(*) FILTER (WHERE body = 'bad') FROM notes`, nil,
			func(row sqlite.Row) {
				counts = fmt.Sprintf("%d in %d, %d bad", row.Int(0), row.Int(1), row.Int(2))
			})
	}))
	return counts
}

// TestLargeGroup checks that the size of a group is limited.
func TestLargeGroup(t *testing.T) {
	t.Parallel()
	path := created(t)
	synctest.Test(t, func(t *testing.T) {
		db := openAt(t, path, stepping())
		jobs := make([]func(*sqlite.Tx) error, 300)
		for i := range jobs {
			jobs[i] = addNote
		}
		for _, err := range gather(t, db, jobs) {
			wants(t, err, nil)
		}
		if got, want := transactions(t, db), "300 in 2, 0 bad"; got != want {
			t.Errorf("rows and transactions: %s, want %s", got, want)
		}
	})
}

// TestConcurrentWrites checks that each caller gets its own result, and that its change is stored.
func TestConcurrentWrites(t *testing.T) {
	t.Parallel()
	db := openToy(t)
	var running sync.WaitGroup
	for i := range 64 {
		running.Go(func() {
			switch i % 4 {
			case 0:
				wants(t, db.Write(func(*sqlite.Tx) error { return errToy }), errToy)
			case 1:
				if err := db.Write(func(*sqlite.Tx) error { panic("oops") }); err == nil || !strings.Contains(err.Error(), "oops") {
					t.Errorf("a panic became %v", err)
				}
			default:
				var row int64
				body := fmt.Sprint("row ", i)
				err := db.Write(func(tx *sqlite.Tx) (err error) {
					row, err = tx.QueryInt(insertNote+` RETURNING id`, tx.Now, body)
					return err
				})
				wants(t, err, nil)
				err = db.Read(func(c *sqlite.Conn) error {
					return c.QueryRow(`SELECT body FROM notes WHERE id = ?`, sqlite.Args{row}, func(row sqlite.Row) {
						if row.Text(0) != body {
							t.Errorf("%q is %q", body, row.Text(0))
						}
					})
				})
				wants(t, err, nil)
			}
		})
	}
	running.Wait()
	if n := noteCount(t, db); n != 32 {
		t.Errorf("%d rows, want 32", n)
	}
}

// lock holds the write lock of a database, like another program, until release.
func lock(t *testing.T, path string) (release func()) {
	t.Helper()
	locked, unlock, done := make(chan bool), make(chan bool), make(chan error)
	go func() {
		done <- toy.Migrate(path, 2, 3, func(*sqlite.Conn) error { close(locked); <-unlock; return errToy })
	}()
	<-locked
	return func() { close(unlock); wants(t, <-done, errToy) }
}

// TestBusy checks that all writers wait at the same time while another program holds the lock, and
// that reading continues.
func TestBusy(t *testing.T) {
	t.Parallel()
	db := openToy(t)
	const wait, many = time.Second, 64
	usual := db.SetTimeout(wait)
	if usual < 15*time.Second {
		t.Errorf("a writer waits for %v, less than a large import takes", usual)
	}
	release := lock(t, db.Path())
	start := time.Now()
	var writers sync.WaitGroup
	for range many {
		writers.Go(func() { wants(t, note(db, "x"), sqlite.ErrBusy) })
	}
	if n := noteCount(t, db); n != 0 {
		t.Errorf("%d rows", n)
	}
	writers.Wait()
	if waited := time.Since(start); waited < wait || waited > many*wait {
		t.Errorf("the writers waited for %v", waited)
	}
	db.SetTimeout(usual)
	for _, write := range []func(func(*sqlite.Tx) error) error{db.Write, db.WriteLong} {
		writers.Go(func() { wants(t, write(addNote), nil) })
	}
	time.Sleep(100 * time.Millisecond) // they try several times
	release()
	writers.Wait()
}

// TestLong checks that a long job has its own transaction, and that short jobs which arrive in the
// meantime run before the next long one. Upper case means long.
func TestLong(t *testing.T) {
	t.Parallel()
	for jobs, want := range map[string]string{"xaLbMc": " x abc L M", "xLabMc": " x L abc M", "XLMabNc": " X abc L M N", "XLM": " X L M"} {
		synctest.Test(t, func(t *testing.T) {
			db := openToy(t)
			var running sync.WaitGroup
			start, last, order := make(chan bool), (*sqlite.Tx)(nil), ""
			for i, name := range strings.Split(jobs, "") {
				write := db.Write
				if strings.ToUpper(name) == name {
					write = db.WriteLong
				}
				running.Go(func() {
					wants(t, write(func(tx *sqlite.Tx) error {
						if i == 0 {
							<-start // after the other jobs arrive
						}
						if tx != last {
							order += " "
						}
						last = tx
						order += name
						return nil
					}), nil)
				})
				synctest.Wait()
			}
			close(start)
			running.Wait()
			if order != want {
				t.Errorf("%s: transactions%s, want%s", jobs, order, want)
			}
			must(t, db.Close())
		})
	}
}

// TestHooks checks that BeforeCommit writes in the same transaction, and that OnCommit runs only
// after a commit.
func TestHooks(t *testing.T) {
	t.Parallel()
	var fail func() error
	var committed []int64
	db := openAt(t, created(t), sqlite.Options{
		BeforeCommit: func(tx *sqlite.Tx) error {
			tx.OnCommit(func() { committed = append(committed, tx.Now) })
			if fail != nil {
				return fail()
			}
			return tx.ExecOne(insertNote, tx.Now, "before")
		},
	})
	must(t, note(db, "x"))
	fail = func() error { return errToy }
	wants(t, note(db, "x"), errToy)
	fail = func() error { panic("oops") }
	if err := note(db, "x"); err == nil || !strings.Contains(err.Error(), "oops") {
		t.Errorf("a panic became %v", err)
	}
	fail = nil
	wants(t, db.Write(func(*sqlite.Tx) error { return errToy }), errToy) // runs no hook, because it writes nothing
	must(t, db.Write(func(tx *sqlite.Tx) error {
		rows, err := tx.QueryInt(`SELECT count(*) FROM notes`)
		if rows != 2 || len(committed) != 1 {
			t.Errorf("%d rows, %d calls of OnCommit", rows, len(committed))
		}
		return err
	}))
	var at []int64
	must(t, db.Read(func(c *sqlite.Conn) error {
		return c.Query(`SELECT at FROM notes ORDER BY id`, nil, func(row sqlite.Row) { at = append(at, row.Int(0)) })
	}))
	if len(at) != 2 || at[0] != at[1] || at[0] != committed[0] {
		t.Errorf("rows of %d, commits of %d", at, committed)
	}
}

// TestDurable checks that committed rows are in the files although the database is not closed.
func TestDurable(t *testing.T) {
	t.Parallel()
	db := openToy(t)
	for range 10 {
		must(t, note(db, "x"))
	}
	left := cutOff(t, db.Path())
	if n := noteCount(t, openAt(t, left, sqlite.Options{})); n != 10 {
		t.Errorf("%d rows", n)
	}
}
