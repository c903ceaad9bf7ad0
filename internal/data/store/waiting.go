package store

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// waiting holds the callers that wait for changes. A commit by this process wakes the callers of
// its departments (beforeCommit). After a commit by another process, WakeWaiting wakes them.
type waiting struct {
	callers atomic.Int64

	mu    sync.Mutex
	woken map[record.TenantID]chan struct{} // closed to wake the callers of a department

	seen map[int64]int64 // versions of departments at the last WakeWaiting
}

// AwaitChange waits until a department has a change after a position or ctx ends, and returns nil.
// It returns the errors of Changes.
func (s *Store) AwaitChange(ctx context.Context, tenant record.TenantID, after string) error {
	s.waiting.callers.Add(1)
	defer s.waiting.callers.Add(-1)
	for {
		woken, changed := s.waiting.join(tenant), false // joins before it reads, so that no change is missed
		err := s.db.ReadTx(func(c *sqlite.Conn) error {
			p, last, err := s.begin(c, tenant, after)
			changed = p.change < last
			return err
		})
		if changed || err != nil {
			return err
		}
		select {
		case <-woken:
		case <-ctx.Done():
			return nil
		}
	}
}

const versionsSQL = `SELECT id, version FROM tenants WHERE id IN (SELECT value FROM json_each(?))`

// IsAwaited reports whether a caller waits for changes.
func (s *Store) IsAwaited() bool { return s.waiting.callers.Load() > 0 }

// WakeWaiting wakes the callers that wait for changes in a department if its version differs from
// the previous call, because another process may have written it. If the database cannot be read,
// it wakes all callers. A single goroutine calls it.
func (s *Store) WakeWaiting() error {
	if !s.IsAwaited() {
		return nil
	}
	tenants, seen := s.waiting.tenants(), s.waiting.seen
	now := map[int64]int64{} // without removed departments
	err := s.query(versionsSQL, sqlite.Args{jsonList(tenants)}, func(row sqlite.Row) { now[row.Int(0)] = row.Int(1) })
	s.waiting.seen = now
	s.waiting.wake(slices.DeleteFunc(tenants, func(id int64) bool {
		version, exists := now[id]
		last, known := seen[id]
		return exists && known && version == last
	}))
	return err
}

// join returns a channel that is closed at the next wake of a department.
func (w *waiting) join(tenant record.TenantID) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.woken[tenant] == nil {
		w.woken[tenant] = make(chan struct{})
	}
	return w.woken[tenant]
}

func (w *waiting) tenants() (all []int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for tenant := range w.woken {
		all = append(all, int64(tenant))
	}
	return all
}

func (w *waiting) wake(tenants []int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, tenant := range tenants {
		if woken := w.woken[record.TenantID(tenant)]; woken != nil {
			delete(w.woken, record.TenantID(tenant))
			close(woken)
		}
	}
}
