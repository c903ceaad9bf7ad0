package imports

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/firefighter-records/firefighters/internal/people/alike"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// identity is what identifies a person. An empty text means no value.
type identity struct{ name, email, birth string }

// identify returns the identity of a record with the given folded name. The email address is
// folded, and the date of birth has no time. Without a name, the identity is empty.
func identify(name string, f *record.Fields) identity {
	if name == "" {
		return identity{}
	}
	birth, _, _ := strings.Cut(f.DateOfBirth, "T")
	return identity{name, alike.Folded(f.Email), birth}
}

// foldName returns the folded full name, or an empty string if the first or last name is missing.
// Comparing full names makes the column of a middle name irrelevant.
func foldName(f *record.Fields) string {
	if f.FirstName == "" || f.LastName == "" {
		return ""
	}
	return alike.Folded(f.FirstName + " " + f.LastName)
}

// none is the key for a missing value. It cannot occur as a value.
const none = "-"

func (p identity) named() identity { return identity{name: p.name} }

// sure returns the keys for name with email address and for name with date of birth.
func (p identity) sure() []identity {
	keys := make([]identity, 0, 2) // allocate each list once; files have many rows
	if p.email != "" {
		keys = append(keys, identity{name: p.name, email: p.email})
	}
	if p.birth != "" {
		keys = append(keys, identity{name: p.name, birth: p.birth})
	}
	return keys
}

// lookupKey returns the key in indexKeys of namesakes who may be the same person. It requires them
// to lack each value that p has, because sure finds those with an equal value. The row "Ana Kos,
// ana@x.org" looks up {ana kos, none, ""}, which finds every Ana Kos without an email address,
// whatever her date of birth.
func (p identity) lookupKey() identity {
	key := p.named()
	if p.email != "" {
		key.email = none
	}
	if p.birth != "" {
		key.birth = none
	}
	return key
}

// indexKeys returns all keys under which lookupKey can find p. "Ana Kos, born 1990-05-15" has the
// keys {ana kos, "", ""} and {ana kos, none, ""}.
func (p identity) indexKeys() []identity {
	keys := []identity{p.named()}
	if p.email == "" {
		keys = append(keys, identity{p.name, none, ""})
	}
	if p.birth == "" {
		keys = append(keys, identity{p.name, "", none})
	}
	if p.email == "" && p.birth == "" {
		keys = append(keys, identity{p.name, none, none})
	}
	return keys
}

// index finds people or rows, represented by numbers, in insertion order. To save memory with
// 100,000 rows, each index holds only the keys looked up in it.
type index map[identity][]int

// add adds n under all keys with a name.
func (x index) add(n int, keys ...identity) {
	for _, key := range keys {
		if key.name != "" {
			x[key] = append(x[key], n)
		}
	}
}

func (x index) lists(keys []identity) [][]int {
	lists := make([][]int, 0, len(keys))
	for _, key := range keys {
		lists = append(lists, x[key])
	}
	return lists
}

type matchRow struct {
	identity
	id     string // record id; empty: none
	badID  bool   // the id cell has an invalid id
	number int    // row number in the file

	same string // id of the person chosen for the row; empty: none
	add  bool   // the row was confirmed as a new person
}

type member struct {
	identity
	id     string
	fields record.Fields
}

// verdict is the result of matching a row.
type verdict struct {
	person  int     // index of the member; -1: none
	fault   string  // error code of a refused row: record.Unknown, Ambiguous, record.Duplicate or Exists; otherwise empty
	people  [][]int // for a refused row: possible members; rows share the lists
	others  []int   // for a refused row: numbers of other rows that match or could match the same person
	isNew   bool    // no existing person matches
	decided bool    // a person decided which person the row is
}

// few is the maximum number of people and rows listed in a verdict.
const few = 5

// matcher matches the rows of a file with the members of a department.
type matcher struct {
	rows     []matchRow
	people   index
	byID     map[string]int
	allRows  index
	verdicts []verdict
}

// match returns a verdict for each row. members must include all people with the id or name of a
// row. The error is the error of ctx.
func match(ctx context.Context, rows []matchRow, members []member) ([]verdict, error) {
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
	m.people, m.byID = nil, nil // free memory
	m.refuseOnePerson()
	m.refuseSameIdentity()
	m.refuseNewTwice()
	return m.verdicts, ctx.Err()
}

// find matches a row without regard to other rows. A decision applies only if the rules do not
// contradict it.
func (m *matcher) find(row matchRow) verdict {
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
		return verdict{person: p, decided: true}
	case row.add && v.person >= 0:
		return verdict{person: -1, fault: Exists, people: [][]int{{v.person}}}
	case row.add:
		return verdict{person: -1, isNew: true, decided: true}
	}
	return v
}

func (m *matcher) findByRules(row matchRow) verdict {
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

// findByName matches a row by name only. It refuses the row if the name is ambiguous.
func (m *matcher) findByName(row matchRow) verdict {
	fitting, rows := m.people[row.lookupKey()], m.allRows[row.named()]
	switch {
	case len(fitting) == 0:
		return verdict{person: -1, isNew: true}
	case len(m.people[row.named()]) == 1 && len(rows) == 1:
		return verdict{person: fitting[0]}
	case len(fitting) == 1 && len(rows) > 1:
		v := verdict{person: -1, fault: record.Duplicate, people: [][]int{fitting}}
		m.addOthers(&v, row.number, rows)
		return v
	}
	return verdict{person: -1, fault: Ambiguous, people: [][]int{fitting}}
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

// hasNamesake reports whether another row has the same name. Most rows have none, and indexes by
// name and other values skip them.
func (m *matcher) hasNamesake(row matchRow) bool { return len(m.allRows[row.named()]) > 1 }

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

// refuseSameIdentity refuses rows with the same name and email address, or the same name and date
// of birth. It does not refuse rows that match different members, have an unknown id, or are
// decided.
func (m *matcher) refuseSameIdentity() {
	rows := index{}
	for i, row := range m.rows {
		if m.verdicts[i].fault != record.Unknown && m.hasNamesake(row) {
			rows.add(i, row.sure()...)
		}
	}
	isUnmatched := func(i int) bool { return m.verdicts[i].person < 0 }
	for i, row := range m.rows {
		if !m.hasNamesake(row) {
			continue
		}
		for _, same := range rows.lists(row.sure()) {
			if len(same) > 1 && same[0] == i && slices.ContainsFunc(same, isUnmatched) {
				m.refuse(same, false)
			}
		}
	}
}

// refuseNewTwice refuses undecided rows of new people who could be the same person by name.
func (m *matcher) refuseNewTwice() {
	rows := index{}
	for i, row := range m.rows {
		if m.verdicts[i].isNew && m.hasNamesake(row) {
			rows.add(i, row.indexKeys()...)
		}
	}
	for i, row := range m.rows {
		v := &m.verdicts[i]
		if !v.isNew || v.decided || !m.hasNamesake(row) {
			continue
		}
		if others := rows[row.lookupKey()]; len(others) > 1 || len(others) == 1 && others[0] != i {
			v.fault = record.Duplicate
			m.addOthers(v, row.number, others)
		}
	}
}
