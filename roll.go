package main

import (
	"encoding/json"
	"math/bits"
	"strings"
	"sync"
	"time"

	"firefighters/internal/record"
)

// A department of thousands has no page that is far away and no search that
// is long: what both need to know of its records is kept in memory once
// somebody has asked. What is kept is of one version of the department. When
// that has changed, or is changing too fast to keep up with, SQLite finds the
// answer by itself, more slowly.

const (
	// largeDepartment is the number of records from which on a roll is kept.
	// Below it SQLite is as quick.
	largeDepartment = 200
	// hugeDepartment is the number above which there is no memory for a roll.
	hugeDepartment = 200_000
	// farAway is the number of records that SQLite may skip to get to a page.
	farAway = 200
	// rollRest is the rest of a store's rolls.
	rollRest = time.Second
	// rollsSize bounds the memory of all rolls, in bytes.
	rollsSize = 32 << 20
)

// roll is what is kept of one department. Positions are those in rows.
type roll struct {
	version int64
	read    time.Time
	rows    []int64 // row numbers, in order of creation
	texts   lines   // search_text
	digits  lines   // phone_digits

	mu     sync.Mutex
	orders map[string][]int32 // positions, by ORDER BY; read when first wanted
}

// rolls are those of a store.
type rolls struct {
	rest time.Duration // the least time between two readings of a department

	mu       sync.Mutex
	byTenant map[tenantID]*roll
	reading  sync.Mutex // one at a time is read
}

// listLarge answers a search in a large department, or a page that is far
// away, from its roll. ok is false if it cannot, and SQLite must.
func (s *store) listLarge(c *conn, tenant tenantID, q listQuery) (p page, ok bool, err error) {
	if len(q.terms) == 0 && q.offset() < farAway {
		return p, false, nil
	}
	var live, version int64
	err = c.queryRow(`SELECT live_count, version FROM tenants WHERE id = ?`, values{int64(tenant)},
		func(row values) { live, version = number(row[0]), number(row[1]) })
	if err != nil || live < largeDepartment || live > hugeDepartment {
		return p, false, err
	}
	r, err := s.rolls.get(c, tenant, version)
	if r == nil || err != nil {
		return p, false, err
	}
	order, err := r.order(c, tenant, q)
	if order == nil || err != nil {
		return p, false, err
	}
	wanted, total := r.pick(order, q)
	p.totalCount = total
	p.items, ok, err = r.fetch(c, tenant, wanted)
	return p, ok, err
}

// get gives the roll of a department at this version, nil if there is none and
// it is not the time to read it.
func (rs *rolls) get(c *conn, tenant tenantID, version int64) (*roll, error) {
	rs.mu.Lock()
	r := rs.byTenant[tenant]
	rs.mu.Unlock()
	if r != nil && r.version == version {
		return r, nil
	}
	if r != nil && time.Since(r.read) < rs.rest || !rs.reading.TryLock() {
		return nil, nil
	}
	defer rs.reading.Unlock()
	r, err := readRoll(c, tenant)
	if err != nil {
		return nil, err
	}
	rs.keep(tenant, r)
	if r.version != version {
		return nil, nil
	}
	return r, nil
}

// keep puts a roll in its place, and others out if they are too many.
func (rs *rolls) keep(tenant tenantID, r *roll) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.byTenant == nil {
		rs.byTenant = map[tenantID]*roll{}
	}
	rs.byTenant[tenant] = r
	size := 0
	for other, kept := range rs.byTenant {
		if size += kept.size(); size > rollsSize && other != tenant {
			size -= kept.size()
			delete(rs.byTenant, other)
		}
	}
}

// size is about how many bytes a roll takes, with all its orders.
func (r *roll) size() int {
	return len(r.texts.text) + len(r.digits.text) + len(r.rows)*(8+2*4+2*len(sortFields)*4)
}

const rollSQL = `SELECT row, search_text, phone_digits, (SELECT version FROM tenants WHERE id = ?1)` +
	inTable + ` ORDER BY row`

func readRoll(c *conn, tenant tenantID) (*roll, error) {
	r := &roll{read: time.Now(), orders: map[string][]int32{}}
	var texts, digits strings.Builder
	err := c.query(rollSQL, values{int64(tenant)}, func(row values) {
		r.rows = append(r.rows, number(row[0]))
		r.texts.add(&texts, text(row[1]))
		r.digits.add(&digits, text(row[2]))
		r.version = number(row[3])
	})
	r.texts.text, r.digits.text = texts.String(), digits.String()
	return r, err
}

// order gives the positions in the order that is asked for; nil if the
// department has changed since.
func (r *roll) order(c *conn, tenant tenantID, q listQuery) ([]int32, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if order := r.orders[q.order]; order != nil {
		return order, nil
	}
	position := make(map[int64]int32, len(r.rows))
	for i, row := range r.rows {
		position[row] = int32(i)
	}
	order, version := make([]int32, 0, len(r.rows)), r.version
	err := c.query(`SELECT row, (SELECT version FROM tenants WHERE id = ?1)`+q.from+` ORDER BY `+q.order,
		values{int64(tenant)}, func(row values) {
			order = append(order, position[number(row[0])])
			version = number(row[1])
		})
	if err != nil || version != r.version {
		return nil, err
	}
	r.orders[q.order] = order
	return order, nil
}

// pick gives the row numbers of the page that is asked for, and how many
// records match.
func (r *roll) pick(order []int32, q listQuery) (wanted []int64, total int64) {
	from, to := q.offset(), q.offset()+q.pageSize
	if len(q.terms) == 0 {
		total = int64(len(order))
		for _, position := range order[min(from, total):min(to, total)] {
			wanted = append(wanted, r.rows[position])
		}
		return wanted, total
	}
	found := r.matching(q.terms)
	total = found.count()
	for i, seen := 0, int64(0); i < len(order) && seen < min(to, total); i++ {
		if found.has(order[i]) {
			if seen >= from {
				wanted = append(wanted, r.rows[order[i]])
			}
			seen++
		}
	}
	return wanted, total
}

// matching gives the records in which every term is found.
func (r *roll) matching(terms []searchTerm) set {
	var all set
	for _, t := range terms {
		found := make(set, (len(r.rows)+63)/64)
		r.texts.find(t.text, found)
		if t.digits != noDigits {
			r.digits.find(t.digits, found)
		}
		if all == nil {
			all = found
		}
		for i := range all {
			all[i] &= found[i]
		}
	}
	return all
}

const fetchSQL = `
	SELECT ` + columns + `, row, (SELECT version FROM tenants WHERE id = ?1)
	  FROM json_each(?2) AS wanted CROSS JOIN firefighters ON row = wanted.value
	 WHERE tenant_id = ?1 AND deleted_at IS NULL`

// fetch reads the records of these rows. ok is false if the department has
// changed since the roll was read.
func (r *roll) fetch(c *conn, tenant tenantID, rows []int64) (items []record.Firefighter, ok bool, err error) {
	wanted, err := json.Marshal(rows)
	if err != nil {
		return nil, false, err
	}
	position := make(map[int64]int, len(rows))
	for i, row := range rows {
		position[row] = i
	}
	items, ok = make([]record.Firefighter, len(rows)), true
	err = c.query(fetchSQL, values{int64(tenant), string(wanted)}, func(row values) {
		items[position[number(row[len(row)-2])]] = firefighterOf(row)
		ok = ok && number(row[len(row)-1]) == r.version
	})
	return items, ok, err
}

// lines are texts that are searched together: one string, each text followed
// by a line break, which no term contains.
type lines struct {
	text string
	ends []int32
}

func (l *lines) add(b *strings.Builder, text string) {
	b.WriteString(text)
	b.WriteByte('\n')
	l.ends = append(l.ends, int32(b.Len()))
}

// find adds to found the positions of the texts that contain term.
func (l *lines) find(term string, found set) {
	for position, from := 0, 0; from < len(l.text); position++ {
		i := strings.Index(l.text[from:], term)
		if i < 0 {
			return
		}
		for int(l.ends[position]) <= from+i {
			position++
		}
		found[position/64] |= 1 << (position % 64)
		from = int(l.ends[position])
	}
}

// set is a set of positions, a bit each.
type set []uint64

func (s set) has(position int32) bool { return s[position/64]>>(position%64)&1 == 1 }

func (s set) count() (n int64) {
	for _, word := range s {
		n += int64(bits.OnesCount64(word))
	}
	return n
}
