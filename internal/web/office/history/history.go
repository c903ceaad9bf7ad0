// Package history is the part of the office page that shows and undoes changes, and reports
// all stored data about a person.
package history

import (
	"embed"
	"errors"
	"net/http"
	"strconv"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

//go:embed templates messages
var files embed.FS

// Room returns the routes, templates and messages of the history.
func Room() site.Room {
	return site.Room{Files: files, Routes: map[string]site.Route{
		"GET /office/people/{id}/history":        {Scope: store.ScopeRead, Handle: view.Handler(view.WithID(showPersonHistory))},
		"GET /office/people/{id}/report":         {Scope: store.ScopeAdmin, Handle: view.Handler(view.WithID(showReport)), Large: true},
		"GET /office/history":                    {Scope: store.ScopeRead, Handle: view.Handler(showHistory)},
		"GET /office/people/{id}/report.json":    {Scope: store.ScopeAdmin, Handle: view.Handler(view.WithID(sendReport))},
		"POST /office/history/{number}/put-back": {Scope: store.ScopeWrite, Handle: view.Handler(undoChange)},
	}}
}

// historyPage is the Data of history.html.
type historyPage struct {
	ID      string // of the person; empty: the history of the department
	Person  string // address of the person's page
	Deleted bool
	Of      string // name of the import if only its changes are listed
	Filter  historyFilter
	Older   string // address of the next page; empty on the last one
	Newest  string // address of the first page; empty on the first page
	entries
}

func showHistory(v view.Visit) error {
	return renderHistory(v, site.Page{Title: v.Text("history.title"), Section: "history"}, historyPage{})
}

func showPersonHistory(v view.Visit, id string) error {
	f, deleted, err := v.Find(id)
	if err != nil && !errors.As(err, new(*record.DamagedError)) { // the history of a damaged record may be intact
		return err
	}
	data := historyPage{ID: id, Person: view.WithBack(view.PersonPath(id), v.Back()), Deleted: deleted}
	return renderHistory(v, site.Page{Title: v.Text("history.of", view.NameOf(f.Fields)), Section: "list"}, data)
}

// renderHistory responds with the changes that match the address, newest first.
func renderHistory(v view.Visit, p site.Page, data historyPage) error {
	q, err := readFilter(v, data.ID, &data.Filter)
	if err != nil {
		return err
	}
	data.Back = pathWith(v, "before", v.Query().Get("before"))
	if q.Before > 0 {
		data.Newest = pathWith(v, "before", "")
	}
	edits, err := v.Store.Edits(v.Session.Tenant, q, historyLength+1)
	if err != nil && !errors.Is(err, store.ErrNotFound) { // the import does not exist
		return err
	}
	if len(edits) > historyLength {
		edits = edits[:historyLength]
		data.Older = pathWith(v, "before", strconv.FormatInt(edits[historyLength-1].Number, 10))
	}
	for _, e := range edits {
		line := newEntry(v, e)
		if data.ID != "" {
			line.Link = ""
		}
		if q.Import != 0 {
			data.Of, line.By = importName(v, *e.Import), ""
		}
		data.Entries = append(data.Entries, line)
	}
	p.Wrong = len(data.Filter.Faults) > 0
	p.Data = data
	return v.Render(http.StatusOK, "history", p)
}
