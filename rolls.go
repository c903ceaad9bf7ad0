package main

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A department of thousands has no page that is far away, no order that takes
// sorting and no search that is long: what these need to know of its records
// is kept in memory once it has been seen to be large. A roll is of one
// version of a department. The writer tells which records it changes, and the
// next reader makes the next roll of that. Where another program has changed
// something, the roll is read anew.

const (
	// largeDepartment is the number of records from which on a roll is kept.
	// Below it SQLite is as quick.
	largeDepartment = 200
	// hugeDepartment is the number above which there is no memory for a roll.
	hugeDepartment = 200_000
	// farAway is the number of records that SQLite may skip to get to a page.
	farAway = 200
	// rollRest is the least time between two readings of a whole department;
	// meanwhile SQLite finds its answers by itself, more slowly.
	rollRest = time.Second
	// rollsSize bounds the memory of all rolls, in bytes.
	rollsSize = 32 << 20
	// maxSteps is how many steps of a department wait for a reader.
	maxSteps = 10_000
)

// rolls are those of a store.
type rolls struct {
	rest time.Duration

	mu          sync.Mutex
	departments map[tenantID]*department // the large ones
}

// department is one that has been seen to be large.
type department struct {
	updating sync.Mutex  // held by the reader that brings the roll up to date
	reading  atomic.Bool // it is read as a whole, which takes long

	// Of these the mutex is that of rolls.
	roll  *roll // nil if there is none
	read  time.Time
	steps []step // to versions that follow on each other, and later than the roll's
}

// step is the change of a record that led to a version of its department.
type step struct{ version, row int64 }

// list answers from the roll of a department. ok is false if it cannot, and
// SQLite must.
func (rs *rolls) list(c *conn, tenant tenantID, q listQuery) (p page, ok bool, err error) {
	d := rs.of(tenant)
	if d == nil || d.reading.Load() || !q.wantsRoll() {
		return p, false, nil
	}
	err = c.atOnce(func() error {
		r, err := rs.current(c, tenant, d)
		if r == nil || err != nil {
			return err
		}
		p, err = r.page(c, tenant, q)
		ok = err == nil
		return err
	})
	return p, ok, err
}

// wantsRoll tells whether SQLite would take longer for a large department.
func (q listQuery) wantsRoll() bool {
	return len(q.terms) > 0 || q.sort.key != nil || q.offset() >= farAway
}

func (rs *rolls) of(tenant tenantID) *department {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return rs.departments[tenant]
}

// saw remembers that a department has this many records.
func (rs *rolls) saw(tenant tenantID, live int64) {
	large := largeDepartment <= live && live <= hugeDepartment
	rs.mu.Lock()
	defer rs.mu.Unlock()
	switch known := rs.departments[tenant] != nil; {
	case large && !known:
		rs.departments[tenant] = &department{}
	case known && !large:
		delete(rs.departments, tenant)
	}
}

// current begins the reading of a transaction with the roll of what it sees,
// nil if there is none to have now.
func (rs *rolls) current(c *conn, tenant tenantID, d *department) (*roll, error) {
	d.updating.Lock() // so that no transaction comes here that began before the roll's
	defer d.updating.Unlock()
	var live, version int64
	err := c.queryRow(`SELECT live_count, version FROM tenants WHERE id = ?`, values{int64(tenant)},
		func(row values) { live, version = number(row[0]), number(row[1]) })
	if err != nil {
		return nil, err
	}
	rs.saw(tenant, live)
	r, changed, known := rs.since(d, version)
	switch {
	case rs.of(tenant) != d: // no longer large
		return nil, nil
	case known && len(changed) == 0:
		return r, nil
	case known:
		r, err = r.next(c, tenant, version, changed)
	case time.Since(d.read) < rs.rest:
		return nil, nil
	default:
		d.reading.Store(true)
		defer d.reading.Store(false)
		r, err = readRoll(c, tenant, version)
	}
	if err != nil {
		return nil, err
	}
	rs.keep(d, r, !known)
	return r, nil
}

// since gives the roll and the rows that have changed from its version to this
// one; known is false where they, or the roll itself, are not known.
func (rs *rolls) since(d *department, version int64) (r *roll, rows []int64, known bool) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if d.roll == nil {
		return nil, nil, false
	}
	reached := d.roll.version
	for _, st := range d.steps {
		if reached < version && st.version == reached+1 {
			reached++
			rows = append(rows, st.row)
		}
	}
	return d.roll, rows, reached == version
}

// keep puts a roll in its place, and others out if they are too many.
func (rs *rolls) keep(d *department, r *roll, anew bool) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	d.roll = r
	if anew {
		d.read = time.Now()
	}
	d.steps = slices.DeleteFunc(d.steps, func(st step) bool { return st.version <= r.version })
	size := r.size()
	for _, other := range rs.departments {
		if other == d || other.roll == nil {
			continue
		}
		if size += other.roll.size(); size > rollsSize {
			size -= other.roll.size()
			other.roll = nil
		}
	}
}

// expect hears from the writer, before it commits, what it has changed.
func (rs *rolls) expect(t *transaction) error {
	byTenant := map[tenantID][]int64{}
	for _, record := range t.changed {
		if rs.of(record.tenant) != nil {
			byTenant[record.tenant] = append(byTenant[record.tenant], record.row)
		}
	}
	for tenant, rows := range byTenant {
		version, err := t.queryNumber(`SELECT version FROM tenants WHERE id = ?`, int64(tenant))
		if err != nil {
			return err
		}
		rs.await(tenant, rows, version-int64(len(rows)))
	}
	return nil
}

// await adds the changes of rows, which lead on from a version.
func (rs *rolls) await(tenant tenantID, rows []int64, version int64) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	d := rs.departments[tenant]
	if d == nil || d.roll == nil && !d.reading.Load() {
		return // the next reader reads all of it
	}
	if len(d.steps)+len(rows) > maxSteps {
		d.steps, d.roll = nil, nil // nobody reads it
		return
	}
	for _, row := range rows {
		version++
		d.steps = append(d.steps, step{version, row})
	}
}

// giveUp forgets the changes of a transaction that was not committed.
func (rs *rolls) giveUp(t *transaction) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for _, record := range t.changed {
		if d := rs.departments[record.tenant]; d != nil {
			d.steps = nil
		}
	}
}
