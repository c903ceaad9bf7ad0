package store_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// inGroup runs the calls while another call holds the writer, so that they share one transaction.
func inGroup(t *testing.T, s *store.Store, calls ...func()) {
	t.Helper()
	let := make(chan bool)
	go func() {
		if err := s.DB().Write(func(*sqlite.Tx) error { <-let; return nil }); err != nil {
			t.Error(err)
		}
	}()
	synctest.Wait() // until that call holds the writer
	var running sync.WaitGroup
	for _, call := range calls {
		running.Go(call)
		synctest.Wait() // until this call waits
	}
	close(let)
	running.Wait()
}

// ticks returns a clock that never returns a time twice. A transaction has one time.
func ticks() func() time.Time {
	var seconds atomic.Int64
	return func() time.Time { return time.Unix(1e9+seconds.Add(1), 0) }
}

// TestRefusalsInAGroup checks that calls that fail before their first write do not affect the
// shared transaction.
func TestRefusalsInAGroup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStoreAt(t, ticks())
		f := create(t, s, ours, ana)
		objection := errors.New("an objection")
		objects := func(record.Firefighter) error { return objection }
		fails := func(want error, call func() error) func() {
			return func() {
				if err := call(); !errors.Is(err, want) {
					t.Errorf("the error is %v, want %v", err, want)
				}
			}
		}
		creates := func() {
			if _, err := s.Create(ours, 0, ana, nil); err != nil {
				t.Error(err)
			}
		}
		before := scanInt(t, s, `SELECT max(id) FROM changes`)
		inGroup(t, s, creates,
			fails(objection, func() error { _, err := s.Replace(ours, 0, f.ID, eva, objects); return err }), creates,
			fails(objection, func() error { return s.Delete(ours, 0, f.ID, objects) }), creates,
			fails(store.ErrNotFound, func() error { _, err := s.Replace(ours, 0, nobody, eva, asIs); return err }), creates,
			fails(store.ErrNotFound, func() error { return s.Delete(theirs, 0, f.ID, asIs) }), creates,
			fails(store.ErrNotFound, func() error { _, err := s.RevokeKey(store.AnyTenant, 99); return err }), creates)
		changes := scanInt(t, s, `SELECT count(*) FROM changes WHERE id > ?`, before)
		times := scanInt(t, s, `SELECT count(DISTINCT at) FROM changes WHERE id > ?`, before)
		if changes != 6 || times != 1 {
			t.Errorf("%d changes in %d transactions", changes, times)
		}
	})
}

// TestFailuresInAGroup checks that a call that fails after a write undoes only its own writes.
func TestFailuresInAGroup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		gone := createDeleted(t, s, ours, ana)
		shown := 0
		var errs []error
		var mu sync.Mutex
		fails := func(call func() error) func() {
			return func() { err := call(); mu.Lock(); defer mu.Unlock(); errs = append(errs, err) }
		}
		creates := func() {
			if _, err := s.Create(ours, 0, ana, nil); err != nil {
				t.Error(err)
			}
		}
		inGroup(t, s, creates,
			fails(func() error { return s.Undelete(ours, 0, []string{gone.ID, nobody}) }), creates,
			fails(func() error { _, err := s.Create(99, 0, ana, nil); return err }), creates,
			fails(func() error {
				return s.CreateKey(store.NewKey{Tenant: "Rescue 3", New: true, Scope: store.ScopeRead}, func(string) error { shown++; return os.ErrClosed })
			}), creates,
			fails(func() error { return s.DB().Write(func(*sqlite.Tx) error { panic("before the first write") }) }), creates,
			fails(func() error {
				return s.DB().Write(func(tx *sqlite.Tx) error {
					tx.Exec(`DELETE FROM firefighters`)
					panic("after it")
				})
			}), creates)
		for _, err := range errs {
			if err == nil {
				t.Errorf("the errors are %v", errs)
			}
		}
		if total := list(t, s, ours, "").Total; total != 6 || len(errs) != 5 || shown == 0 {
			t.Errorf("%d records, %d errors, shown %d times", total, len(errs), shown)
		}
		if _, err := s.Tenant("Rescue 3"); !errors.As(err, new(*store.NoTenantError)) {
			t.Errorf("a part of a key was created: %v", err)
		}
		if got := actions(history(t, s, ours, gone.ID)); got != "create delete" {
			t.Errorf("a part of an undelete: %s", got)
		}
		checkCounts(t, s)
	})
}

// TestFullDisk checks that a write on a full disk changes nothing, and that writes succeed once
// there is space.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	f := create(t, s, ours, ana)
	limitPages(t, s, "1")
	created := int64(1)
	var err error
	for ; err == nil; created++ {
		_, err = s.Create(ours, 0, ana, &store.IdempotencyKey{By: 1, Key: fmt.Sprint(created), Hash: []byte("x")})
	}
	created--
	longer := record.Fields{FirstName: strings.Repeat("Č", 100), LastName: strings.Repeat("č", 100)}
	replaced := error(nil)
	for range 100 { // uses the remaining space
		if replaced == nil {
			_, replaced = s.Replace(ours, 0, f.ID, longer, asIs)
		}
	}
	if !errors.Is(err, sqlite.ErrFull) || !errors.Is(replaced, sqlite.ErrFull) {
		t.Errorf("create: %v, replace: %v", err, replaced)
	}
	if total := list(t, s, ours, "").Total; total != created {
		t.Errorf("%d records, want %d", total, created)
	}
	records := scanInt(t, s, `SELECT count(*) FROM changes WHERE action = 'create'`)
	replays := scanInt(t, s, `SELECT count(*) FROM replays`)
	if records != created || replays != created-1 {
		t.Errorf("%d creates in the history and %d replays of %d creates", records, replays, created)
	}
	limitPages(t, s, "1000000")
	create(t, s, ours, ana)
	checkCounts(t, s)
}
