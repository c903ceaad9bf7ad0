// Package index keeps large tenants in memory and sorts and searches them there. In SQL, each page
// would sort or search the whole tenant.
package index

import (
	"sync"
	"time"

	"github.com/firefighter-records/firefighters/internal/people/record"
)

const (
	// minRecords and maxRecords bound the size of a large tenant. SQL is as fast for a smaller one,
	// and a snapshot of a larger one takes too long to build.
	minRecords = 200
	maxRecords = 200_000
	// farOffset is the offset from which the index is faster than SQL at finding a page.
	farOffset = 200
	// buildInterval is the minimum time between two builds of a tenant.
	buildInterval = time.Second
	// maxBytes limits both the total memory of all snapshots and the size of a snapshot under
	// construction.
	maxBytes = 32 << 20
)

// State is the state of a tenant in a read transaction.
type State struct {
	Version int64 // incremented with each change to a record
	Count   int64 // number of records
}

// Source reads a tenant in one read transaction.
type Source interface {
	// State returns the state of the tenant. The first call begins the transaction.
	State() (State, error)

	// Rows calls each with all records that are not deleted, in order of row numbers. It returns
	// the number of the last change in the history.
	Rows(each func(Row)) (last int64, err error)

	// Changed returns the rows that changed after the change number after, with a nil row for a
	// deleted record, and the number of the last change. ok is false unless the history has exactly
	// that number of changes.
	Changed(after, changes int64) (rows map[int64]*Row, last int64, ok bool, err error)
}

// Row holds the sorting and search values of a record.
type Row struct {
	Number      int64  // row number
	SearchText  string // folded names, email address and phone number, one per line; a phone number that folds to nothing is not folded
	Expanded    string // record.Fields.Expanded
	PhoneDigits string // ASCII digits of the phone number
	BornAt      int64  // in nanoseconds since 1970
	HasBirth    bool
	UpdatedAt   int64  // in milliseconds
	BirthMonth  uint8  // month in the date that the client sent; 0: no date
	Email       string // email address; empty if it differs from the one in SearchText only in case
}

// Page is one page of a list.
type Page struct {
	Rows    []int64  // row numbers, in the order of the list
	Total   int64    // number of records in the whole list
	Letters []Letter // see record.Query
	More    bool     // whether records follow the page
}

// Letter is an initial letter of the folded last names in a list, and the number of records before
// its first name.
type Letter struct {
	Letter string
	Before int64
}

// Cache holds snapshots of large tenants. It is safe for concurrent use.
type Cache struct {
	mu       sync.Mutex
	tenants  map[record.TenantID]*entry
	building *entry // at most one, to limit memory; nil for none
}

// entry is a tenant whose list was sorted or searched. The mutex of the cache guards its other
// fields.
type entry struct {
	following sync.Mutex // held while a transaction begins and the snapshot catches up with it
	snapshot  *snapshot  // nil for none
	built     time.Time  // when the last build ended
}

// NewCache returns an empty cache.
func NewCache() *Cache { return &Cache{tenants: map[record.TenantID]*entry{}} }

// Page returns a page of a tenant's list and the state of the tenant. If start is not nil, the
// page starts after the place that start returns, and Page ignores the page number of the query.
// Page calls start in the transaction of the source, and only when ok is true.
//
// If ok is false, the caller must use SQL: either SQL is as fast, or no snapshot of this version is
// available. The first caller that needs a snapshot builds it, unless another build is running or
// the last build of the tenant ended less than buildInterval ago. A snapshot then follows the
// history of the tenant.
func (c *Cache) Page(tenant record.TenantID, source Source, q record.Query,
	start func(State) (Place, error)) (p Page, now State, ok bool, err error) {
	if q.IDs != nil || q.IsWhole() && q.SortBy == record.ByCreatedAt && q.Offset() < farOffset { // the index has no ids
		now, err = source.State()
		return Page{}, now, false, err
	}
	s, now, err := c.begin(tenant, source)
	if s == nil || err != nil {
		return Page{}, now, false, err
	}
	if start == nil {
		return s.page(q), now, true, nil
	}
	at, err := start(now)
	if err != nil {
		return Page{}, now, false, err
	}
	return s.pageAfter(at, q), now, true, nil
}

// begin begins the transaction of the source and returns the snapshot of its state, or nil if SQL
// must answer.
func (c *Cache) begin(tenant record.TenantID, source Source) (s *snapshot, now State, err error) {
	e := c.entry(tenant)
	if e != nil {
		// Otherwise a transaction could begin before another one moves the snapshot past it.
		e.following.Lock()
		defer e.following.Unlock()
	}
	if now, err = source.State(); e == nil || err != nil {
		return nil, now, err
	}
	old := c.find(e, now)
	if old != nil && old.version == now.Version {
		return old, now, nil
	}
	s, err = c.follow(e, old, now, source)
	if s == nil && err == nil {
		s, err = c.build(e, now, source)
	}
	return s, now, err
}

// entry returns the entry of a tenant, or nil while its snapshot is being built: SQL answers before
// a build ends.
func (c *Cache) entry(tenant record.TenantID) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.tenants[tenant]
	if e == nil {
		e = &entry{}
		c.tenants[tenant] = e
	}
	if e == c.building {
		return nil
	}
	return e
}

func isLarge(now State) bool { return minRecords <= now.Count && now.Count <= maxRecords }

// find returns the snapshot of an entry, or nil for none. It drops the snapshot of a tenant that is
// no longer large.
func (c *Cache) find(e *entry, now State) *snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !isLarge(now) {
		e.snapshot = nil
	}
	return e.snapshot
}

// follow returns an update of a snapshot from the history, or nil if the history is not sufficient.
func (c *Cache) follow(e *entry, old *snapshot, now State, source Source) (*snapshot, error) {
	if old == nil || old.version > now.Version {
		return nil, nil
	}
	changed, last, ok, err := source.Changed(old.lastChange, now.Version-old.version)
	if err != nil || !ok {
		return nil, err
	}
	s := old.next(now.Version, last, changed)
	if s.size() > maxBytes {
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e.snapshot = s
	c.shrink(e)
	return s, nil
}

// build builds the snapshot of an entry from all records. It returns nil if no build is allowed now
// or the tenant is too large.
func (c *Cache) build(e *entry, now State, source Source) (s *snapshot, err error) {
	c.mu.Lock()
	if !isLarge(now) || c.building != nil || time.Since(e.built) < buildInterval {
		c.mu.Unlock()
		return nil, nil
	}
	e.snapshot, c.building = nil, e
	c.mu.Unlock()
	defer func() { c.keep(e, s) }() // even if the source panics
	return newSnapshot(now, source)
}

// keep ends a build. The snapshot is nil if the build failed.
func (c *Cache) keep(e *entry, s *snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.building = nil
	e.snapshot, e.built = s, time.Now()
	c.shrink(e)
}

// shrink drops all snapshots except that of e if together they exceed maxBytes.
func (c *Cache) shrink(e *entry) {
	size := 0
	for _, other := range c.tenants {
		size += other.snapshot.size()
	}
	for _, other := range c.tenants {
		if size > maxBytes && other != e {
			other.snapshot = nil
		}
	}
}
