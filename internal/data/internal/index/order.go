package index

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// order lists all positions ascending. Those of records without a value are
// last.
type order struct {
	positions []int32 // nil if each position is its own index
	valued    int     // number of records that have a value
}

// at returns the position at an index of the list. Records without a value are
// last in both directions, but have the direction among themselves.
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

// sortKey is what a record is sorted by. The members that a sort field does not
// use are zero.
type sortKey struct {
	none          bool // no value
	first, second string
	number        int64
}

func (k sortKey) compare(other sortKey) int {
	switch {
	case k.none && !other.none:
		return 1
	case other.none && !k.none:
		return -1
	}
	return cmp.Or(strings.Compare(k.first, other.first), strings.Compare(k.second, other.second), cmp.Compare(k.number, other.number))
}

// order returns the order by a field. It is made once.
func (s *snapshot) order(field record.SortField) order {
	if field == record.ByCreatedAt { // as the positions are
		return order{valued: len(s.numbers)}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o, made := s.orders[field]
	if !made {
		o = s.sort(field)
		s.orders[field] = o
	}
	return o
}

// sort returns the order by a field. Records with equal keys are in the order of
// their positions.
func (s *snapshot) sort(field record.SortField) order {
	keys, positions := make([]sortKey, len(s.numbers)), make([]int32, len(s.numbers))
	for i := range s.numbers {
		keys[i], positions[i] = s.key(field, i), int32(i)
	}
	slices.SortFunc(positions, func(a, b int32) int { return cmp.Or(keys[a].compare(keys[b]), cmp.Compare(a, b)) })
	return s.newOrder(positions, field)
}

// reorder returns the order that an older snapshot had, with the positions as
// they have moved and with those added.
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
	valued := sort.Search(len(positions), func(i int) bool { return s.key(field, int(positions[i])).none })
	return order{positions, valued}
}

// key returns what a field sorts the record at a position by.
func (s *snapshot) key(field record.SortField, position int) sortKey {
	switch field {
	case record.ByDateOfBirth:
		born := s.born[position]
		return sortKey{none: born == unborn, number: born}
	case record.ByUpdatedAt:
		return sortKey{number: s.updated[position]}
	}
	first, rest, _ := strings.Cut(s.texts.at(position), "\n")
	last, rest, _ := strings.Cut(rest, "\n")
	email, phone, _ := strings.Cut(rest, "\n")
	switch field {
	case record.ByFirstName:
		return sortKey{first: first, second: last}
	case record.ByLastName:
		return sortKey{first: last, second: first}
	case record.ByEmail:
		return sortKey{none: email == "", first: email} // if there is one, it has an @
	case record.ByPhoneNumber:
		return sortKey{none: phone == "", first: fold.String(phone)}
	}
	panic("index: no key to sort by")
}
