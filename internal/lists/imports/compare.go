package imports

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/alike"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// Comparison is a list beside ours. Each group is sorted by the last name.
type Comparison struct {
	OnlyTheirs []*Row
	OnlyOurs   []record.Firefighter
	Probably   []*Row // that are Perhaps somebody: Before is the first of Like, and After is with what the row has
	Differ     []*Row // Before is ours, Fields theirs
	Refused    []*Row // or with a name that can be read in two ways
	Same       int
	Unclear    int // people of ours whom only refused rows mean or could mean: they are in no list
	Outcome    *Outcome
}

// Compare compares the file with the people of a department. It is what an
// import with Update would do, read the other way.
func (f *File) Compare(ctx context.Context, s *store.Store, tenant record.TenantID) (*Comparison, error) {
	if f.Problem != nil {
		return nil, f.Problem
	}
	updating, c := *f, &Comparison{}
	updating.Options.Update, updating.Options.AllRows = true, true // all rows: without copies of some
	err := readRoster(s, tenant, func(r store.Roster) error { return updating.compare(ctx, c, r) })
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (f *File) compare(ctx context.Context, c *Comparison, roster store.Roster) error {
	d, err := f.decide(ctx, roster)
	if err != nil {
		return err
	}
	d.spelled = 0 // nothing is taken over
	c.Outcome = f.newOutcome(d, nil)
	for i := range d.rows {
		row := &d.rows[i]
		switch {
		case row.Result == Added:
			c.OnlyTheirs = append(c.OnlyTheirs, row)
		case row.Result == Changed:
			c.Differ = append(c.Differ, row)
		case row.Result == Perhaps && row.Like[0].ID != nil:
			f.besideLike(row)
			c.Probably = append(c.Probably, row)
		case row.Result == Refused, row.Result == Perhaps:
			c.Refused = append(c.Refused, row)
		case row.Twin == 0:
			c.Same++
		}
	}
	for _, rows := range [][]*Row{c.OnlyTheirs, c.Probably, c.Differ, c.Refused} {
		sortByName(rows, func(r *Row) record.Fields { return r.Fields })
	}
	accounted, concerned := d.concerned()
	c.Unclear = len(concerned)
	err = roster.Each(func(s *record.Stored) {
		if !accounted[s.ID] && !concerned[s.ID] {
			c.OnlyOurs = append(c.OnlyOurs, s.Firefighter)
		}
	})
	sortByName(c.OnlyOurs, func(f record.Firefighter) record.Fields { return f.Fields })
	return err
}

// besideLike puts the person whom a row is most like beside it, and what the row has for
// them, spelling and all.
func (f *File) besideLike(row *Row) {
	like, asTheirs := &row.Like[0], File{Mapped: f.Mapped, Options: Options{Spelling: true}}
	row.ID, row.Before = like.ID, &like.Person
	after, _ := asTheirs.updated(row)
	row.After = &after
}

// sortByName sorts people by their last names and then their first names, both folded.
func sortByName[T any](all []T, fields func(T) record.Fields) {
	type named struct {
		name string
		T    T
	}
	some := make([]named, len(all))
	for i, one := range all {
		f := fields(one)
		some[i] = named{alike.Folded(f.LastName) + "\x00" + alike.Folded(f.FirstName), one}
	}
	slices.SortStableFunc(some, func(a, b named) int { return strings.Compare(a.name, b.name) })
	for i := range some {
		all[i] = some[i].T
	}
}

// concerned returns the ids of people whom a row means or stands beside, and those of others
// whom a refused row means or could mean.
func (d *decision) concerned() (accounted, concerned map[string]bool) {
	accounted, concerned = map[string]bool{}, map[string]bool{}
	known := map[*int]bool{} // lists, which many rows share
	for i := range d.verdicts {
		v, row := &d.verdicts[i], &d.rows[d.distinct.first[i]]
		if len(row.Like) > 0 && row.Like[0].ID != nil {
			accounted[*row.Like[0].ID] = true // nobody else of Like is shown, so they are only ours
		}
		if v.person >= 0 && row.Result == Refused {
			concerned[d.members[v.person].id] = true
		} else if v.person >= 0 {
			accounted[d.members[v.person].id] = true
		}
		for _, list := range v.people {
			if len(list) == 0 || known[&list[0]] {
				continue
			}
			known[&list[0]] = true
			for _, person := range list {
				concerned[d.members[person].id] = true
			}
		}
	}
	for id := range accounted {
		delete(concerned, id)
	}
	return accounted, concerned
}

// FieldChange is a field in which a person of ours and a row differ. An empty text
// is no value.
type FieldChange struct {
	Field  string `json:"field"`
	Ours   string `json:"ours"`
	Theirs string `json:"theirs"`
}

// Changes returns the fields in which a person would change, in the order of a
// record.
func (r *Row) Changes() []FieldChange {
	changes := []FieldChange{}
	if r.Before == nil || r.After == nil {
		return changes
	}
	for d, theirs := range r.After.Each {
		if ours := *d.Of(r.Before); ours != *theirs {
			changes = append(changes, FieldChange{d.Name, ours, *theirs})
		}
	}
	return changes
}

// comparedRow is the JSON of a row of a comparison.
type comparedRow struct {
	Row         int                `json:"row"`
	ID          *string            `json:"id"`
	Name        string             `json:"name"`
	Fields      map[string]*string `json:"fields"`
	Differences []FieldChange      `json:"differences"`
	Errors      record.FieldErrors `json:"errors"`
	Like        []Like             `json:"like,omitempty"`
}

func comparedRows(rows []*Row) []comparedRow {
	all := []comparedRow{}
	for _, r := range rows {
		fields := map[string]*string{}
		for d, value := range r.Fields.Each {
			fields[d.Name] = textOrNil(*value)
		}
		all = append(all, comparedRow{r.Row, r.ID, r.Name, fields, r.Changes(), r.Errors, r.Like})
	}
	return all
}

// MarshalJSON returns the comparison as --json has it: onlyTheirs, onlyOurs,
// differ, refused, same, unclear, how the file was read, as in an Outcome, and probably.
// onlyOurs has records as the API has them. The others have rows: row, id, name,
// fields, differences (field, ours, theirs), errors, and in probably like.
func (c *Comparison) MarshalJSON() ([]byte, error) {
	ours := []json.RawMessage{}
	for i := range c.OnlyOurs {
		ours = append(ours, c.OnlyOurs[i].AppendJSON(nil))
	}
	return json.Marshal(struct {
		OnlyTheirs []comparedRow     `json:"onlyTheirs"`
		OnlyOurs   []json.RawMessage `json:"onlyOurs"`
		Differ     []comparedRow     `json:"differ"`
		Refused    []comparedRow     `json:"refused"`
		Same       int               `json:"same"`
		Unclear    int               `json:"unclear"`
		File       FileInfo          `json:"file"`
		Dates      *string           `json:"dates"`
		Columns    []ColumnInfo      `json:"columns"`
		Warnings   []string          `json:"warnings"`
		Probably   []comparedRow     `json:"probably"`
	}{comparedRows(c.OnlyTheirs), ours, comparedRows(c.Differ), comparedRows(c.Refused), c.Same, c.Unclear,
		c.Outcome.File, c.Outcome.Dates, c.Outcome.Columns, c.Outcome.Warnings, comparedRows(c.Probably)})
}
