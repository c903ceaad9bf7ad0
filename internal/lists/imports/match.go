package imports

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/firefighter-records/firefighters/internal/people/alike"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// identity is what somebody is recognised by. An empty text is no value.
type identity struct{ name, email, birth string }

// identify returns the identity of a record with a name, as foldName has it. The
// e-mail address is folded, and a date of birth is the day of the calendar, without
// the time and the offset. Without a name nobody is recognised.
func identify(name string, f *record.Fields) identity {
	if name == "" {
		return identity{}
	}
	birth, _, _ := strings.Cut(f.DateOfBirth, "T")
	return identity{name, alike.Folded(f.Email), birth}
}

// foldName returns the folded name of somebody, empty if the first or the last name is
// missing. Names are compared as a whole: a middle name in the column of the last name, or
// of the first, makes nobody another person.
func foldName(f *record.Fields) string {
	if f.FirstName == "" || f.LastName == "" {
		return ""
	}
	return alike.Folded(f.FirstName + " " + f.LastName)
}

// none stands in a key for "has no value". Nobody has it as a value.
const none = "-"

// named returns the key of those with the same name.
func (who identity) named() identity { return identity{name: who.name} }

// sure returns the keys of those with the same name and e-mail address, and of those
// with the same name and date of birth.
func (who identity) sure() []identity {
	keys := make([]identity, 0, 2) // a file has many rows: each list is allocated once
	if who.email != "" {
		keys = append(keys, identity{name: who.name, email: who.email})
	}
	if who.birth != "" {
		keys = append(keys, identity{name: who.name, birth: who.birth})
	}
	return keys
}

// lookupKey returns the key under which indexKeys has put the people with the same name
// who may be the same person: those without an e-mail address, if who has one, and
// without a date of birth, if who has one. It is for somebody whom the keys of sure do
// not find. The row "Ana Kos, ana@x.org" is looked up as {ana kos, none, ""}, and so finds
// each Ana Kos without an e-mail address, whatever her date of birth.
func (who identity) lookupKey() identity {
	key := who.named()
	if who.email != "" {
		key.email = none
	}
	if who.birth != "" {
		key.birth = none
	}
	return key
}

// indexKeys returns the keys that somebody is in an index by: named, and each that the
// lookupKey of another may be. "Ana Kos, born 1990-05-15" is in it by {ana kos, "", ""} and
// by {ana kos, none, ""}.
func (who identity) indexKeys() []identity {
	keys := []identity{who.named()}
	if who.email == "" {
		keys = append(keys, identity{who.name, none, ""})
	}
	if who.birth == "" {
		keys = append(keys, identity{who.name, "", none})
	}
	if who.email == "" && who.birth == "" {
		keys = append(keys, identity{who.name, none, none})
	}
	return keys
}

// index finds people or rows by keys. It has them as numbers, those added first at the
// front. A file may have 100,000 rows, so each index has only the keys that somebody looks
// up in that index.
type index map[identity][]int

// add adds somebody. Without a name nobody is found.
func (x index) add(n int, keys ...identity) {
	for _, key := range keys {
		if key.name != "" {
			x[key] = append(x[key], n)
		}
	}
}

// lists returns those of each key.
func (x index) lists(keys []identity) [][]int {
	lists := make([][]int, 0, len(keys))
	for _, key := range keys {
		lists = append(lists, x[key])
	}
	return lists
}

// sought is a row of the file as matching sees it.
type sought struct {
	identity
	id     string // of a record of ours; empty: none
	badID  bool   // the cell of the id has a text that is no id of ours
	number int    // of the row in the file

	same string // the id of the person who it is, as somebody has said; empty: nobody has
	add  bool   // somebody has said that it is nobody who is there
}

// member is somebody of the department.
type member struct {
	identity
	id     string
	fields record.Fields
}

// verdict says whom a row means.
type verdict struct {
	person int     // position of the member; -1: nobody who is there
	fault  string  // why the row is refused: record.Unknown, Ambiguous, record.Duplicate or Exists; empty: the row is not refused
	people [][]int // of a refused row: positions of the members whom the row could mean; rows share the lists
	others []int   // of a refused row: numbers of other rows that mean the same person, or could
	fresh  bool    // nobody of the department is meant
	said   bool    // somebody has said who it is
}

// few is the number of people and of rows that a verdict names.
const few = 5

// matcher matches the rows of a file with a department.
type matcher struct {
	rows     []sought
	people   index
	byID     map[string]int
	allRows  index
	verdicts []verdict
}

// match returns the verdict for each row. members are those of the department who
// have the id or the name of a row; others do not count. The error is that of ctx.
func match(ctx context.Context, rows []sought, members []member) ([]verdict, error) {
	m := &matcher{rows: rows, people: index{}, byID: map[string]int{}, allRows: index{}, verdicts: make([]verdict, len(rows))}
	for i, p := range members {
		m.people.add(i, p.sure()...)
		m.people.add(i, p.indexKeys()...)
		m.byID[p.id] = i
	}
	for i, row := range rows {
		m.allRows.add(i, row.named())
	}
	for i := range rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m.verdicts[i] = m.find(rows[i])
	}
	m.people, m.byID = nil, nil // they need memory
	m.refuseOnePerson()
	m.refuseSameIdentity()
	m.refuseNewTwice()
	return m.verdicts, ctx.Err()
}

// find returns whom a row means, without a look at what the other rows mean. What
// somebody has said decides where the rules do not.
func (m *matcher) find(row sought) verdict {
	v := m.findByRules(row)
	switch {
	case row.same != "":
		p, known := m.byID[row.same]
		if !known {
			return verdict{person: -1, fault: record.Unknown}
		}
		if v.person >= 0 && v.person != p {
			return verdict{person: -1, fault: Ambiguous, people: [][]int{{v.person}, {p}}}
		}
		return verdict{person: p, said: true}
	case row.add && v.person >= 0:
		return verdict{person: -1, fault: Exists, people: [][]int{{v.person}}}
	case row.add:
		return verdict{person: -1, fresh: true, said: true}
	}
	return v
}

func (m *matcher) findByRules(row sought) verdict {
	if row.id != "" || row.badID {
		if p, known := m.byID[row.id]; known && !row.badID {
			return verdict{person: p}
		}
		return verdict{person: -1, fault: record.Unknown}
	}
	sure := m.people.lists(row.sure())
	switch certain := firstOf(sure, 2); len(certain) {
	case 0:
		return m.findByName(row)
	case 1:
		return verdict{person: certain[0]}
	}
	return verdict{person: -1, fault: Ambiguous, people: sure}
}

// firstOf returns the first n different numbers of some lists.
func firstOf(lists [][]int, n int) (first []int) {
	for _, list := range lists {
		for _, i := range list {
			if len(first) == n {
				return first
			}
			if !slices.Contains(first, i) {
				first = append(first, i)
			}
		}
	}
	return first
}

// findByName returns whom a row means by its name alone. The row is refused where
// it could be somebody who is there, and the name does not tell.
func (m *matcher) findByName(row sought) verdict {
	fitting, rows := m.people[row.lookupKey()], m.allRows[row.named()]
	switch {
	case len(fitting) == 0:
		return verdict{person: -1, fresh: true}
	case len(m.people[row.named()]) == 1 && len(rows) == 1:
		return verdict{person: fitting[0]}
	case len(fitting) == 1 && len(rows) > 1:
		v := verdict{person: -1, fault: record.Duplicate, people: [][]int{fitting}}
		m.addOthers(&v, row.number, rows)
		return v
	}
	return verdict{person: -1, fault: Ambiguous, people: [][]int{fitting}}
}

// addOthers adds the rows of a list to those that a verdict names. It looks at the
// first only: in a file of several lists all rows may have the same number.
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

// refuse refuses rows that mean one person, those of which somebody has said who they
// are only if said is set.
func (m *matcher) refuse(rows []int, said bool) {
	for _, i := range rows {
		v := &m.verdicts[i]
		if v.said && !said {
			continue
		}
		v.fault = cmp.Or(v.fault, record.Duplicate)
		m.addOthers(v, m.rows[i].number, rows)
	}
}

// hasNamesake reports whether another row has the name of a row. Most rows have none, and
// no index needs them that has rows by their names and more.
func (m *matcher) hasNamesake(row sought) bool { return len(m.allRows[row.named()]) > 1 }

// refuseOnePerson refuses the rows that mean one person of the department.
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

// refuseSameIdentity refuses the rows that have one name and e-mail address, or
// one name and date of birth. Two rows are not refused that mean two people of
// the department, nor is one whose id is not known, nor one of which somebody has said
// who it is.
func (m *matcher) refuseSameIdentity() {
	rows := index{}
	for i, row := range m.rows {
		if m.verdicts[i].fault != record.Unknown && m.hasNamesake(row) {
			rows.add(i, row.sure()...)
		}
	}
	meansNobody := func(i int) bool { return m.verdicts[i].person < 0 }
	for i, row := range m.rows {
		if !m.hasNamesake(row) {
			continue
		}
		for _, same := range rows.lists(row.sure()) {
			if len(same) > 1 && same[0] == i && slices.ContainsFunc(same, meansNobody) {
				m.refuse(same, false)
			}
		}
	}
}

// refuseNewTwice refuses rows of new people that could be one person by their
// name alone, if nobody has said who they are.
func (m *matcher) refuseNewTwice() {
	rows := index{}
	for i, row := range m.rows {
		if m.verdicts[i].fresh && m.hasNamesake(row) {
			rows.add(i, row.indexKeys()...)
		}
	}
	for i, row := range m.rows {
		v := &m.verdicts[i]
		if !v.fresh || v.said || !m.hasNamesake(row) {
			continue
		}
		if others := rows[row.lookupKey()]; len(others) > 1 || len(others) == 1 && others[0] != i {
			v.fault = record.Duplicate
			m.addOthers(v, row.number, others)
		}
	}
}
