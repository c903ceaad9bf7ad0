package store

import (
	"context"
	"sync"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// waiting are the callers that wait for changes. A commit of this process wakes the callers of
// its departments (beforeCommit). If another process has changed a department, WakeWaiting wakes
// its callers. Until then a caller does not use the database.
type waiting struct {
	mu    sync.Mutex
	woken map[record.TenantID]chan struct{} // closed when the callers of a department shall look again
	seen  map[record.TenantID]int64         // versions of departments at the last WakeWaiting
}

// AwaitChange returns nil when a department has a change after a position, or when ctx
// has ended. The errors are those of Changes.
func (s *Store) AwaitChange(ctx context.Context, tenant record.TenantID, after string) error {
	for {
		woken := s.waiting.join(tenant) // before the look, so that no change comes in between
		if changed, err := s.hasChanged(tenant, after); changed || err != nil {
			return err
		}
		select {
		case <-woken:
		case <-ctx.Done():
			return nil
		}
	}
}

// hasChanged reports whether a department has a change after a position.
func (s *Store) hasChanged(tenant record.TenantID, after string) (changed bool, err error) {
	err = s.db.ReadTx(func(c *sqlite.Conn) error {
		p, last, err := s.begin(c, tenant, after)
		changed = p.change < last
		return err
	})
	return changed, err
}

const versionsSQL = `SELECT id, version FROM tenants WHERE id IN (SELECT value FROM json_each(?))`

// WakeWaiting wakes the callers that wait for changes of a department if its version differs
// from the last call: another process may have written. If the database cannot be read, it wakes
// all.
func (s *Store) WakeWaiting() error {
	tenants := s.waiting.tenants()
	if len(tenants) == 0 {
		return nil
	}
	now := map[record.TenantID]int64{} // without those that were removed
	err := s.query(versionsSQL, sqlite.Args{jsonList(tenants)}, func(row sqlite.Row) { now[record.TenantID(row.Int(0))] = row.Int(1) })
	s.waiting.wakeChanged(tenants, now)
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

// tenants returns the departments for which callers have waited since their last wake.
func (w *waiting) tenants() (all []int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for tenant := range w.woken {
		all = append(all, int64(tenant))
	}
	return all
}

// wake wakes the callers of some departments.
func (w *waiting) wake(tenants []int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, tenant := range tenants {
		w.wakeTenant(record.TenantID(tenant))
	}
}

// wakeChanged wakes the callers of departments whose versions differ from the last call.
func (w *waiting) wakeChanged(tenants []int64, now map[record.TenantID]int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range tenants {
		tenant := record.TenantID(id)
		version, exists := now[tenant]
		if last, known := w.seen[tenant]; !exists || !known || version != last {
			w.wakeTenant(tenant)
		}
	}
	w.seen = now
}

// wakeTenant is called with the mutex.
func (w *waiting) wakeTenant(tenant record.TenantID) {
	if woken := w.woken[tenant]; woken != nil {
		delete(w.woken, tenant)
		close(woken)
	}
}
