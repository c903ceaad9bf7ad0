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

// keyFuncs return the key of the record at a position, for each sort field but
// the time of creation: the positions are in its order already.
var keyFuncs = map[record.SortField]func(s *snapshot, position int) sortKey{
	record.ByFirstName:   firstNameKey,
	record.ByLastName:    lastNameKey,
	record.ByEmail:       emailKey,
	record.ByPhoneNumber: phoneNumberKey,
	record.ByDateOfBirth: dateOfBirthKey,
}

// order returns the order by a field. It is made once.
func (s *snapshot) order(field record.SortField) order {
	keyOf := keyFuncs[field]
	if keyOf == nil { // by creation
		return order{valued: len(s.numbers)}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o, made := s.orders[field]
	if !made {
		o = s.sort(keyOf)
		s.orders[field] = o
	}
	return o
}

// sort returns the order by a key. Records with equal keys are in the order of
// their positions.
func (s *snapshot) sort(keyOf func(*snapshot, int) sortKey) order {
	keys, positions := make([]sortKey, len(s.numbers)), make([]int32, len(s.numbers))
	for i := range s.numbers {
		keys[i], positions[i] = keyOf(s, i), int32(i)
	}
	slices.SortFunc(positions, func(a, b int32) int { return cmp.Or(keys[a].compare(keys[b]), cmp.Compare(a, b)) })
	return s.newOrder(positions, keyOf)
}

// reorder returns the order that an older snapshot had, with the positions as
// they have moved and with those added.
func (s *snapshot) reorder(field record.SortField, old order, moved, added []int32) order {
	keyOf := keyFuncs[field]
	positions := make([]int32, 0, len(s.numbers))
	for _, position := range old.positions {
		if moved[position] >= 0 {
			positions = append(positions, moved[position])
		}
	}
	compare := func(a, b int32) int {
		return cmp.Or(keyOf(s, int(a)).compare(keyOf(s, int(b))), cmp.Compare(a, b))
	}
	for _, position := range added {
		i, _ := slices.BinarySearchFunc(positions, position, compare)
		positions = slices.Insert(positions, i, position)
	}
	return s.newOrder(positions, keyOf)
}

func (s *snapshot) newOrder(positions []int32, keyOf func(*snapshot, int) sortKey) order {
	valued := sort.Search(len(positions), func(i int) bool { return keyOf(s, int(positions[i])).none })
	return order{positions, valued}
}

// fields returns the lines of search_text: folded, but for the phone number.
func (s *snapshot) fields(position int) (first, last, email, phone string) {
	first, rest, _ := strings.Cut(s.texts.at(position), "\n")
	last, rest, _ = strings.Cut(rest, "\n")
	email, phone, _ = strings.Cut(rest, "\n")
	return first, last, email, phone
}

func firstNameKey(s *snapshot, position int) sortKey {
	first, last, _, _ := s.fields(position)
	return sortKey{first: first, second: last}
}

func lastNameKey(s *snapshot, position int) sortKey {
	first, last, _, _ := s.fields(position)
	return sortKey{first: last, second: first}
}

func emailKey(s *snapshot, position int) sortKey {
	_, _, email, _ := s.fields(position) // if there is one, it has an @
	return sortKey{none: email == "", first: email}
}

func phoneNumberKey(s *snapshot, position int) sortKey {
	_, _, _, phone := s.fields(position)
	return sortKey{none: phone == "", first: fold.String(phone)}
}

func dateOfBirthKey(s *snapshot, position int) sortKey {
	born := s.born[position]
	return sortKey{none: born == unborn, number: born}
}
