// Package people is the part of the office page for the list of people, the form of a person,
// and deleted people.
package people

import (
	"cmp"
	"embed"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/office/access"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

//go:embed templates messages
var files embed.FS

// Room returns the routes, templates and messages of people.
func Room() site.Room {
	return site.Room{Files: files, Routes: map[string]site.Route{
		"GET /office/{$}":          {Scope: store.ScopeRead, Handle: view.Handler(showList)},
		"GET /office/emails":       {Scope: store.ScopeRead, Handle: view.Handler(showEmails), Large: true},
		"GET /office/people/new":   {Scope: store.ScopeWrite, Handle: view.Handler(showNewPerson)},
		"GET /office/people/alike": {Scope: store.ScopeWrite, Handle: view.Handler(showAlike), Large: true},
		"POST /office/people":      {Scope: store.ScopeWrite, Handle: view.Handler(addPerson), Form: newPersonPath + "#person"},
		"GET /office/people/{id}":  {Scope: store.ScopeRead, Handle: view.Handler(view.WithID(showPerson))},
		"POST /office/people/{id}": {Scope: store.ScopeWrite, Handle: view.Handler(view.WithID(savePerson)),
			Form: "/office/people/{id}#person"},
		"POST /office/people/delete":        {Scope: store.ScopeWrite, Handle: view.Handler(deletePeople)},
		"POST /office/people/undelete":      {Scope: store.ScopeWrite, Handle: view.Handler(undeletePeople)},
		"POST /office/people/{id}/delete":   {Scope: store.ScopeWrite, Handle: view.Handler(view.WithID(deletePerson))},
		"POST /office/people/{id}/undelete": {Scope: store.ScopeWrite, Handle: view.Handler(view.WithID(Undelete))},
		"GET /office/people/{id}/merge":     {Scope: store.ScopeWrite, Handle: view.Handler(view.WithID(showMerge)), Large: true},
		"POST /office/people/{id}/merge":    {Scope: store.ScopeWrite, Handle: view.Handler(view.WithID(merge))},
		"POST /office/people/{id}/distinct": {Scope: store.ScopeWrite, Handle: view.Handler(view.WithID(setDistinct))},
		"GET /office/duplicates":            {Scope: store.ScopeWrite, Handle: view.Handler(showDuplicates), Large: true},
		"GET /office/deleted":               {Scope: store.ScopeRead, Handle: view.Handler(showDeleted)},
		"GET /office/deleted/erase":         {Scope: store.ScopeAdmin, Handle: view.Handler(showErase), Large: true},
		"POST /office/deleted/erase":        {Scope: store.ScopeAdmin, Handle: view.Handler(erase), Large: true},
	}}
}

// listPage is the Data of list.html.
type listPage struct {
	Search       string
	Searched     bool  // the list has only some people
	Total, Found int64 // people of the department, and of the list
	Columns      []sortColumn
	Sorted       sortColumn // empty if people are listed in the order in which they were added
	People       []view.Person
	HasStatus    bool // a person on the page has a status
	Letters      []letterLink
	Pages        *pager
	Faults       []string      // about invalid parameters of the address
	Add          string        // address of the form for a new person
	Steps        *access.Steps // nil if there are none to show

	Missing  []view.Choice // links to filters
	Filters  url.Values    // parameters of the filters that are on
	Unsorted url.Values    // parameters of the list except its order and page
	Query    string        // all parameters of the list, for links
	Back     string        // address of the list
	From     string        // query for links to people, so that their pages lead back to the list
	Marked   string        // id of the person who was just saved
	Call     [2]string     // text before and after the name in "Call Ana Čović"
}

func showList(v view.Visit) error {
	l, err := v.List(v.R.URL.RawQuery)
	if err != nil {
		return err
	}
	l.Query.Letters = true
	found, err := v.Store.List(v.Session.Tenant, l.Query)
	if err != nil {
		return err
	}
	if moved, err := movedTo(v, l.Query, found); err != nil {
		return err
	} else if moved != "" {
		return v.Redirect(moved)
	}
	data := newListPage(v, l.Query, found)
	data.Searched, data.Faults = l.Only != "", l.Faults
	p := site.Page{Title: v.Text("list.title"), Department: found.Department, Section: "list", Wrong: len(l.Faults) > 0, Notice: l.Notice}
	if v.Query().Get("part") == "results" { // for search as you type
		p.Part = "results"
	} else if !data.Searched && l.Query.Page == 1 {
		if data.Steps, err = access.FirstSteps(v, data.Total); err != nil {
			return err
		}
	}
	p.Data = data
	return v.Render(http.StatusOK, "list", p)
}

func newListPage(v view.Visit, q record.Query, found store.Page) *listPage {
	parameters := v.ListQuery()
	address := view.ListPath(parameters)
	unsorted := maps.Clone(parameters)
	for _, name := range []string{"sortBy", "sortDir", "page"} {
		unsorted.Del(name)
	}
	filters := maps.Clone(unsorted)
	for _, name := range []string{"search", view.ImportedParameter} {
		filters.Del(name)
	}
	p := &listPage{
		Missing: v.Missing(), Filters: filters,
		Search: strings.TrimSpace(parameters.Get("search")), Found: found.Total, Total: found.People,
		People: v.People(found.Items), Add: view.WithBack(newPersonPath, address),
		Unsorted: unsorted, Query: strings.TrimPrefix(address, site.Root), Back: address, From: view.WithBack("", address), Marked: markedID(v),
		Pages: newPager(v, site.Root, q, found.Total),
	}
	p.Columns, p.Sorted = sortColumns(v, q, unsorted)
	p.Letters = letterLinks(found.Letters, q, parameters, p.People)
	p.HasStatus = slices.ContainsFunc(p.People, func(one view.Person) bool { return one.Status != "" })
	const name = "\x00"
	p.Call[0], p.Call[1], _ = strings.Cut(v.Text("list.call", name), name)
	return p
}

// markedID returns the ID of the person just saved, whose row the list marks.
func markedID(v view.Visit) string {
	query := v.Query()
	return cmp.Or(query.Get("added"), query.Get("saved"), query.Get("undone"), query.Get("restored"), query.Get("merged"))
}
