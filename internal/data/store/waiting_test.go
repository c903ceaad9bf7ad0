package store_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// waiter is a caller that waits for a change.
type waiter struct {
	done   bool
	err    error
	cancel context.CancelFunc
}

// awaitNext waits in the background for the next change in a department.
func awaitNext(t *testing.T, s *store.Store, tenant record.TenantID) *waiter {
	t.Helper()
	after := changes(t, s, tenant, "", 1000).Next
	ctx, cancel := context.WithCancel(t.Context())
	w := &waiter{cancel: cancel}
	go func() { w.err = s.AwaitChange(ctx, tenant, after); w.done = true }()
	synctest.Wait()
	return w
}

// ends checks whether the caller has returned, and its error.
func (w *waiter) ends(t *testing.T, done bool, want error) {
	t.Helper()
	synctest.Wait()
	if w.done != done || !errors.Is(w.err, want) {
		t.Errorf("done %t, want %t: %v, want %v", w.done, done, w.err, want)
	}
}

// TestAwaitChange checks that a write wakes the callers of its department and no others.
func TestAwaitChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		f := create(t, s, ours, ana)
		for _, each := range []struct {
			what  string
			write func() error
		}{
			{"create", func() error { create(t, s, ours, ana); return nil }},
			{"replace", func() error { replace(t, s, ours, f.ID, eva); return nil }},
			{"delete", func() error { return s.Delete(ours, 0, f.ID, asIs) }},
			{"import", func() error { imports(t, s, ours, adding(store.Person{Fields: ana})); return nil }},
		} {
			one, two, other := awaitNext(t, s, ours), awaitNext(t, s, ours), awaitNext(t, s, theirs)
			one.ends(t, false, nil)
			must(t, each.write())
			one.ends(t, true, nil)
			two.ends(t, true, nil)
			other.ends(t, false, nil)
			other.cancel()
			other.ends(t, true, nil)
			if t.Failed() {
				t.Fatal(each.what)
			}
		}
		if err := s.AwaitChange(t.Context(), ours, ""); err != nil { // there are changes already
			t.Error(err)
		}
		if err := s.AwaitChange(t.Context(), theirs, changes(t, s, ours, "", 1).Next); err != store.ErrPosition {
			t.Error(err)
		}
	})
}

// TestAwaitOthersChange checks that WakeWaiting wakes the callers of a department that another
// process has changed or removed.
func TestAwaitOthersChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		other := openStore(t, s.DB().Path(), time.Now)
		look := func() { t.Helper(); must(t, s.WakeWaiting()) }
		look()
		mine, theirs := awaitNext(t, s, ours), awaitNext(t, s, theirs)
		look()
		exec(t, s, `UPDATE tenants SET name = 'Engine 8' WHERE id = 1`)
		look()
		mine.ends(t, false, nil)
		f := create(t, other, ours, ana)
		mine.ends(t, false, nil)
		look()
		mine.ends(t, true, nil)
		theirs.ends(t, false, nil)
		mine = awaitNext(t, s, ours)
		exec(t, s, `UPDATE firefighters SET invitation_status = 'sent'`) // not a change in the history
		look()
		mine.ends(t, false, nil)
		must(t, other.Delete(ours, 0, f.ID, asIs))
		look()
		mine.ends(t, true, nil)
		mine = awaitNext(t, s, ours)
		_, err := other.RemoveTenant(2)
		must(t, err)
		look()
		if !s.IsAwaited() {
			t.Error("not awaited")
		}
		theirs.ends(t, true, store.ErrRemoved)
		mine.cancel()
		mine.ends(t, true, nil)
		if s.IsAwaited() {
			t.Error("still awaited")
		}
	})
}

// TestAwaitInLostDatabase checks that callers return when the database is lost or closed.
func TestAwaitInLostDatabase(t *testing.T) {
	t.Parallel()
	for want, end := range map[error]func(*store.Store){
		sqlite.ErrLost:   func(s *store.Store) { s.DB().Lose() },
		sqlite.ErrClosed: func(s *store.Store) { s.Close() },
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newStore(t)
			w := awaitNext(t, s, ours)
			end(s)
			w.ends(t, false, nil)
			if err := s.WakeWaiting(); !errors.Is(err, want) {
				t.Error(err)
			}
			w.ends(t, true, want)
		})
	}
}
