package people

import (
	"errors"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// pageLength is the number of people on a page of the list.
const pageLength = 100

var listDefaults = record.Query{Page: 1, PageSize: pageLength, SortBy: record.ByLastName, Letters: true}

// allPeople is a page length larger than any department.
const allPeople = math.MaxUint32

// findPage returns a page of the list, only with the people of an import if imported is not 0.
func findPage(v view.Visit, q record.Query, imported int64) (store.Page, error) {
	if imported == 0 {
		return v.Store.List(v.Session.Tenant, q)
	}
	ids, err := v.Store.Imported(v.Session.Tenant, imported)
	if err != nil {
		return store.Page{}, err
	}
	first := q.Offset()
	q.Page, q.PageSize = 1, allPeople
	found, err := v.Store.List(v.Session.Tenant, q)
	found.Items = slices.DeleteFunc(found.Items, func(f record.Firefighter) bool { return !ids[f.ID] })
	found.Total = int64(len(found.Items))
	found.Items = found.Items[min(found.Total, first):min(found.Total, first+pageLength)]
	return found, err
}

// findIDs returns the IDs of all people of a list, in its order.
func findIDs(v view.Visit, q record.Query, imported int64) ([]string, error) {
	ids, err := v.Store.IDs(v.Session.Tenant, q)
	if err != nil || imported == 0 {
		return ids, err
	}
	people, err := v.Store.Imported(v.Session.Tenant, imported)
	return slices.DeleteFunc(ids, func(id string) bool { return !people[id] }), err
}

// parseList returns the query of the address, and a message for each invalid parameter, which it
// ignores.
func parseList(v view.Visit) (q record.Query, faults []string) {
	q, err := listDefaults.Parse(v.R.URL.RawQuery)
	var invalid record.FieldErrors
	errors.As(err, &invalid)
	for _, e := range invalid {
		faults = append(faults, v.Text("list.fault", e.Field))
	}
	q.PageSize = pageLength
	return q, faults
}

func searchText(v view.Visit) string { return strings.TrimSpace(v.ListQuery().Get("search")) }

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
	q, err := listDefaults.Parse(list.RawQuery)
	if list.Path != site.Root || err != nil {
		return n
	}
	q.PageSize = pageLength
	imported, _ := strconv.ParseInt(query.Get(view.ImportedParameter), 10, 64)
	found, err := findPage(v, q, imported)
	at := slices.IndexFunc(found.Items, func(f record.Firefighter) bool { return f.ID == id })
	if err != nil || at < 0 {
		return n
	}
	n.Searched, n.AfterOn = len(q.Terms) > 0 || imported > 0, v.Back()
	if at > 0 {
		n.Before = found.Items[at-1].ID
	}
	if at+1 == len(found.Items) {
		q.Page, at = q.Page+1, -1
		query.Set("page", strconv.FormatInt(q.Page, 10))
		n.AfterOn = view.ListPath(query)
		found, _ = findPage(v, q, imported)
	}
	if at+1 < len(found.Items) {
		n.After = found.Items[at+1].ID
	}
	return n
}

// movedTo returns the address of the list page with the person of the notice, if a change moved
// the person to another page. After a deletion, it returns the address of the last page if the
// requested one is now empty.
func movedTo(v view.Visit, q record.Query, imported int64, found store.Page) (string, error) {
	for _, what := range view.Notices {
		id := v.Query().Get(what)
		if id == "" {
			continue
		}
		page := q.Page
		if what == "deleted" {
			page = min(page, (found.Total+pageLength-1)/pageLength)
		} else if !slices.ContainsFunc(found.Items, func(f record.Firefighter) bool { return f.ID == id }) {
			ids, err := findIDs(v, q, imported)
			if err != nil {
				return "", err
			}
			page = int64(slices.Index(ids, id)+pageLength) / pageLength
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
