package index

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// order lists all positions in ascending order of a key. Records without a value are last.
type order struct {
	positions []int32 // nil if positions and indexes are equal
	valued    int     // number of records that have a value
}

// at returns the position at an index of the list. Records without a value are last in both
// directions, but descending reverses the order among them.
func (o order) at(i int, descending bool) int {
	switch {
	case descending && i < o.valued:
		i = o.valued - 1 - i
	case descending:
		i = len(o.positions) - 1 - (i - o.valued)
	}
	if o.positions == nil {
		return i
	}
	return int(o.positions[i])
}

// Key is the sort key of a record. Members that a sort field does not use are zero.
type Key struct {
	None          bool // no value
	First, Second string
	Number        int64
}

func (k Key) compare(other Key) int {
	switch {
	case k.None && other.None:
		return 0
	case k.None:
		return 1
	case other.None:
		return -1
	}
	return cmp.Or(strings.Compare(k.First, other.First), strings.Compare(k.Second, other.Second), cmp.Compare(k.Number, other.Number))
}

// Place is a place in a list: the sort key and row number that a record has or had.
type Place struct {
	Key
	Row int64 // row number
}

func (s *snapshot) isAfter(position int, at Place, q record.Query) bool {
	key := Key{}
	if q.SortBy != record.ByCreatedAt {
		key = s.key(q.SortBy, position)
	}
	if key.None != at.None {
		return key.None
	}
	by := cmp.Or(key.compare(at.Key), cmp.Compare(s.numbers[position], at.Row))
	return by > 0 != q.Descending && by != 0
}

// order returns the order by a field, which it computes once.
func (s *snapshot) order(field record.SortField) order {
	if field == record.ByCreatedAt { // the order of positions
		return order{valued: len(s.numbers)}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.orders[field]
	if !ok {
		o = s.sort(field)
		s.orders[field] = o
	}
	return o
}

// sort computes the order by a field. Records with equal keys keep the order of their positions.
func (s *snapshot) sort(field record.SortField) order {
	keys, positions := make([]Key, len(s.numbers)), make([]int32, len(s.numbers))
	for i := range s.numbers {
		keys[i], positions[i] = s.key(field, i), int32(i)
	}
	slices.SortFunc(positions, func(a, b int32) int { return cmp.Or(keys[a].compare(keys[b]), cmp.Compare(a, b)) })
	return s.newOrder(positions, field)
}

// reorder updates the order of an older snapshot for the positions that have moved or were added.
func (s *snapshot) reorder(field record.SortField, old order, moved, added []int32) order {
	positions := make([]int32, 0, len(s.numbers))
	for _, position := range old.positions {
		if moved[position] >= 0 {
			positions = append(positions, moved[position])
		}
	}
	compare := func(a, b int32) int {
		return cmp.Or(s.key(field, int(a)).compare(s.key(field, int(b))), cmp.Compare(a, b))
	}
	for _, position := range added {
		i, _ := slices.BinarySearchFunc(positions, position, compare)
		positions = slices.Insert(positions, i, position)
	}
	return s.newOrder(positions, field)
}

func (s *snapshot) newOrder(positions []int32, field record.SortField) order {
	valued := sort.Search(len(positions), func(i int) bool { return s.key(field, int(positions[i])).None })
	return order{positions, valued}
}

func (s *snapshot) key(field record.SortField, position int) Key {
	switch field {
	case record.ByDateOfBirth:
		born := s.born[position]
		return Key{None: born == unborn, Number: born}
	case record.ByUpdatedAt:
		return Key{Number: s.updated[position]}
	}
	first, rest, _ := strings.Cut(s.texts.at(position), "\n")
	last, rest, _ := strings.Cut(rest, "\n")
	email, phone, _ := strings.Cut(rest, "\n")
	switch field {
	case record.ByFirstName:
		return Key{First: first, Second: last}
	case record.ByLastName:
		return Key{First: last, Second: first}
	case record.ByEmail:
		return Key{None: email == "", First: email} // an email address never folds to nothing: it contains an @
	case record.ByPhoneNumber:
		return Key{None: phone == "", First: fold.String(phone)}
	}
	panic("index: no key to sort by")
}
