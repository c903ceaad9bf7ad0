package people

import (
	"maps"
	"net/url"
	"slices"
	"strconv"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// neighbors are the people next to a person in the list to which a form leads back.
type neighbors struct {
	Before, After string // IDs; empty if there is none
	AfterOn       string // address of the list page with After
	Searched      bool   // the list is a search
}

// neighborsOf returns the neighbors of a person. There are none if the form leads back to
// another page or to a list without the person, or if the list cannot be read.
func neighborsOf(v view.Visit, id string) (n neighbors) {
	list, _ := url.Parse(v.Back()) // checked by site.LocalPath
	query := list.Query()
	l, err := v.List(list.RawQuery)
	if list.Path != site.Root || err != nil || len(l.Faults) > 0 {
		return n
	}
	q := l.Query
	found, err := v.Store.List(v.Session.Tenant, q)
	at := slices.IndexFunc(found.Items, func(f record.Firefighter) bool { return f.ID == id })
	if err != nil || at < 0 {
		return n
	}
	n.Searched, n.AfterOn = l.Only != "", v.Back()
	if at > 0 {
		n.Before = found.Items[at-1].ID
	}
	if at+1 == len(found.Items) {
		q.Page, at = q.Page+1, -1
		query.Set("page", strconv.FormatInt(q.Page, 10))
		n.AfterOn = view.ListPath(query)
		found, _ = v.Store.List(v.Session.Tenant, q)
	}
	if at+1 < len(found.Items) {
		n.After = found.Items[at+1].ID
	}
	return n
}

// movedTo returns the address of the list page with the person of the notice, if a change moved
// the person to another page. After a deletion, it returns the address of the last page if the
// requested one is now empty.
func movedTo(v view.Visit, q record.Query, found store.Page) (string, error) {
	for _, what := range view.Notices {
		id := v.Query().Get(what)
		if id == "" {
			continue
		}
		page := q.Page
		if what == "deleted" {
			page = min(page, (found.Total+view.PageLength-1)/view.PageLength)
		} else if !slices.ContainsFunc(found.Items, func(f record.Firefighter) bool { return f.ID == id }) {
			ids, err := v.Store.IDs(v.Session.Tenant, q)
			if err != nil {
				return "", err
			}
			page = int64(slices.Index(ids, id)+view.PageLength) / view.PageLength
		}
		if page == 0 || page == q.Page { // 0: the person is not in this list
			return "", nil
		}
		query := maps.Clone(v.Query())
		query.Set("page", strconv.FormatInt(page, 10))
		if what == "deleted" {
			return view.ListPath(query), nil
		}
		return view.ListPath(query) + "#" + url.PathEscape(id), nil
	}
	return "", nil
}
