package office

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/text/fold"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// paperPage is the Data of paper.html.
type paperPage struct {
	Code     string // as typed
	Fault    string // message; empty: the code is one of this list, or none was typed
	Compared bool   // what follows is known

	UpToDate                bool
	Since, Now              string // the code that was typed, and that of a list printed now
	Added, Deleted, Changed []paperPerson
	Erased                  int // people erased for good since, of whom nothing is known
	Count                   int64
	Date                    time.Time
}

// paperPerson is somebody whose line on a paper is wrong.
type paperPerson struct {
	person
	Fields []difference // of somebody who has changed
}

// showPaper says what has changed since a list was printed.
func showPaper(v visit) error {
	data := paperPage{Code: v.R.URL.Query().Get("code"), Date: v.now()}
	if strings.TrimSpace(data.Code) != "" {
		if err := v.comparePaper(&data); err != nil {
			return err
		}
	}
	return v.Render(http.StatusOK, "paper", site.Page{Title: v.Text("paper.title"), Section: "paper", Wrong: data.Fault != "", Data: data})
}

func (v visit) comparePaper(data *paperPage) error {
	q := listDefaults
	q.PageSize = 1
	now, err := v.Store.List(v.Session.Tenant, q)
	if err != nil {
		return err
	}
	codes, err := v.codes()
	if err != nil {
		return err
	}
	version, known := codes.version(data.Code, now.Version)
	if !known {
		data.Fault = v.Text("paper.unknown")
		return nil
	}
	data.Since, data.Now, data.Count = codes.of(version), codes.of(now.Version), now.Total
	data.Compared = true
	return v.addDifferences(data, version)
}

// addDifferences compares a list of a version with today's. Only what a paper
// shows counts.
func (v visit) addDifferences(data *paperPage, version int64) error {
	differences, erased, err := v.Store.ChangedSince(v.Session.Tenant, version)
	if err != nil {
		return err
	}
	today := v.today()
	for _, d := range differences {
		switch {
		case d.Then == nil:
			data.Added = append(data.Added, paperPerson{person: v.person(d.Now, today)})
		case d.Now == nil:
			data.Deleted = append(data.Deleted, paperPerson{person: v.person(d.Then, today)})
		default:
			if v.birth(d.Then.Fields) == v.birth(d.Now.Fields) {
				d.Then.DateOfBirth = d.Now.DateOfBirth // another time or offset
			}
			if fields := v.differences(d.Then.Fields, d.Now.Fields); len(fields) > 0 {
				data.Changed = append(data.Changed, paperPerson{v.person(d.Now, today), fields})
			}
		}
	}
	for _, people := range [][]paperPerson{data.Added, data.Deleted, data.Changed} {
		slices.SortStableFunc(people, byName)
	}
	data.Erased = erased
	data.UpToDate = len(data.Added)+len(data.Deleted)+len(data.Changed)+erased == 0
	return nil
}

func byName(a, b paperPerson) int {
	return cmp.Or(cmp.Compare(fold.String(a.LastName), fold.String(b.LastName)), cmp.Compare(fold.String(a.FirstName), fold.String(b.FirstName)))
}
