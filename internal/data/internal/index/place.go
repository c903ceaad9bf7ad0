package index

import (
	"cmp"
	"sort"

	"github.com/firefighter-records/firefighters/internal/people/record"
)

// Place is the place in a list of a record that is or was sorted by a key.
type Place struct {
	Key
	Row int64 // row number
}

func (s *snapshot) pageBehind(at Place, q record.Query) Page {
	o := s.order(q.SortBy)
	return s.rows(q, sort.Search(len(s.numbers), func(i int) bool { return s.isBehind(o.at(i, q.Descending), at, q) }), 0)
}

// isBehind reports whether the record at a position follows a place in the list.
func (s *snapshot) isBehind(position int, at Place, q record.Query) bool {
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
