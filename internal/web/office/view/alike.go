package view

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/firefighter-records/firefighters/internal/people/alike"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// mostAlike is how many people are shown at most who could be the one in a form.
const mostAlike = 10

// Alike returns who else is in the department and could be this person: who has this name,
// whenever they were born, and who is perhaps the same as lists are compared. The best
// come first. Without a first and a last name there is nobody. but is the id of the person.
func (v Visit) Alike(f record.Fields, but string) ([]site.Line, error) {
	if f.FirstName == "" || f.LastName == "" {
		return nil, nil
	}
	type match struct {
		why    alike.Reason
		fields record.Fields
		id     string
	}
	var found []match
	whole, name := alike.Of(&f), alike.Of(&record.Fields{FirstName: f.FirstName, LastName: f.LastName})
	err := v.Store.Each(v.Session.Tenant, record.Query{SortBy: record.ByCreatedAt}, func(other *record.Firefighter) error {
		person := alike.Of(&other.Fields)
		why := cmp.Or(whole.Why(&person), name.Why(&person))
		if other.ID != but && (why != alike.None || name.Named(&person)) {
			found = append(found, match{why, other.Fields, other.ID})
		}
		return nil
	})
	slices.SortStableFunc(found, func(a, b match) int { return cmp.Compare(a.why, b.why) })
	var lines []site.Line
	for _, m := range found[:min(len(found), mostAlike)] {
		line := site.Line{Text: v.Text("person.alike", NameOf(m.fields)), Link: PersonPath(m.id)}
		if born, known := BornOn(m.fields); known {
			line.Text = v.Text("person.alike.born", NameOf(m.fields), strconv.Itoa(born.Year))
		}
		lines = append(lines, line)
	}
	return lines, err
}
