package imports

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// identity is what somebody is recognised by. An empty text is no value.
type identity struct{ name, email, birth string }

// identify returns the identity of a record. Names and e-mail addresses are
// folded, and a name is compared as a whole: nobody is somebody else because a
// middle name stands in the other column. A date of birth is the day of the
// calendar, without the time and the offset.
func identify(f *record.Fields) identity { return complete(foldName(f), f) }

// complete returns the identity of a record whose name was folded before.
func complete(name string, f *record.Fields) identity {
	if name == "" {
		return identity{}
	}
	birth, _, _ := strings.Cut(f.DateOfBirth, "T")
	return identity{name, foldText(f.Email), birth}
}

// foldName returns the folded name of somebody, empty if a part of it is missing.
func foldName(f *record.Fields) string {
	if f.FirstName == "" || f.LastName == "" {
		return ""
	}
	return foldText(f.FirstName + " " + f.LastName)
}

// foldText folds a text and makes each run of spaces one. A text of nothing but
// marks stays as it is, because it would fold to nothing.
func foldText(text string) string {
	return strings.Join(strings.Fields(cmp.Or(fold.String(text), text)), " ")
}

// property is what people of one name have in common.
type property struct{ name, kind, value string }

// Kinds of properties. The kinds noX hold those who do not have an X.
const (
	anybody = ""
	email   = "email"
	birth   = "birth"
	noEmail = "noEmail"
	noBirth = "noBirth"
	neither = "neither"
)

// index finds people by their properties. They are numbers, in the order in
// which they were added. A file may have 100,000 rows, so each index has only what
// is asked of it.
type index map[property][]int

// put adds somebody with a property. Without a name nobody is found.
func (x index) put(n int, who identity, kind, value string) {
	if who.name != "" {
		p := property{who.name, kind, value}
		x[p] = append(x[p], n)
	}
}

// addName adds somebody for named.
func (x index) addName(n int, who identity) { x.put(n, who, anybody, "") }

// addSure adds somebody for sure.
func (x index) addSure(n int, who identity) {
	if who.email != "" {
		x.put(n, who, email, who.email)
	}
	if who.birth != "" {
		x.put(n, who, birth, who.birth)
	}
}

// addFitting adds somebody for named and fitting.
func (x index) addFitting(n int, who identity) {
	x.addName(n, who)
	if who.email == "" {
		x.put(n, who, noEmail, "")
	}
	if who.birth == "" {
		x.put(n, who, noBirth, "")
	}
	if who.email == "" && who.birth == "" {
		x.put(n, who, neither, "")
	}
}

// named returns those with the same name.
func (x index) named(who identity) []int { return x[property{who.name, anybody, ""}] }

// sure returns those with the same name and e-mail address, and those with the
// same name and date of birth.
func (x index) sure(who identity) [][]int {
	var lists [][]int
	if who.email != "" {
		lists = append(lists, x[property{who.name, email, who.email}])
	}
	if who.birth != "" {
		lists = append(lists, x[property{who.name, birth, who.birth}])
	}
	return lists
}

// fitting returns those with the same name of whom neither the e-mail address
// nor the date of birth says otherwise, provided that sure finds nobody.
func (x index) fitting(who identity) []int {
	kind := anybody
	switch {
	case who.email != "" && who.birth != "":
		kind = neither
	case who.email != "":
		kind = noEmail
	case who.birth != "":
		kind = noBirth
	}
	return x[property{who.name, kind, ""}]
}

// sought is a row of the file as matching sees it.
type sought struct {
	identity
	id     string // ours; empty: none
	badID  bool   // the cell of the id has something else
	number int    // of the row in the file
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
	fault  string  // why the row is refused: record.Unknown, Ambiguous or record.Duplicate; empty: it is not
	people [][]int // positions of members: those whom a row could mean that is refused; rows share the lists
	others []int   // numbers of rows that mean the same person, or could
	fresh  bool    // nobody of the department is meant
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
		m.people.addSure(i, p.identity)
		m.people.addFitting(i, p.identity)
		m.byID[p.id] = i
	}
	for i, row := range rows {
		m.allRows.addName(i, row.identity)
	}
	for i := range rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m.verdicts[i] = m.find(rows[i])
	}
	m.refuseOnePerson()
	m.refuseSameIdentity()
	m.refuseNewTwice()
	return m.verdicts, ctx.Err()
}

// find returns whom a row means, without a look at what the other rows mean.
func (m *matcher) find(row sought) verdict {
	if row.id != "" || row.badID {
		if p, known := m.byID[row.id]; known && !row.badID {
			return verdict{person: p}
		}
		return verdict{person: -1, fault: record.Unknown}
	}
	sure := m.people.sure(row.identity)
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
	fitting := m.people.fitting(row.identity)
	rows := m.allRows.named(row.identity)
	switch {
	case len(fitting) == 0:
		return verdict{person: -1, fresh: true}
	case len(m.people.named(row.identity)) == 1 && len(rows) == 1:
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

// refuse refuses rows that mean one person.
func (m *matcher) refuse(rows ...int) {
	for _, i := range rows {
		v := &m.verdicts[i]
		v.fault = cmp.Or(v.fault, record.Duplicate)
		m.addOthers(v, m.rows[i].number, rows)
	}
}

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
			m.refuse(same...)
		}
	}
}

// refuseSameIdentity refuses the rows that have one name and e-mail address, or
// one name and date of birth. Two rows are not refused that mean two people of
// the department, nor is one whose id is not known.
func (m *matcher) refuseSameIdentity() {
	rows := index{}
	for i, row := range m.rows {
		if m.verdicts[i].fault != record.Unknown {
			rows.addSure(i, row.identity)
		}
	}
	meansNobody := func(i int) bool { return m.verdicts[i].person < 0 }
	for i, row := range m.rows {
		for _, same := range rows.sure(row.identity) {
			if len(same) > 1 && same[0] == i && slices.ContainsFunc(same, meansNobody) {
				m.refuse(same...)
			}
		}
	}
}

// refuseNewTwice refuses rows of new people that could be one person by their
// name alone.
func (m *matcher) refuseNewTwice() {
	rows := index{}
	for i, row := range m.rows {
		if m.verdicts[i].fresh {
			rows.addFitting(i, row.identity)
		}
	}
	for i, row := range m.rows {
		v := &m.verdicts[i]
		if others := rows.fitting(row.identity); v.fresh && (len(others) > 1 || len(others) == 1 && others[0] != i) {
			v.fault = record.Duplicate
			m.addOthers(v, row.number, others)
		}
	}
}
