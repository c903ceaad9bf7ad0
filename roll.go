package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"sort"
	"strings"
	"sync"

	"firefighters/internal/fold"
	"firefighters/internal/lines"
	"firefighters/internal/record"
)

// roll is what is kept of one version of a department. But for its orders it
// never changes. A position is an index of rows.
type roll struct {
	version int64
	rows    []int64     // row numbers, ascending: in order of creation
	texts   lines.Lines // search_text
	digits  lines.Lines // phone_digits
	born    []int64     // born_at, or unborn

	mu     sync.Mutex
	orders map[string][]int32 // positions by a sort field's name, ascending, those without a value last
}

// unborn is no date of birth.
const unborn = -1 << 63

// size is about how many bytes a roll takes, with all its orders.
func (r *roll) size() int {
	return r.texts.Size() + r.digits.Size() + len(r.rows)*(8+8+2*4+(len(sortFields)-1)*4)
}

const rollSQL = `SELECT row, search_text, phone_digits, born_at` + inTable

func readRoll(c *conn, tenant tenantID, version int64) (*roll, error) {
	return scanRoll(c, version, rollSQL+` ORDER BY row`, int64(tenant))
}

func scanRoll(c *conn, version int64, query string, args ...value) (*roll, error) {
	r := &roll{version: version, orders: map[string][]int32{}}
	err := c.query(query, args, func(row values) {
		born, given := row[3].(int64)
		if !given {
			born = unborn
		}
		r.add(number(row[0]), text(row[1]), text(row[2]), born)
	})
	return r, err
}

// add adds the newest record and gives its position.
func (r *roll) add(row int64, text, digits string, born int64) int32 {
	r.rows = append(r.rows, row)
	r.texts.Add(text)
	r.digits.Add(digits)
	r.born = append(r.born, born)
	return int32(len(r.rows) - 1)
}

func (r *roll) copyFrom(other *roll, i int) int32 {
	return r.add(other.rows[i], other.texts.At(i), other.digits.At(i), other.born[i])
}

// next gives the roll of a later version, until which these rows have changed.
func (r *roll) next(c *conn, tenant tenantID, version int64, changed []int64) (*roll, error) {
	slices.Sort(changed)
	wanted, err := json.Marshal(changed)
	if err != nil {
		return nil, err
	}
	fresh, err := scanRoll(c, version, rollSQL+` AND row IN (SELECT value FROM json_each(?2)) ORDER BY row`, int64(tenant), string(wanted))
	if err != nil {
		return nil, err
	}
	n := &roll{version: version, orders: map[string][]int32{}}
	n.grow(len(r.rows)+len(fresh.rows), r.texts.Size()+fresh.texts.Size(), r.digits.Size()+fresh.digits.Size())
	moved, added := make([]int32, len(r.rows)), []int32{}
	next := 0
	addUntil := func(row int64) {
		for ; next < len(fresh.rows) && fresh.rows[next] < row; next++ {
			added = append(added, n.copyFrom(fresh, next))
		}
	}
	for i, row := range r.rows {
		if addUntil(row); contains(changed, row) {
			moved[i] = -1
			continue
		}
		moved[i] = n.copyFrom(r, i)
	}
	addUntil(1<<63 - 1)
	if len(added) < len(r.rows)/16 { // else it is quicker to sort anew
		n.reorder(r, moved, added)
	}
	return n, nil
}

func contains(sorted []int64, row int64) bool {
	_, found := slices.BinarySearch(sorted, row)
	return found
}

func (r *roll) grow(rows, texts, digits int) {
	r.rows, r.born = make([]int64, 0, rows), make([]int64, 0, rows)
	r.texts.Grow(rows, texts)
	r.digits.Grow(rows, digits)
}

// reorder takes the orders over from an older roll, whose positions have moved,
// or are gone where that is -1.
func (r *roll) reorder(old *roll, moved, added []int32) {
	old.mu.Lock()
	defer old.mu.Unlock()
	for _, f := range sortFields {
		if old.orders[f.name] == nil {
			continue
		}
		order := make([]int32, 0, len(r.rows))
		for _, position := range old.orders[f.name] {
			if now := moved[position]; now >= 0 {
				order = append(order, now)
			}
		}
		for _, position := range added {
			i, _ := slices.BinarySearchFunc(order, position, func(a, b int32) int { return r.compare(f, a, b) })
			order = slices.Insert(order, i, position)
		}
		r.orders[f.name] = order
	}
}

// order gives the positions as they are asked for.
func (r *roll) order(q listQuery) order {
	o := order{size: len(r.rows), valued: len(r.rows), descending: q.descending}
	if q.sort.key != nil {
		o.positions = r.sorted(q.sort)
		o.valued = sort.Search(o.size, func(i int) bool { return q.sort.key(r, o.positions[i]).none })
	}
	return o
}

func (r *roll) sorted(f sortField) []int32 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.orders[f.name] == nil {
		keys, positions := make([]sortKey, len(r.rows)), make([]int32, len(r.rows))
		for i := range r.rows {
			keys[i], positions[i] = f.key(r, int32(i)), int32(i)
		}
		slices.SortFunc(positions, func(a, b int32) int { return cmp.Or(keys[a].compare(keys[b]), cmp.Compare(a, b)) })
		r.orders[f.name] = positions
	}
	return r.orders[f.name]
}

// compare is the ascending order of two positions.
func (r *roll) compare(f sortField, a, b int32) int {
	return cmp.Or(f.key(r, a).compare(f.key(r, b)), cmp.Compare(a, b))
}

// order is a list's: the records without a value stand last in both directions.
type order struct {
	positions    []int32 // ascending; nil: those of the roll
	size, valued int     // of all, of those that have a value
	descending   bool
}

func (o order) at(i int) int32 {
	switch {
	case o.descending && i < o.valued:
		i = o.valued - 1 - i
	case o.descending:
		i = o.size - 1 - (i - o.valued)
	}
	if o.positions == nil {
		return int32(i)
	}
	return o.positions[i]
}

// sortKey is what a record is sorted by. The fields that it is not sorted by
// are empty.
type sortKey struct {
	none   bool // no value
	texts  [2]string
	number int64
}

func (k sortKey) compare(other sortKey) int {
	if k.none != other.none {
		return map[bool]int{true: 1, false: -1}[k.none]
	}
	return cmp.Or(strings.Compare(k.texts[0], other.texts[0]), strings.Compare(k.texts[1], other.texts[1]),
		cmp.Compare(k.number, other.number))
}

// fields are those of search_text.
func (r *roll) fields(position int32) (first, last, email, phone string) {
	first, rest, _ := strings.Cut(r.texts.At(int(position)), "\n")
	last, rest, _ = strings.Cut(rest, "\n")
	email, phone, _ = strings.Cut(rest, "\n")
	return first, last, email, phone
}

func firstNameKey(r *roll, position int32) sortKey {
	first, last, _, _ := r.fields(position)
	return sortKey{texts: [2]string{first, last}}
}

func lastNameKey(r *roll, position int32) sortKey {
	first, last, _, _ := r.fields(position)
	return sortKey{texts: [2]string{last, first}}
}

func emailKey(r *roll, position int32) sortKey {
	_, _, email, _ := r.fields(position) // has an @, if there is one
	return sortKey{none: email == "", texts: [2]string{email}}
}

func phoneKey(r *roll, position int32) sortKey {
	_, _, _, phone := r.fields(position)
	return sortKey{none: phone == "", texts: [2]string{fold.String(phone)}}
}

func birthKey(r *roll, position int32) sortKey {
	born := r.born[position]
	return sortKey{none: born == unborn, number: born}
}

// page gives the page that is asked for.
func (r *roll) page(c *conn, tenant tenantID, q listQuery) (p page, err error) {
	p.version = r.version
	var wanted []int64
	wanted, p.totalCount = r.pick(r.order(q), q)
	p.items, err = fetch(c, tenant, wanted)
	return p, err
}

// pick gives the row numbers of the page that is asked for, and how many
// records match.
func (r *roll) pick(order order, q listQuery) (wanted []int64, total int64) {
	from, to := q.offset(), q.offset()+q.pageSize
	if len(q.terms) == 0 {
		total = int64(order.size)
		for i := min(from, total); i < min(to, total); i++ {
			wanted = append(wanted, r.rows[order.at(int(i))])
		}
		return wanted, total
	}
	found := r.matching(q.terms)
	total = found.Count()
	for i, seen := 0, int64(0); i < order.size && seen < min(to, total); i++ {
		position := order.at(i)
		if found.Has(position) {
			if seen >= from {
				wanted = append(wanted, r.rows[position])
			}
			seen++
		}
	}
	return wanted, total
}

// matching gives the records in which every term is found.
func (r *roll) matching(terms []searchTerm) (all lines.Set) {
	for _, t := range terms {
		found := lines.NewSet(len(r.rows))
		r.texts.Find(t.text, found)
		if t.digits != noDigits {
			r.digits.Find(t.digits, found)
		}
		if all == nil {
			all = found
		}
		all.Intersect(found)
	}
	return all
}

var errRollDiffers = errors.New("the roll of a department is not what the database has")

const fetchSQL = `
	SELECT ` + columns + `
	  FROM json_each(?2) AS wanted CROSS JOIN firefighters ON row = wanted.value
	 WHERE tenant_id = ?1 AND deleted_at IS NULL`

// fetch reads the records of these rows.
func fetch(c *conn, tenant tenantID, rows []int64) ([]record.Firefighter, error) {
	wanted, err := json.Marshal(rows)
	if err != nil {
		return nil, err
	}
	items, found := make([]record.Firefighter, len(rows)), 0
	scan := scan{tenant: tenant}
	err = c.query(fetchSQL, values{int64(tenant), string(wanted)}, func(row values) {
		f := scan.record(row)
		if i := slices.Index(rows, scan.row); i >= 0 {
			items[i] = f
			found++
		}
	})
	if err = cmp.Or(err, scan.damaged); err == nil && found < len(rows) {
		err = errRollDiffers
	}
	return items, err
}
