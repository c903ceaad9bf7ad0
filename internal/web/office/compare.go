package office

import (
	"time"

	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// comparePage is the Data of compare.html.
type comparePage struct {
	Tabs    []tab
	Reading reading
	Result  *comparison // nil: there is nothing to compare yet
}

// comparison is a list beside ours.
type comparison struct {
	Date       time.Time
	OnlyTheirs []broughtRow
	OnlyOurs   []broughtRow
	Differ     []broughtRow
	Refused    []broughtRow
	Same       int
	Unclear    int // people of ours whom only refused rows mean
}

// compareList asks for a list, or shows what is different between it and ours. It
// changes nothing.
func compareList(v visit) error {
	l, err := v.openList()
	if err != nil {
		return err
	}
	data := comparePage{Tabs: v.tabs(comparePath), Reading: v.reading(l)}
	if l.file != nil && len(l.faults) == 0 {
		l.file.Release()
		found, err := l.file.Compare(v.R.Context(), v.Store, v.Session.Tenant)
		if err != nil {
			return err
		}
		data.Result = v.comparison(found)
	}
	v.setReturn(v.readingPath(comparePath, l.keptList))
	p := site.Page{Title: v.Text("compare.title"), Section: listsSection, Wrong: len(data.Reading.Faults) > 0, Data: data}
	return v.Render(l.status(""), "compare", p)
}

func (v visit) comparison(found *imports.Comparison) *comparison {
	c := &comparison{Date: v.now(), Same: found.Same, Unclear: found.Unclear}
	for _, row := range found.OnlyTheirs {
		l := broughtRow{Row: row.Row, Name: row.Name, Values: v.valuesOf(row.Fields)}
		c.OnlyTheirs = append(c.OnlyTheirs, l)
	}
	for _, f := range found.OnlyOurs {
		c.OnlyOurs = append(c.OnlyOurs, broughtRow{Name: f.FirstName + " " + f.LastName, Link: personPath(f.ID), Values: v.valuesOf(f.Fields)})
	}
	for _, row := range found.Differ {
		c.Differ = append(c.Differ, v.broughtRow(*row))
	}
	for _, row := range found.Refused {
		c.Refused = append(c.Refused, v.broughtRow(*row))
	}
	return c
}
