package imports

import (
	"cmp"
	"context"
	"slices"

	"github.com/firefighter-records/firefighters/internal/people/alike"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

type matchRow struct {
	alike.Identity
	id     string // record id; empty: none
	badID  bool   // the id cell has an invalid id
	number int    // row number in the file

	readings []alike.Identity // of an unclear name, in addition to Identity

	same string // id of the person chosen for the row; empty: none
	add  bool   // the row was confirmed as a new person
}

type member struct {
	alike.Identity
	id     string
	fields record.Fields
}

// verdict is the result of matching a row.
type verdict struct {
	person   int    // index of the member; -1: none
	fault    string // error code of a refused row: record.Unknown, Ambiguous, record.Duplicate or Exists; otherwise empty
	people   []int  // for a refused row: possible members; rows may share the list
	others   []int  // for a refused row: numbers of other rows that match or could match the same person
	isNew    bool   // no existing person matches
	namesake bool   // the row is new, but an existing person or another new row has its name
	like     []int  // for such a row: members who may be the same person
	decided  bool   // a person decided which person the row is
}

// few is the maximum number of people and rows listed in a verdict.
const few = 5

// mostNamesakes is the largest number of people or rows with one name that are compared one by one.
// Rows with a more common name are refused, unless they have an id.
const mostNamesakes = 1000

// namesakes are the members and rows with one key of a name, in order.
type namesakes struct{ people, rows []int }

// matcher matches the rows of a file with the members of a department.
type matcher struct {
	rows     []matchRow
	members  []member
	byID     map[string]int
	byName   map[string]*namesakes // by the key of an identity; of the names of rows only
	verdicts []verdict
}

// match returns a verdict for each row. members must include all people with the id or name of a
// row. The error is the error of ctx.
func match(ctx context.Context, rows []matchRow, members []member) ([]verdict, error) {
	m := &matcher{rows, members, map[string]int{}, map[string]*namesakes{}, make([]verdict, len(rows))}
	for i := range rows {
		if rows[i].HasName() {
			n := m.named(&rows[i].Identity)
			n.rows = append(n.rows, i)
		}
		for j := range rows[i].readings {
			m.named(&rows[i].readings[j])
		}
	}
	for i := range members {
		m.byID[members[i].id] = i
		if n := m.byName[members[i].Key()]; n != nil {
			n.people = append(n.people, i)
		}
	}
	for i := range rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m.verdicts[i] = m.findReading(&rows[i])
	}
	m.dropMatched()
	for i := range rows {
		m.decide(&rows[i], &m.verdicts[i])
	}
	m.refuseOnePerson()
	for _, n := range m.byName {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m.refuseRepeated(n.rows)
	}
	return m.verdicts, nil
}

// named returns the people and rows with the name of a row.
func (m *matcher) named(who *alike.Identity) *namesakes {
	key := who.Key()
	if m.byName[key] == nil {
		m.byName[key] = &namesakes{}
	}
	return m.byName[key]
}

// findReading matches a row in the reading of its name that an existing person has.
func (m *matcher) findReading(row *matchRow) verdict {
	v := m.find(row)
	for _, reading := range row.readings {
		if other := *row; v.isNew && !v.namesake {
			other.Identity = reading
			if w := m.find(&other); w.person >= 0 {
				row.Identity = reading
				return w
			}
		}
	}
	return v
}

// find matches a row by the rules, without regard to other rows and decisions.
func (m *matcher) find(row *matchRow) verdict {
	switch p, known := m.byID[row.id]; {
	case row.badID, row.id != "" && !known:
		return verdict{person: -1, fault: record.Unknown}
	case row.id != "":
		return verdict{person: p}
	case !row.HasName():
		return verdict{person: -1, isNew: true}
	}
	n := m.named(&row.Identity)
	if len(n.people) > mostNamesakes {
		return verdict{person: -1, fault: Ambiguous, people: n.people}
	}
	var named, exactly []int
	for _, i := range n.people {
		if row.Named(&m.members[i].Identity) {
			named = append(named, i)
		}
		if row.NamedExactly(&m.members[i].Identity) {
			exactly = append(exactly, i)
		}
	}
	switch certain := m.certain(row, named); {
	case len(certain) == 1:
		return verdict{person: certain[0]}
	case len(certain) > 1:
		return n.ambiguous(certain)
	case len(exactly) > 0:
		return m.findByName(row, n, exactly, (*alike.Identity).NamedExactly)
	}
	return m.findByName(row, n, named, (*alike.Identity).Named)
}

// certain returns the people with the name of a row who have another value in common with it and no
// other date of birth. It leaves out a person if another one has the same values in common and more.
// Of several, it prefers people with exactly the name of the row.
func (m *matcher) certain(row *matchRow, named []int) (certain []int) {
	found := [1 + (alike.Email | alike.Phone | alike.Birth)]bool{} // the values that some person has in common
	for _, i := range named {
		if common, differing := row.Compare(&m.members[i].Identity); common != 0 && differing&alike.Birth == 0 {
			certain, found[common] = append(certain, i), true
		}
	}
	if len(certain) < 2 {
		return certain
	}
	certain = slices.DeleteFunc(certain, func(i int) bool {
		fewer, _ := row.Compare(&m.members[i].Identity)
		for common, ok := range found {
			if more := alike.Values(common); ok && more != fewer && more&fewer == fewer {
				return true
			}
		}
		return false
	})
	if exactly := slices.DeleteFunc(slices.Clone(certain), func(i int) bool {
		return !row.NamedExactly(&m.members[i].Identity)
	}); len(exactly) > 0 {
		return exactly
	}
	return certain
}

// findByName matches a row with people who have the same name, as equal compares it, if none of them
// is certain:
//
//   - With nothing to compare, the row is the person if no other person or row has the name.
//   - With nothing in common and another email address or phone number, or something in common but
//     another date of birth, the person is a possible duplicate.
//   - With nothing in common and another date of birth, they are two people.
func (m *matcher) findByName(row *matchRow, n *namesakes, named []int, equal func(a, b *alike.Identity) bool) verdict {
	var fitting, like []int
	for _, i := range named {
		switch common, differing := row.Compare(&m.members[i].Identity); {
		case differing == 0:
			fitting = append(fitting, i)
		case common != 0 || differing&alike.Birth == 0:
			like = append(like, i)
		}
	}
	if len(fitting) == 0 {
		return verdict{person: -1, isNew: true, namesake: len(named) > 0, like: like[:min(len(like), few)]}
	}
	if len(fitting) > 1 {
		return n.ambiguous(fitting)
	}
	var rows []int
	for _, i := range n.rows[:min(len(n.rows), mostNamesakes)] {
		if equal(&row.Identity, &m.rows[i].Identity) {
			rows = append(rows, i)
		}
	}
	switch {
	case len(rows) > 1:
		v := verdict{person: -1, fault: record.Duplicate, people: fitting}
		m.addOthers(&v, row.number, rows)
		return v
	case len(named) > 1:
		return n.ambiguous(fitting)
	}
	return verdict{person: fitting[0]}
}

// ambiguous refuses a row that could be one of some people, or another one with their name. A long
// list is shared.
func (n *namesakes) ambiguous(people []int) verdict {
	if len(people) > few {
		people = n.people
	}
	return verdict{person: -1, fault: Ambiguous, people: people}
}

// dropMatched removes possible duplicates that another row matches.
func (m *matcher) dropMatched() {
	matched := make([]bool, len(m.members))
	for _, v := range m.verdicts {
		if v.person >= 0 {
			matched[v.person] = true
		}
	}
	for i := range m.verdicts {
		v := &m.verdicts[i]
		v.like = slices.DeleteFunc(v.like, func(p int) bool { return matched[p] })
	}
}

// decide applies the decision about a row unless the rules contradict it.
func (m *matcher) decide(row *matchRow, v *verdict) {
	p, known := m.byID[row.same]
	switch {
	case row.same != "" && !known:
		*v = verdict{person: -1, fault: record.Unknown}
	case row.same != "" && v.person >= 0 && v.person != p:
		*v = verdict{person: -1, fault: Ambiguous, people: []int{v.person, p}}
	case row.same != "":
		*v = verdict{person: p, decided: true}
	case row.add && v.person >= 0:
		*v = verdict{person: -1, fault: Exists, people: []int{v.person}}
	case row.add:
		*v = verdict{person: -1, isNew: true, decided: true}
	}
}

// addOthers adds row numbers to a verdict. It examines only the first rows, because all rows may
// have the same number in a file of several lists.
func (m *matcher) addOthers(v *verdict, self int, rows []int) {
	for _, i := range rows[:min(len(rows), 4*few)] {
		if len(v.others) == few {
			return
		}
		if n := m.rows[i].number; n != self && !slices.Contains(v.others, n) {
			v.others = append(v.others, n)
		}
	}
}

// refuse refuses rows that match the same person. It skips decided rows unless decided is set.
func (m *matcher) refuse(rows []int, decided bool) {
	for _, i := range rows {
		v := &m.verdicts[i]
		if v.decided && !decided {
			continue
		}
		v.fault = cmp.Or(v.fault, record.Duplicate)
		m.addOthers(v, m.rows[i].number, rows)
	}
}

// refuseOnePerson refuses rows that match the same member.
func (m *matcher) refuseOnePerson() {
	rows := map[int][]int{}
	for i, v := range m.verdicts {
		if v.person >= 0 {
			rows[v.person] = append(rows[v.person], i)
		}
	}
	for _, same := range rows {
		if len(same) > 1 {
			m.refuse(same, true)
		}
	}
}

// refuseRepeated refuses undecided rows, with one key of a name, that could be the same new person. It
// marks those that are different people with one name.
func (m *matcher) refuseRepeated(rows []int) {
	if len(rows) > mostNamesakes {
		m.refuse(slices.DeleteFunc(slices.Clone(rows), func(i int) bool { return !m.verdicts[i].isNew }), false)
		return
	}
	for at, i := range rows {
		for _, j := range rows[:at] {
			switch a, b := &m.verdicts[i], &m.verdicts[j]; {
			case m.repeats(i, j):
				m.refuse([]int{i, j}, false)
			case a.isNew && b.isNew && !a.decided && !b.decided && m.rows[i].Named(&m.rows[j].Identity):
				a.namesake, b.namesake = true, true
			}
		}
	}
}

// repeats reports whether two rows, at least one of them new, are the same person, or could both be the
// same new person. Different phone numbers do not tell two rows apart.
func (m *matcher) repeats(i, j int) bool {
	a, b := &m.verdicts[i], &m.verdicts[j]
	if a.person >= 0 && b.person >= 0 || a.fault == record.Unknown || b.fault == record.Unknown || !m.rows[i].Named(&m.rows[j].Identity) {
		return false
	}
	common, differing := m.rows[i].Compare(&m.rows[j].Identity)
	switch bothNew := a.isNew && b.isNew; {
	case differing&alike.Birth != 0:
		return bothNew && common&alike.Email != 0
	case common != 0:
		return true
	default:
		return bothNew && differing&alike.Email == 0
	}
}
