package imports

import (
	"cmp"
	"context"
	"hash/maphash"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/alike"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/phone"
)

// decision is the result of every row for a department at one point in time.
type decision struct {
	file      *File
	members   []member
	size      int // people in the department
	distinct  *distinct
	verdicts  []verdict      // by distinct row
	deleted   map[int]string // ids of deleted people named by distinct rows
	rows      []Row
	twins     map[int]int   // by index into rows: the earlier row with the same values
	differ    int           // existing people left unchanged although they differ
	spelled   int           // existing people that Options.Spelling would change
	respell   [2]string     // the first such value of an existing person, and in the file
	spellOnly int           // of the existing people that differ, those who differ in spelling only
	onlyOurs  []Row         // for a comparison: people that match no row
	unclear   int           // for a comparison: people that only refused rows could match
	sole      map[int]bool  // distinct rows with one candidate whom no other row means
	apart     []sheet.Place // rows with the name of an existing person or of another row that are other people
}

// decide decides all rows. The error is a *record.DamagedError if a record of the department is
// damaged, or the error of ctx.
func (f *File) decide(ctx context.Context, roster store.Roster) (*decision, error) {
	d := &decision{file: f, distinct: f.distinct(ctx), twins: map[int]int{}}
	err := d.candidates(ctx, roster)
	if err != nil {
		return nil, err
	}
	if d.verdicts, err = match(ctx, d.distinct.rows, d.members); err != nil {
		return nil, err
	}
	if d.deleted, err = d.findDeleted(roster); err != nil {
		return nil, err
	}
	d.distinct.rows = nil
	runtime.GC() // free the memory of matching before the rows need as much
	like := map[int][]Like{}
	if d.size > 0 {
		if like, err = d.findAlike(ctx, roster); err != nil {
			return nil, err
		}
		d.acceptAll(like)
	}
	d.rows = make([]Row, 0, len(d.distinct.of))
	for i, at := range d.distinct.of {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if first := d.distinct.first[at]; first != int32(i) {
			d.addTwin(i, int(first))
			continue
		}
		d.add(int(at), like[int(at)])
	}
	if f.comparing {
		if err := d.findOnlyOurs(ctx, roster, like); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// distinct are the rows of a file without repetitions.
type distinct struct {
	rows  []matchRow
	first []int32 // by distinct row: index in the file
	of    []int32 // by index in the file: distinct row
}

// distinct returns the distinct rows for matching. A row with errors is always distinct. Decisions
// about a row apply to its repetitions. The result is incomplete if ctx ends.
func (f *File) distinct(ctx context.Context) *distinct {
	n := len(f.Mapped.People)
	all := &distinct{make([]matchRow, 0, n), make([]int32, 0, n), make([]int32, n)}
	seed, known := maphash.MakeSeed(), make(map[uint64]int32, n) // distinct row by hash of its content
	for i := range f.Mapped.People {
		if ctx.Err() != nil {
			return all
		}
		p := &f.Mapped.People[i]
		row := f.matchRow(p)
		if len(p.Errors) == 0 && p.Skip == "" {
			content := contentOf(p)
			hash := maphash.Comparable(seed, content)
			if at, found := known[hash]; found && contentOf(&f.Mapped.People[all.first[at]]) == content && all.rows[at].agree(&row) {
				all.of[i] = at
				continue
			}
			known[hash] = int32(len(all.rows))
		}
		all.of[i] = int32(len(all.rows))
		all.rows, all.first = append(all.rows, row), append(all.first, int32(i))
	}
	return all
}

type content struct {
	id, leftOut string
	fields      record.Fields
	guessed     bool
}

func contentOf(p *mapping.Person) content {
	c := content{id: p.ID, fields: p.Fields, guessed: p.Readings != nil}
	for _, e := range p.LeftOut {
		c.leftOut += e.Field + " " + e.Detail + "\n"
	}
	return c
}

// agree copies a decision about another row with the same content. It returns false if the
// decisions conflict.
func (row *matchRow) agree(other *matchRow) bool {
	switch {
	case other.same == "" && !other.add, row.same == other.same && row.add == other.add:
	case row.same == "" && !row.add:
		row.same, row.add = other.same, other.add
	default:
		return false
	}
	return true
}

// matchRow returns a row for matching. Fields with errors are empty, and so are fields with doubts
// unless they are names.
func (f *File) matchRow(p *mapping.Person) matchRow {
	fields := p.Fields
	for d, value := range fields.Each {
		if p.Errors.Has(d.Name) || !d.Required && p.Doubts.Has(d.Name) {
			*value = ""
		}
	}
	who := alike.Identify(&fields)
	var readings []alike.Identity
	for _, name := range p.Readings[min(1, len(p.Readings)):] {
		fields.FirstName, fields.LastName = name.First, name.Last
		readings = append(readings, alike.Identify(&fields))
	}
	return matchRow{who, p.ID, p.Errors.Has(mapping.ID), p.Row, readings, f.Options.Same[p.Row], f.Options.Add[p.Row]}
}

// candidates collects the people with the id or name of a row, or chosen for one, and counts all.
func (d *decision) candidates(ctx context.Context, roster store.Roster) error {
	ids, names := map[string]bool{}, map[string]bool{}
	for i := range d.distinct.rows {
		row := &d.distinct.rows[i]
		ids[row.id], ids[row.same] = true, true
		if row.HasName() {
			names[row.Key()] = true
		}
		for j := range row.readings {
			names[row.readings[j].Key()] = true
		}
	}
	var damaged error
	err := roster.Each(ctx, func(s *record.Stored) {
		if who := alike.Identify(&s.Fields); ids[s.ID] || names[who.Key()] {
			d.members = append(d.members, member{who, s.ID, s.Fields})
		}
		if damaged == nil {
			damaged = s.Err()
		}
		d.size++
	})
	return cmp.Or(err, damaged)
}

// findDeleted returns the ids of deleted people, by distinct row.
func (d *decision) findDeleted(roster store.Roster) (map[int]string, error) {
	unknown, all := map[int]string{}, []string(nil)
	for i, v := range d.verdicts {
		if row := &d.distinct.rows[i]; v.fault == record.Unknown && !row.badID {
			unknown[i] = cmp.Or(row.same, row.id)
			all = append(all, unknown[i])
		}
	}
	deleted, err := roster.Deleted(all)
	maps.DeleteFunc(unknown, func(_ int, id string) bool { return !deleted[id] })
	return unknown, err
}

// add decides a distinct row. like are its possible duplicates.
func (d *decision) add(at int, like []Like) {
	p, v := d.person(at), &d.verdicts[at]
	d.rows = append(d.rows, Row{Row: p.Row, Result: Added, Name: p.Name(), Fields: p.Fields, Others: v.others, LeftOut: p.LeftOut})
	row := &d.rows[len(d.rows)-1]
	if p.Skip != "" {
		row.Result, row.Errors, row.Skip, row.Text = Skipped, record.FieldErrors{}, p.Skip, p.Text
		return
	}
	if v.person >= 0 {
		found := &d.members[v.person]
		row.Result, row.ID, row.Before = Left, &found.id, &found.fields
		row.readAs(append(p.Readings, p.Reversed))
	}
	for _, i := range v.people[:min(len(v.people), few)] {
		row.People = append(row.People, describe(d.members[i].fields))
	}
	row.Deleted = d.deleted[at]
	d.addFaults(row, p, v)
	switch {
	case len(row.Errors) > 0:
	case row.Before != nil:
		d.update(row)
	case p.Readings != nil && !v.decided:
		row.Result, row.Like = Perhaps, []Like{{Why: MixedNames, Readings: p.Readings}}
	case len(like) > 0 && !d.file.Options.AddAll[All] && !d.file.Options.AddAll[kind(&p.Fields, like)]:
		row.Result, row.Like, row.Sole = Perhaps, like, d.sole[at]
		if d.file.comparing {
			d.file.setFirstLike(row)
		}
	}
	if len(row.Errors) > 0 {
		row.Result, row.After, row.LeftOut = Refused, nil, nil
	}
	if row.Result == Added {
		row.After = &row.Fields
		if v.namesake {
			d.apart = append(d.apart, sheet.Place{Text: row.Name, Row: row.Row})
		}
	}
}

// readAs selects the reading of the name that matches the existing person.
func (r *Row) readAs(readings []mapping.Name) {
	for _, name := range readings {
		if alike.SameSpelling(name.First, r.Before.FirstName) && alike.SameSpelling(name.Last, r.Before.LastName) {
			r.Fields.FirstName, r.Fields.LastName = name.First, name.Last
		}
	}
}

// addTwin decides a row that repeats an earlier one. It has the same errors but no other effect.
func (d *decision) addTwin(i, first int) {
	row := d.rows[first]
	row.Row, row.Twin = d.file.Mapped.People[i].Row, row.Row
	if row.Result != Refused {
		row.Result, row.After, row.Like, row.LeftOut = Left, nil, nil, nil
	}
	d.twins[i] = first
	d.rows = append(d.rows, row)
}

func (d *decision) people() []store.Person {
	people := make([]store.Person, 0, len(d.rows))
	for i := range d.rows {
		row := &d.rows[i]
		switch row.Result {
		case Added:
			people = append(people, store.Person{Fields: row.Fields})
		case Changed:
			people = append(people, store.Person{ID: *row.ID, Fields: *row.After})
		}
	}
	return people
}

// addFaults adds the errors of a row, including conflicts with the department and other rows. A row
// identified by id or by decision may lack required fields, because empty cells change nothing.
func (d *decision) addFaults(row *Row, p *mapping.Person, v *verdict) {
	row.Errors = append(record.FieldErrors{}, p.Errors...) // never null in JSON
	if (p.ID != "" || v.decided) && v.person >= 0 {
		row.Errors = slices.DeleteFunc(row.Errors, func(e record.FieldError) bool { return e.Code == record.Required })
	}
	if v.fault != "" && !p.Errors.Has(mapping.ID) {
		row.Errors = append(row.Errors, fault(row, v))
	}
	for field, value := range row.Fields.Each {
		at := slices.IndexFunc(p.Doubts, func(e record.FieldError) bool { return e.Field == field.Name })
		switch {
		case at < 0, row.Before != nil && *field.Of(row.Before) == *value:
		case d.file.Options.LeaveOutBad && !field.Required:
			*value, row.LeftOut = "", append(slices.Clone(row.LeftOut), p.Doubts[at])
		default:
			row.Errors = append(row.Errors, p.Doubts[at])
		}
	}
}

// update decides the result of a row that matches an existing person.
func (d *decision) update(row *Row) {
	after, spelled := d.file.merge(row)
	if spelled != nil {
		if d.spelled++; d.spelled == 1 {
			d.respell = *spelled
		}
	}
	switch {
	case after == *row.Before && spelled != nil:
		d.spellOnly++
	case after == *row.Before:
	case !d.file.Options.Update:
		d.differ++
	default:
		normal, errs := after.Normalize(d.file.now)
		row.Result, row.After = Changed, &normal
		row.Errors.Merge(errs)
	}
}

// merge returns the fields of the existing person with those of the row applied. A split name that
// is equal as a whole changes nothing, even if the record has titles. Neither does the same day of
// birth with another time or offset. Unless Options.Spelling is set, a different spelling of a value
// changes nothing either; spelled is the first such value of the person and of the row, or nil.
func (f *File) merge(row *Row) (after record.Fields, spelled *[2]string) {
	ours := row.Before
	after = ours.With(&row.Fields)
	if slices.ContainsFunc(f.Mapped.Columns, mapping.Column.IsFullName) {
		whole, before := wholeName(after), wholeName(*ours)
		same := sameName(whole, before)
		if whole == before || same && !f.Options.Spelling {
			if whole != before {
				spelled = &[2]string{before, whole}
			}
			after.FirstName, after.LastName = ours.FirstName, ours.LastName
		}
	}
	for d, theirs := range after.Each {
		if old := *d.Of(ours); *theirs != old && !f.Options.Spelling && f.isSpelling(d, old, *theirs) {
			spelled = cmp.Or(spelled, &[2]string{old, *theirs})
			*theirs = old
		}
	}
	if day, _, known := strings.Cut(after.DateOfBirth, "T"); known && strings.HasPrefix(ours.DateOfBirth, day) {
		after.DateOfBirth = ours.DateOfBirth
	}
	return after, spelled
}

// isSpelling reports whether a value of a field is a spelling of ours.
func (f *File) isSpelling(d record.Field, ours, theirs string) bool {
	switch d.Name {
	case "phoneNumber":
		return phone.Same(ours, theirs, f.Options.Country)
	case "email":
		return alike.Folded(ours) == alike.Folded(theirs)
	}
	return d.Required && sameName(theirs, ours)
}

// sameName reports whether a name is ours, perhaps without its titles and remarks.
func sameName(theirs, ours string) bool {
	return alike.SameSpelling(theirs, ours) || alike.SameSpelling(theirs, alike.WithoutTitles(ours))
}

func wholeName(f record.Fields) string {
	return strings.Join(strings.Fields(f.FirstName+" "+f.LastName), " ")
}
