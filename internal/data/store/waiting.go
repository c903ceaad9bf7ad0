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
	mu     sync.Mutex
	crowds map[record.TenantID]*crowd
	seen   map[record.TenantID]int64 // versions of departments at the last WakeWaiting
}

// crowd are the callers that wait for the next change of a department.
type crowd struct {
	size  int
	woken chan struct{} // closed when they shall look again
}

// AwaitChange returns nil when a department has a change after a position, or when ctx
// has ended. The errors are those of Changes.
func (s *Store) AwaitChange(ctx context.Context, tenant record.TenantID, after string) error {
	for {
		c := s.waiting.join(tenant) // before the look, so that no change comes in between
		changed, err := s.hasChanged(tenant, after)
		if !changed && err == nil {
			select {
			case <-c.woken:
				continue
			case <-ctx.Done():
			}
		}
		s.waiting.leave(tenant, c)
		return err
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

// join adds one to the crowd of a department.
func (w *waiting) join(tenant record.TenantID) *crowd {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.crowds[tenant]
	if c == nil {
		c = &crowd{woken: make(chan struct{})}
		w.crowds[tenant] = c
	}
	c.size++
	return c
}

// leave takes one out of a crowd that may have been woken.
func (w *waiting) leave(tenant record.TenantID, c *crowd) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.size--; c.size == 0 && w.crowds[tenant] == c {
		delete(w.crowds, tenant)
	}
}

// tenants returns the departments that have a crowd.
func (w *waiting) tenants() (all []int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for tenant := range w.crowds {
		all = append(all, int64(tenant))
	}
	return all
}

// wake wakes the crowds of some departments.
func (w *waiting) wake(tenants []int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, tenant := range tenants {
		w.wakeCrowd(record.TenantID(tenant))
	}
}

// wakeChanged wakes the crowds of departments whose versions differ from the last call.
func (w *waiting) wakeChanged(tenants []int64, now map[record.TenantID]int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range tenants {
		tenant := record.TenantID(id)
		version, exists := now[tenant]
		if last, known := w.seen[tenant]; !exists || !known || version != last {
			w.wakeCrowd(tenant)
		}
	}
	w.seen = now
}

// wakeCrowd is called with the mutex.
func (w *waiting) wakeCrowd(tenant record.TenantID) {
	if c := w.crowds[tenant]; c != nil {
		delete(w.crowds, tenant)
		close(c.woken)
	}
}
