package imports

import (
	"context"
	"encoding/json"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// Comparison is a list beside ours.
type Comparison struct {
	OnlyTheirs []Row
	OnlyOurs   []record.Firefighter
	Differ     []Row // Before is ours, Fields theirs
	Refused    []Row
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
	updating.Options.Update = true
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
	c.Outcome = f.newOutcome(d, nil)
	c.Same = c.Outcome.Left
	for _, row := range d.rows {
		switch row.Result {
		case Added:
			c.OnlyTheirs = append(c.OnlyTheirs, row)
		case Changed:
			c.Differ = append(c.Differ, row)
		case Refused:
			c.Refused = append(c.Refused, row)
		}
	}
	meant, concerned := d.concerned()
	c.Unclear = len(concerned)
	return roster.Each(func(s *record.Stored) {
		if !meant[s.ID] && !concerned[s.ID] {
			c.OnlyOurs = append(c.OnlyOurs, s.Firefighter)
		}
	})
}

// concerned returns the ids of people whom a row means, and those of others whom
// a refused row means or could mean.
func (d *decision) concerned() (meant, concerned map[string]bool) {
	meant, concerned = map[string]bool{}, map[string]bool{}
	known := map[*int]bool{} // lists, which many rows share
	for i, v := range d.verdicts {
		if row := d.rows[i]; row.Result != Refused && row.ID != nil {
			meant[*row.ID] = true
		} else if row.ID != nil {
			concerned[*row.ID] = true
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
	for id := range meant {
		delete(concerned, id)
	}
	return meant, concerned
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
}

func comparedRows(rows []Row) []comparedRow {
	all := []comparedRow{}
	for _, r := range rows {
		fields := map[string]*string{}
		for d, value := range r.Fields.Each {
			fields[d.Name] = textOrNil(*value)
		}
		all = append(all, comparedRow{r.Row, r.ID, r.Name, fields, r.Changes(), r.Errors})
	}
	return all
}

// MarshalJSON returns the comparison as --json has it: onlyTheirs, onlyOurs,
// differ, refused, same, unclear, and how the file was read, as in an Outcome.
// onlyOurs has records as the API has them. The others have rows: row, id, name,
// fields, differences (field, ours, theirs) and errors.
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
	}{comparedRows(c.OnlyTheirs), ours, comparedRows(c.Differ), comparedRows(c.Refused), c.Same, c.Unclear,
		c.Outcome.File, c.Outcome.Dates, c.Outcome.Columns, c.Outcome.Warnings})
}
