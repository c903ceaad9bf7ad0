package imports

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/alike"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// Comparison is the outcome of an updating import, grouped by differences, with the people who are
// not on the list.
type Comparison struct {
	Outcome *Outcome
	Groups  []Group // one for each of GroupNames
	Same    int     // people who are equal on both lists, or differ in spelling only
	Unclear int     // existing people that only refused rows could match; they are in no group
}

// Group is a group of a comparison, sorted by last name.
type Group struct {
	Name string
	Rows []*Row
}

// Group names, as in JSON.
const (
	OnlyTheirs = "onlyTheirs"
	OnlyOurs   = "onlyOurs" // rows have Ours set
	Probably   = "probably" // possible duplicates, compared with the first person of Like
	Differ     = "differ"
	NotSure    = "refused" // includes rows with two readings of a name
)

// GroupNames are the names of all groups in order.
var GroupNames = []string{OnlyTheirs, OnlyOurs, Probably, Differ, NotSure}

// Rows returns the rows of a group.
func (c *Comparison) Rows(group string) []*Row { return c.Groups[slices.Index(GroupNames, group)].Rows }

// Compare compares the file with the people of a department.
func (f *File) Compare(ctx context.Context, s *store.Store, tenant record.TenantID) (*Comparison, error) {
	comparing := *f
	comparing.comparing, comparing.Options.Update = true, true
	o, err := comparing.Check(ctx, s, tenant)
	if err != nil {
		return nil, err
	}
	c, groups := &Comparison{Outcome: o, Unclear: o.unclear}, map[string][]*Row{}
	for i := range o.All {
		row := &o.All[i]
		if name := row.group(); name != "" {
			groups[name] = append(groups[name], row)
		} else if row.Twin == 0 && row.Result == Left {
			c.Same++
		}
	}
	for i := range o.onlyOurs {
		groups[OnlyOurs] = append(groups[OnlyOurs], &o.onlyOurs[i])
	}
	for _, name := range GroupNames {
		sortByName(groups[name])
		c.Groups = append(c.Groups, Group{name, groups[name]})
	}
	return c, nil
}

// group returns the group of a row, or an empty string if nothing differs.
func (r *Row) group() string {
	switch {
	case r.Result == Added:
		return OnlyTheirs
	case r.Result == Changed:
		return Differ
	case r.Result == Perhaps && r.ID != nil:
		return Probably
	case r.Result != Left && r.Result != Skipped:
		return NotSure
	}
	return ""
}

// setFirstLike compares a possible duplicate with its first candidate. After contains all values of
// the row, including the spelling of its name.
func (f *File) setFirstLike(row *Row) {
	like, withSpelling := &row.Like[0], File{Mapped: f.Mapped, Options: Options{Spelling: true}}
	row.ID, row.Before = like.ID, &like.Person
	after, _ := withSpelling.merge(row)
	for d, theirs := range after.Each {
		if ours := *d.Of(row.Before); !d.Required && f.isSpelling(d, ours, *theirs) {
			*theirs = ours
		}
	}
	row.After = &after
}

// sortByName sorts rows by folded last name, then folded first name.
func sortByName(rows []*Row) {
	keys := make(map[*Row]string, len(rows))
	for _, r := range rows {
		keys[r] = alike.Folded(r.Fields.LastName) + "\x00" + alike.Folded(r.Fields.FirstName)
	}
	slices.SortStableFunc(rows, func(a, b *Row) int { return strings.Compare(keys[a], keys[b]) })
}

// findOnlyOurs finds the people that match no row. It does not include people that a refused or
// undecided row could mean: they have its name and no other date of birth, or are in like.
func (d *decision) findOnlyOurs(ctx context.Context, roster store.Roster, like map[int][]Like) error {
	onList, possible := map[string]bool{}, map[string]bool{}
	unsettled := map[string][]alike.Identity{} // by the key of the name
	for i, at := range d.distinct.first {
		row := &d.rows[at]
		if row.ID != nil {
			onList[*row.ID] = true
		}
		if row.Result != Refused && row.Result != Perhaps {
			continue
		}
		for _, candidate := range like[i] {
			possible[*candidate.ID] = true
		}
		possible[d.file.Options.Same[row.Row]] = true
		who := d.file.matchRow(d.person(i)).Identity
		if key := who.Key(); who.HasName() && len(unsettled[key]) < mostNamesakes {
			unsettled[key] = append(unsettled[key], who)
		}
	}
	return roster.Each(ctx, func(s *record.Stored) {
		switch {
		case onList[s.ID]:
		case possible[s.ID], couldBeAny(&s.Fields, unsettled):
			d.unclear++
		default:
			ours := s.Firefighter
			d.onlyOurs = append(d.onlyOurs, Row{Name: ours.FirstName + " " + ours.LastName, ID: &ours.ID, Fields: ours.Fields, Ours: &ours})
		}
	})
}

// couldBeAny reports whether a person could be one of some rows by name.
func couldBeAny(person *record.Fields, rows map[string][]alike.Identity) bool {
	who := alike.Identify(person)
	named := rows[who.Key()]
	for i := range named {
		if who.MayBe(&named[i]) {
			return true
		}
	}
	return false
}

// FieldChange is a difference between an existing person and a row. An empty text means no value.
type FieldChange struct {
	Field  string `json:"field"`
	Ours   string `json:"ours"`
	Theirs string `json:"theirs"`
}

// Changes returns the fields that would change, in record order.
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

// comparedRow is the JSON form of a row of a comparison.
type comparedRow struct {
	Row         int                `json:"row"`
	ID          *string            `json:"id"`
	Name        string             `json:"name"`
	Fields      map[string]*string `json:"fields"`
	Differences []FieldChange      `json:"differences"`
	Errors      record.FieldErrors `json:"errors"`
	Like        []Like             `json:"like,omitempty"`
}

// MarshalJSON returns the groups, counts and file information. The group onlyOurs has records in
// the form of the API.
func (c *Comparison) MarshalJSON() ([]byte, error) {
	o := c.Outcome
	object := map[string]any{
		"same": c.Same, "spellingOnly": o.SpellingOnly, "unclear": c.Unclear,
		"file": o.File, "dates": o.Dates, "columns": o.Columns, "warnings": o.Warnings,
		"questions": o.Questions,
	}
	for _, group := range c.Groups {
		rows := make([]any, len(group.Rows))
		for i, r := range group.Rows {
			if r.Ours != nil {
				rows[i] = json.RawMessage(r.Ours.AppendJSON(nil))
				continue
			}
			fields := map[string]*string{}
			for d, value := range r.Fields.Each {
				fields[d.Name] = textOrNil(*value)
			}
			rows[i] = comparedRow{r.Row, r.ID, r.Name, fields, r.Changes(), r.Errors, r.Like}
		}
		object[group.Name] = rows
	}
	return json.Marshal(object)
}

// Finding is a row of a group, or one differing field of it.
type Finding struct {
	*Row
	Change FieldChange // for a person on one list only: all values except the name
	Why    string      // why the row is a possible duplicate or cannot be compared
}

// FindingWords format findings as text.
type FindingWords struct {
	Values  func(record.Fields) string
	Changes func(*Row) []FieldChange
	Why     func(*Row) string
}

// Findings returns the findings of a group in order, at least one per row.
func (g Group) Findings(words FindingWords) (all []Finding) {
	for _, r := range g.Rows {
		changes, why := []FieldChange{{}}, ""
		switch g.Name {
		case OnlyTheirs:
			changes[0].Theirs = words.Values(r.Fields)
		case OnlyOurs:
			changes[0].Ours = words.Values(r.Fields)
		case NotSure:
			why = words.Why(r)
		case Probably:
			why = words.Why(r)
			fallthrough
		case Differ:
			if some := words.Changes(r); len(some) > 0 {
				changes = some
			}
		}
		for _, change := range changes {
			all = append(all, Finding{r, change, why})
		}
	}
	return all
}

// WriteReport writes all findings as sheet.CSV or sheet.XLSX. header names the columns finding,
// row, id, name, field, ours, theirs and reason; titles names the groups.
func (c *Comparison) WriteReport(to io.Writer, format string, header []string, titles map[string]string, words FindingWords) error {
	var all [][]string
	for _, group := range c.Groups {
		for _, f := range group.Findings(words) {
			id, number := "", ""
			if f.ID != nil {
				id = *f.ID
			}
			if f.Row.Row > 0 {
				number = strconv.Itoa(f.Row.Row)
			}
			all = append(all, []string{titles[group.Name], number, id, f.Name, f.Change.Field, f.Change.Ours, f.Change.Theirs, f.Why})
		}
	}
	table := &sheet.Table{Rows: make([]sheet.Row, len(all))}
	return sheet.WriteTable(to, format, table, header, func(i int) []string { return all[i] })
}
