package store

import (
	"context"
	"sync"

	"github.com/firefighter-records/firefighters/internal/data/sqlite"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// waiting are all who wait for changes. A commit of this process wakes those of its
// departments (beforeCommit), WakeWaiting those of whom another process has changed
// something. So nobody asks again and again, and to wait takes nothing of the database.
type waiting struct {
	mu     sync.Mutex
	crowds map[record.TenantID]*crowd
}

// crowd are those who wait for the next change of a department.
type crowd struct {
	size    int
	version int64         // of the department when the first of them found nothing; unknownVersion: none has looked yet
	woken   chan struct{} // closed when they shall look again
}

// AwaitChange returns nil when a department has a change after a position, or when ctx
// has ended. The errors are those of Changes.
func (s *Store) AwaitChange(ctx context.Context, tenant record.TenantID, after string) error {
	for {
		c := s.waiting.join(tenant) // before the look, so that no change comes in between
		changed, version, err := s.hasChanged(tenant, after)
		if changed || err != nil {
			s.waiting.leave(tenant, c)
			return err
		}
		s.waiting.settle(c, version)
		select {
		case <-c.woken:
		case <-ctx.Done():
			s.waiting.leave(tenant, c)
			return nil
		}
	}
}

const hasChangesSQL = `
	SELECT EXISTS (SELECT 1 FROM changes WHERE id BETWEEN ?1 << 32 | ?2 + 1 AND ?1 << 32 | 0xffffffff)`

// hasChanged reports whether a department has a change after a position, and returns its
// version. That may have changed alone: the department's platform writes into records, too.
func (s *Store) hasChanged(tenant record.TenantID, after string) (changed bool, version int64, err error) {
	err = s.db.ReadTx(func(c *sqlite.Conn) error {
		p, now, err := begin(c, tenant, after)
		if version = now; err != nil || p.version == now {
			return err
		}
		n, err := c.QueryInt(hasChangesSQL, int64(tenant), p.change)
		changed = n == 1
		return err
	})
	return changed, version, err
}

const versionsSQL = `SELECT id, version FROM tenants WHERE id IN (SELECT value FROM json_each(?))`

// WakeWaiting wakes those who wait for changes of a department that is not as they have
// seen it: another process has written. If the database cannot be read, it wakes all.
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

// join adds one to those who wait for the next change of a department.
func (w *waiting) join(tenant record.TenantID) *crowd {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.crowds[tenant]
	if c == nil {
		c = &crowd{version: unknownVersion, woken: make(chan struct{})}
		w.crowds[tenant] = c
	}
	c.size++
	return c
}

// settle notes that one of a crowd has found nothing in a version.
func (w *waiting) settle(c *crowd, version int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.version == unknownVersion || version < c.version {
		c.version = version
	}
}

// leave takes one out of a crowd that may have been woken.
func (w *waiting) leave(tenant record.TenantID, c *crowd) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.size--; c.size == 0 && w.crowds[tenant] == c {
		delete(w.crowds, tenant)
	}
}

// tenants returns the departments for whose changes somebody waits.
func (w *waiting) tenants() (all []int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for tenant := range w.crowds {
		all = append(all, int64(tenant))
	}
	return all
}

// wake wakes those who wait for changes of some departments.
func (w *waiting) wake(tenants []int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, tenant := range tenants {
		w.wakeCrowd(record.TenantID(tenant))
	}
}

// wakeChanged wakes those of some departments whose versions are not those of now.
func (w *waiting) wakeChanged(tenants []int64, now map[record.TenantID]int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range tenants {
		tenant := record.TenantID(id)
		version, exists := now[tenant]
		if c := w.crowds[tenant]; c != nil && (!exists || c.version != unknownVersion && c.version != version) {
			w.wakeCrowd(tenant)
		}
	}
}

// wakeCrowd is called with the mutex.
func (w *waiting) wakeCrowd(tenant record.TenantID) {
	if c := w.crowds[tenant]; c != nil {
		delete(w.crowds, tenant)
		close(c.woken)
	}
}
