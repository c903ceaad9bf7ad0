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

func (s *snapshot) pageBehind(at Place, q record.Query) (p Page) {
	o := s.order(q.SortBy)
	found, all := set(nil), q.IsWhole()
	if p.Total = int64(len(s.numbers)); !all {
		found = s.find(q)
		p.Total = found.count()
	}
	i := sort.Search(len(s.numbers), func(i int) bool { return s.isBehind(o.at(i, q.Descending), at, q) })
	for ; i < len(s.numbers) && !p.More; i++ {
		switch position := o.at(i, q.Descending); {
		case !all && !found.has(position):
		case int64(len(p.Rows)) == q.PageSize:
			p.More = true
		default:
			p.Rows = append(p.Rows, s.numbers[position])
		}
	}
	return p
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
