// Package paper is the part of the office page for printed lists, the codes that show whether
// they are up to date, and birthdays.
package paper

import (
	"cmp"
	"embed"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/fold"
	"github.com/firefighter-records/firefighters/internal/text/phone"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

//go:embed templates messages
var files embed.FS

// Room returns the routes, templates and messages of printed lists.
func Room() site.Room {
	return site.Room{Files: files, Routes: map[string]site.Route{
		"GET /office/print":         {Scope: store.ScopeRead, Handle: view.Handler(showPrint), Large: true},
		"GET /office/paper":         {Scope: store.ScopeRead, Handle: view.Handler(showPaper), Large: true},
		"GET /office/birthdays":     {Scope: store.ScopeRead, Handle: view.Handler(showBirthdays), Large: true},
		"GET /office/birthdays.ics": {Scope: store.ScopeRead, Handle: view.Handler(sendCalendar), Large: true},
	}}
}

// paperPage is the Data of paper.html.
type paperPage struct {
	Code  string // as typed
	Fault string // message for an invalid code

	Since, Now              string // the code as typed, and the current code
	Added, Deleted, Changed []paperPerson
	QR                      template.HTML // of this page with the current code
	Erased                  int           // number of people permanently deleted since
	Count                   int64
	Date                    time.Time
}

// paperPerson is a person whose printed line is out of date.
type paperPerson struct {
	view.Person
	Fields []view.Difference // of a changed person
}

// showPaper responds with the changes since a list was printed.
func showPaper(v view.Visit) error {
	data := paperPage{Code: v.Query().Get("code"), Date: v.Now()}
	if strings.TrimSpace(data.Code) != "" {
		if err := comparePaper(v, &data); err != nil {
			return err
		}
	}
	return v.Render(http.StatusOK, "paper", site.Page{Title: v.Text("paper.title"), Section: "paper", Wrong: data.Fault != "", Data: data})
}

// comparePaper compares the printed list of a code with the current one, as printed.
func comparePaper(v view.Visit, data *paperPage) error {
	now, err := v.Store.List(v.Session.Tenant, record.Query{Page: 1, PageSize: 1, SortBy: record.ByLastName})
	if err != nil {
		return err
	}
	codes := codesOf(v)
	version, known := codes.version(data.Code, now.Version)
	if !known {
		data.Fault = v.Text("paper.unknown")
		return nil
	}
	data.Since, data.Now, data.Count = codes.of(version), codes.of(now.Version), now.Total
	if data.QR, err = paperQR(v, data.Now); err != nil {
		return err
	}
	differences, erased, err := v.Store.ChangedSince(v.Session.Tenant, version)
	if err != nil {
		return err
	}
	data.Erased = erased
	country, err := v.Store.Country(v.Session.Tenant)
	if err != nil {
		return err
	}
	today := v.Today()
	for _, d := range differences {
		switch {
		case d.Then == nil:
			data.Added = append(data.Added, paperPerson{Person: v.Person(d.Now, today)})
		case d.Now == nil:
			data.Deleted = append(data.Deleted, paperPerson{Person: v.Person(d.Then, today)})
		default:
			if v.Birth(d.Then.Fields) == v.Birth(d.Now.Fields) {
				d.Then.DateOfBirth = d.Now.DateOfBirth // differs only in time or offset
			}
			if phone.Same(d.Then.PhoneNumber, d.Now.PhoneNumber, country) {
				d.Then.PhoneNumber = d.Now.PhoneNumber
			}
			if fields := v.Differences(d.Then.Fields, d.Now.Fields); len(fields) > 0 {
				data.Changed = append(data.Changed, paperPerson{v.Person(d.Now, today), fields})
			}
		}
	}
	for _, people := range [][]paperPerson{data.Added, data.Deleted, data.Changed} {
		slices.SortStableFunc(people, func(a, b paperPerson) int {
			return cmp.Or(cmp.Compare(fold.String(a.LastName), fold.String(b.LastName)),
				cmp.Compare(fold.String(a.FirstName), fold.String(b.FirstName)))
		})
	}
	return nil
}
