package imports

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/lists/mapping"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// decision is what becomes of the rows of a file in a department at one moment.
type decision struct {
	file     *File
	members  []member
	verdicts []verdict
	deleted  map[string]bool // ids of deleted people that rows have
	rows     []Row
	people   []store.Person // what to write
	written  []int          // positions in rows of these people
}

// decide decides about all rows. The error is a *record.DamagedError if a record
// of the department is damaged, or that of ctx.
func (f *File) decide(ctx context.Context, roster store.Roster) (*decision, error) {
	rows := f.sought()
	members, err := candidates(roster, rows)
	if err != nil {
		return nil, err
	}
	d := &decision{file: f, members: members, rows: make([]Row, 0, len(rows))}
	if d.verdicts, err = match(ctx, rows, members); err != nil {
		return nil, err
	}
	if d.deleted, err = roster.Deleted(unknown(rows, d.verdicts)); err != nil {
		return nil, err
	}
	for i := range f.Mapped.People {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d.add(&f.Mapped.People[i], &d.verdicts[i])
	}
	return d, nil
}

// sought returns the rows as matching sees them. A field that has a fault has no
// value.
func (f *File) sought() []sought {
	rows := make([]sought, len(f.Mapped.People))
	for i := range f.Mapped.People {
		p := &f.Mapped.People[i]
		fields := p.Fields
		for d, value := range fields.Each {
			if p.Errors.Has(d.Name) {
				*value = ""
			}
		}
		rows[i] = sought{identify(foldName(&fields), &fields), p.ID, p.Errors.Has(mapping.ID), p.Row}
	}
	return rows
}

// candidates returns those of a department who have the id or the name of a row.
func candidates(roster store.Roster, rows []sought) (members []member, err error) {
	ids, names := map[string]bool{}, map[string]bool{}
	for _, row := range rows {
		ids[row.id], names[row.name] = true, true
	}
	var damaged error
	err = roster.Each(func(s *record.Stored) {
		if name := foldName(&s.Fields); ids[s.ID] || names[name] {
			members = append(members, member{identify(name, &s.Fields), s.ID, s.Fields})
		}
		if damaged == nil {
			damaged = s.Err()
		}
	})
	return members, cmp.Or(err, damaged)
}

// unknown returns the ids of rows that are those of nobody.
func unknown(rows []sought, verdicts []verdict) (ids []string) {
	for i, v := range verdicts {
		if v.fault == record.Unknown && !rows[i].badID {
			ids = append(ids, rows[i].id)
		}
	}
	return ids
}

// add decides about a row.
func (d *decision) add(p *mapping.Person, v *verdict) {
	d.rows = append(d.rows, Row{Row: p.Row, Result: Added, Name: p.Name(), Fields: p.Fields, Others: v.others})
	row := &d.rows[len(d.rows)-1]
	if v.person >= 0 {
		found := &d.members[v.person]
		row.Result, row.ID, row.Before = Left, &found.id, &found.fields
	}
	for _, i := range firstOf(v.people, few) {
		row.People = append(row.People, describe(d.members[i].fields))
	}
	d.addFaults(row, p, v)
	if len(row.Errors) == 0 && row.Before != nil && d.file.Options.Update {
		d.update(row)
	}
	if len(row.Errors) > 0 {
		row.Result, row.After = Refused, nil
	}
	switch row.Result {
	case Added:
		row.After = &row.Fields
		d.write(store.Person{Fields: row.Fields})
	case Changed:
		d.write(store.Person{ID: *row.ID, Fields: *row.After})
	}
}

// write adds to what is written a person of the last row.
func (d *decision) write(p store.Person) {
	d.people, d.written = append(d.people, p), append(d.written, len(d.rows)-1)
}

// addFaults adds what is wrong with a row: by itself, and beside the department
// and the other rows. A row that has the id of a person may lack a field that is
// required, because an empty cell changes nothing.
func (d *decision) addFaults(row *Row, p *mapping.Person, v *verdict) {
	row.Errors = append(record.FieldErrors{}, p.Errors...) // never null in JSON
	if p.ID != "" && v.person >= 0 {
		row.Errors = slices.DeleteFunc(row.Errors, func(e record.FieldError) bool { return e.Code == record.Required })
	}
	if v.fault != "" && !p.Errors.Has(mapping.ID) {
		row.Errors = append(row.Errors, d.fault(row, p, v))
	}
	if p.LostPhone != "" && (row.Before == nil || row.Before.PhoneNumber != p.LostPhone) {
		row.Errors = append(row.Errors, mapping.LostDigitsOf(p.LostPhone))
	}
}

// update says what a person would be: the cells that hold something replace. A
// name that was split changes nothing if it is the same as a whole, nor does a
// date of birth that is the same day of the calendar but has no time and offset.
func (d *decision) update(row *Row) {
	after := *row.Before
	for field, theirs := range row.Fields.Each {
		if *theirs != "" {
			*field.Of(&after) = *theirs
		}
	}
	if d.file.splitsNames() && wholeName(after) == wholeName(*row.Before) {
		after.FirstName, after.LastName = row.Before.FirstName, row.Before.LastName
	}
	if day, bare := strings.CutSuffix(after.DateOfBirth, "T00:00:00Z"); bare && strings.HasPrefix(row.Before.DateOfBirth, day) {
		after.DateOfBirth = row.Before.DateOfBirth
	}
	if after == *row.Before {
		return
	}
	normal, errs := after.Normalize(d.file.now)
	row.Result, row.After = Changed, &normal
	row.Errors.Merge(errs)
}

func wholeName(f record.Fields) string {
	return strings.Join(strings.Fields(f.FirstName+" "+f.LastName), " ")
}

// splitsNames reports whether first and last names stand in one column.
func (f *File) splitsNames() bool {
	return slices.ContainsFunc(f.Mapped.Columns, func(c mapping.Column) bool {
		return c.Field == mapping.FullName || c.Field == mapping.LastFirst
	})
}
