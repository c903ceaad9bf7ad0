// Package index holds large tenants in memory, where it sorts and searches
// them. SQL would have to sort or search the whole tenant for each page.
package index

import (
	"errors"
	"sync"
	"time"

	"github.com/firefighter-records/firefighters/internal/people/record"
)

const (
	// minRecords and maxRecords are the sizes of a large tenant. Below them
	// SQL is as fast, above them a snapshot takes too long to build.
	minRecords = 200
	maxRecords = 200_000
	// farOffset is the offset from which the index finds a page faster than SQL.
	farOffset = 200
	// buildInterval is the least time between two builds of a tenant.
	buildInterval = time.Second
	// maxBytes bounds the memory of all snapshots, and that of the one that is
	// being built.
	maxBytes = 32 << 20
)

// State is what a read transaction sees of a tenant.
type State struct {
	Version int64 // grows by one with each change of a record
	Count   int64 // number of records
}

// Source reads a tenant within one read transaction.
type Source interface {
	// State is called first: the transaction begins with it.
	State() (State, error)

	// Rows calls each with every record in the order of row numbers, without
	// deleted ones. It returns the number of the last change in the history.
	Rows(each func(Row)) (last int64, err error)

	// Changed returns the rows that have changed after a change of the history,
	// nil for one that is gone, and the number of the last change. ok is false if
	// the history does not have these changes, so many in number.
	Changed(after, changes int64) (rows map[int64]*Row, last int64, ok bool, err error)
}

// Row is what the index must know of a record.
type Row struct {
	Number      int64  // row number
	SearchText  string // the names, e-mail address and phone number, folded, a line each; a phone number of marks alone is as it is
	Expanded    string // record.Fields.Expanded
	PhoneDigits string // the column phone_digits, likewise
	BornAt      int64  // in nanoseconds since 1970
	HasBirth    bool
	UpdatedAt   int64  // in milliseconds
	BirthMonth  uint8  // of the date as it was sent; 0: none
	Email       string // the e-mail address, if it is not that of SearchText but for its case
}

// Page is one page of a list.
type Page struct {
	Rows    []int64  // the row numbers, in the order of the list
	Total   int64    // number of records in the whole list
	Letters []Letter // see record.Query
	More    bool     // the list goes on behind the page
}

// Letter is a character with which folded last names begin, and how many records of the
// list are before the first such name.
type Letter struct {
	Letter string
	Before int64
}

// Cache holds snapshots of large tenants. It may be used by several goroutines
// at once.
type Cache struct {
	mu       sync.Mutex
	tenants  map[record.TenantID]*entry
	building *entry // one at a time, which bounds the memory; nil for none
}

// entry is a tenant whose list was sorted or searched. The mutex of the cache guards it.
type entry struct {
	following sync.Mutex // held while a transaction begins and the snapshot follows it
	snapshot  *snapshot  // nil if there is none
	built     time.Time  // when the last build ended
}

// NewCache returns an empty cache.
func NewCache() *Cache { return &Cache{tenants: map[record.TenantID]*entry{}} }

// Page returns a page of a tenant's list and the state that it is of. If behind is not nil, the
// page is the one behind the place that it returns, and the page number of the query does not
// count. It is called within the transaction of the source, and only if ok is true.
//
// If ok is false, the caller must ask SQL: it is as fast, or there is no
// snapshot of this version now. A snapshot follows the changes that the history
// has. Where it cannot, the first caller that needs one builds it: not while
// another one is being built, nor within a second after the tenant's last build.
func (c *Cache) Page(tenant record.TenantID, source Source, q record.Query,
	behind func(State) (Place, error)) (p Page, now State, ok bool, err error) {
	if !isSlowInSQL(q) {
		now, err = source.State()
		return Page{}, now, false, err
	}
	s, now, err := c.begin(tenant, source)
	if s == nil || err != nil {
		return Page{}, now, false, err
	}
	if behind == nil {
		return s.page(q), now, true, nil
	}
	at, err := behind(now)
	if err != nil {
		return Page{}, now, false, err
	}
	return s.pageBehind(at, q), now, true, nil
}

// begin begins the transaction of the source and returns the snapshot of what
// it sees, nil if SQL must answer.
func (c *Cache) begin(tenant record.TenantID, source Source) (s *snapshot, now State, err error) {
	e := c.entry(tenant)
	if e != nil {
		// No transaction may begin before that of a snapshot and be answered after it.
		e.following.Lock()
		defer e.following.Unlock()
	}
	if now, err = source.State(); e == nil || err != nil {
		return nil, now, err
	}
	s, err = c.current(e, now, source)
	return s, now, err
}

// entry returns the entry of a tenant, nil while its snapshot is being built: SQL is faster
// than to wait.
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

// isSlowInSQL reports whether a large tenant's page takes SQL longer than the
// index, which does not have the ids.
func isSlowInSQL(q record.Query) bool {
	switch {
	case q.IDs != nil:
		return false
	case !q.IsWhole():
		return true
	}
	return q.SortBy != record.ByCreatedAt || q.Offset() >= farOffset
}

// current returns the snapshot of a state, nil if SQL must answer. The caller
// has locked e.following.
func (c *Cache) current(e *entry, now State, source Source) (*snapshot, error) {
	old := c.find(e, now)
	if old != nil && old.version == now.Version {
		return old, nil
	}
	s, err := c.follow(e, old, now, source)
	if s == nil && err == nil {
		s, err = c.build(e, now, source)
	}
	return s, err
}

// find returns the snapshot of an entry, nil if there is none. It drops that of a
// tenant that is not large any more.
func (c *Cache) find(e *entry, now State) *snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !isLarge(now) {
		e.snapshot = nil
	}
	return e.snapshot
}

// follow brings a snapshot up to date by the history, or returns nil.
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

// build builds the snapshot of an entry from all records, if it may: see Page.
func (c *Cache) build(e *entry, now State, source Source) (s *snapshot, err error) {
	if !c.beginBuild(e, now) {
		return nil, nil
	}
	defer func() { c.keep(e, s) }() // also after a panic of the source
	s, err = newSnapshot(now, source)
	if errors.Is(err, errTooLarge) {
		return nil, nil
	}
	return s, err
}

func (c *Cache) beginBuild(e *entry, now State) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !isLarge(now) || c.building != nil || time.Since(e.built) < buildInterval {
		return false
	}
	e.snapshot, c.building = nil, e
	return true
}

// keep ends a build. The snapshot is nil if that failed.
func (c *Cache) keep(e *entry, s *snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.building = nil
	e.snapshot, e.built = s, time.Now()
	c.shrink(e)
}

// shrink drops the snapshots of all other entries if they do not fit into maxBytes with
// that of e.
func (c *Cache) shrink(e *entry) {
	size := 0
	for _, one := range c.tenants {
		size += one.size()
	}
	if size <= maxBytes {
		return
	}
	for _, other := range c.tenants {
		if other != e {
			other.snapshot = nil
		}
	}
}

func (e *entry) size() int {
	if e.snapshot == nil {
		return 0
	}
	return e.snapshot.size()
}
