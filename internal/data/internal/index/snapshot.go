package index

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/firefighter-records/firefighters/internal/people/record"
)

// snapshot holds the records of one version of a tenant. A position is an index into its slices.
// Only orders changes after the build: an order is computed on first use.
type snapshot struct {
	version    int64
	lastChange int64   // number of the last change in the history
	numbers    []int64 // row numbers, ascending, which is the order of creation
	texts      lines   // SearchText
	expanded   lines   // Expanded
	digits     lines   // phone_digits
	born       []int64 // born_at or unborn
	updated    []int64 // updated_at
	months     []uint8 // BirthMonth
	emails     lines   // Email

	mu     sync.Mutex
	orders map[record.SortField]order // computed so far
}

// unborn is the BornAt of a record without a date of birth.
const unborn = math.MinInt64

// newSnapshot builds the snapshot of a tenant. It returns nil if the tenant exceeds maxBytes.
func newSnapshot(now State, source Source) (*snapshot, error) {
	s := &snapshot{version: now.Version, orders: map[record.SortField]order{}}
	s.grow(int(now.Count))
	last, err := source.Rows(func(row Row) {
		if s.size() <= maxBytes {
			s.add(row)
		}
	})
	s.lastChange = last
	if err != nil || s.size() > maxBytes {
		return nil, err
	}
	return s, nil
}

// next returns the snapshot of a later version. A nil row in changed is a deleted record.
func (s *snapshot) next(version, lastChange int64, changed map[int64]*Row) *snapshot {
	n := &snapshot{version: version, lastChange: lastChange, orders: map[record.SortField]order{}}
	n.grow(len(s.numbers) + len(changed))
	moved, added := n.merge(s, changed)
	if len(added) > len(s.numbers)/16 {
		return n // sorting again is faster
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for field, o := range s.orders {
		n.orders[field] = n.reorder(field, o, moved, added)
	}
	return n
}

// merge adds the unchanged rows of an older snapshot and the changed rows. It returns the new
// position of each old row, -1 for none, and the positions of the changed rows.
func (s *snapshot) merge(old *snapshot, changed map[int64]*Row) (moved, added []int32) {
	numbers := slices.Sorted(maps.Keys(changed))
	addUntil := func(number int64) {
		for ; len(numbers) > 0 && numbers[0] <= number; numbers = numbers[1:] {
			if row := changed[numbers[0]]; row != nil {
				added = append(added, int32(len(s.numbers)))
				s.add(*row)
			}
		}
	}
	moved = make([]int32, len(old.numbers))
	for i, number := range old.numbers {
		addUntil(number)
		if _, ok := changed[number]; ok {
			moved[i] = -1
			continue
		}
		moved[i] = int32(len(s.numbers))
		s.add(old.row(i))
	}
	addUntil(math.MaxInt64)
	return moved, added
}

func (s *snapshot) row(position int) Row {
	born := s.born[position]
	return Row{s.numbers[position], s.texts.at(position), s.expanded.at(position), s.digits.at(position), born, born != unborn,
		s.updated[position], s.months[position], s.emails.at(position)}
}

// grow reserves space for records of typical length. This reduces the allocations of a build from
// 8.9 MB to 2.6 MB for 17,000 records.
func (s *snapshot) grow(records int) {
	const text, digits = 64, 10 // bytes
	s.numbers, s.born, s.updated = make([]int64, 0, records), make([]int64, 0, records), make([]int64, 0, records)
	s.months = make([]uint8, 0, records)
	s.texts.grow(records, text*records)
	s.expanded.grow(records, 0)
	s.digits.grow(records, digits*records)
	s.emails.grow(records, 0)
}

func (s *snapshot) add(row Row) {
	s.numbers = append(s.numbers, row.Number)
	s.texts.add(row.SearchText)
	s.expanded.add(row.Expanded)
	s.digits.add(row.PhoneDigits)
	born := row.BornAt
	if !row.HasBirth {
		born = unborn
	}
	s.born, s.updated = append(s.born, born), append(s.updated, row.UpdatedAt)
	s.months = append(s.months, row.BirthMonth)
	s.emails.add(row.Email)
}

// size returns the number of bytes that the snapshot uses with all its orders.
func (s *snapshot) size() int {
	if s == nil {
		return 0
	}
	return s.texts.size() + s.expanded.size() + s.digits.size() + s.emails.size() + cap(s.months) +
		8*cap(s.numbers) + 8*cap(s.born) + 8*cap(s.updated) + 4*(len(record.SortFields)-1)*len(s.numbers)
}

func (s *snapshot) page(q record.Query) Page {
	p := s.rows(q, 0, q.Offset())
	if q.HasLetters(p.Total) {
		p.Letters = s.letters(s.order(q.SortBy), q.Descending)
	}
	return p
}

func (s *snapshot) pageAfter(at Place, q record.Query) Page {
	o := s.order(q.SortBy)
	return s.rows(q, sort.Search(len(s.numbers), func(i int) bool { return s.isAfter(o.at(i, q.Descending), at, q) }), 0)
}

// rows returns the page that starts at an index of the list of all records, after skip records that
// match the query.
func (s *snapshot) rows(q record.Query, index int, skip int64) Page {
	found, p := set(nil), Page{Total: int64(len(s.numbers))}
	if q.IsWhole() {
		index, skip = int(min(int64(index)+skip, p.Total)), 0
	} else {
		found = s.find(q)
		p.Total = found.count()
	}
	o, matches := s.order(q.SortBy), int64(0)
	for ; index < len(s.numbers) && matches < p.Total && !p.More; index++ {
		position := o.at(index, q.Descending)
		if found != nil && !found.has(position) {
			continue
		}
		switch matches++; {
		case matches <= skip:
		case int64(len(p.Rows)) == q.PageSize:
			p.More = true
		default:
			p.Rows = append(p.Rows, s.numbers[position])
		}
	}
	return p
}

// letters returns the letters of the list by last name. It finds the end of each letter by binary
// search.
func (s *snapshot) letters(o order, descending bool) (all []Letter) {
	letter := func(i int) string {
		_, last, _ := strings.Cut(s.texts.at(o.at(i, descending)), "\n")
		_, size := utf8.DecodeRuneInString(last)
		return strings.TrimSuffix(last[:size], "\n") // empty for a name of combining marks only
	}
	for i := 0; i < len(s.numbers); {
		first := letter(i)
		all = append(all, Letter{first, int64(i)})
		i += sort.Search(len(s.numbers)-i, func(n int) bool { return letter(i+n) != first })
	}
	return all
}

// search returns the positions of the records that contain every term or match the number. Only the
// longest term, which is usually the rarest, is searched for in all records.
func (s *snapshot) search(q record.Query) set {
	longest := slices.MaxFunc(q.Terms, func(a, b record.Term) int { return cmp.Compare(len(a.Text), len(b.Text)) })
	found := newSet(len(s.numbers))
	s.texts.find(longest.Text, found)
	if longest.Expanded != "" {
		if longest.Expanded != longest.Text {
			s.texts.find(longest.Expanded, found)
		}
		s.expanded.find(longest.Expanded, found)
	}
	s.findNumber(longest.Number, found)
	for _, t := range q.Terms {
		if t != longest {
			found.filter(func(position int) bool { return s.has(position, t) })
		}
	}
	s.findNumber(q.Number, found)
	return found
}

func (s *snapshot) findNumber(n record.Number, found set) {
	if n.Digits != "" {
		s.digits.find(n.Digits, found)
	}
	if n.Rest == "" {
		return
	}
	forms := newSet(len(s.numbers))
	s.digits.find(n.Rest, forms)
	forms.filter(func(position int) bool { return n.IsForm(s.digits.at(position)) })
	found.add(forms)
}

func (s *snapshot) has(position int, t record.Term) bool {
	text := s.texts.at(position)
	return strings.Contains(text, t.Text) || t.Number.In(s.digits.at(position)) ||
		t.Expanded != "" && (strings.Contains(text, t.Expanded) || strings.Contains(s.expanded.at(position), t.Expanded))
}
