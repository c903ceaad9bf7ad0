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

// neighbours are who stands next to a person in the list to which a form leads back.
type neighbours struct {
	Before, After string // their ids; empty: nobody
	AfterOn       string // address of the page of the list that has After
	Searched      bool   // the list is a search
}

// neighboursOf returns who stands next to a person. Nobody does if the form leads back to
// another page than a list, or to a list without the person.
func neighboursOf(v view.Visit, id string) (n neighbours, err error) {
	list, _ := url.Parse(v.Back()) // which site.LocalPath has checked
	query := list.Query()
	q, err := listDefaults.Parse(list.RawQuery)
	if list.Path != site.Root || err != nil {
		return n, nil
	}
	q.PageSize = pageLength
	imported, _ := strconv.ParseInt(query.Get(view.ImportedParameter), 10, 64)
	found, err := findPage(v, q, imported)
	at := slices.IndexFunc(found.Items, func(f record.Firefighter) bool { return f.ID == id })
	if err != nil || at < 0 {
		return n, err
	}
	n.Searched, n.AfterOn = len(q.Terms) > 0 || imported > 0, v.Back()
	if at > 0 {
		n.Before = found.Items[at-1].ID
	}
	if at+1 == len(found.Items) {
		q.Page, at = q.Page+1, -1
		query.Set("page", strconv.FormatInt(q.Page, 10))
		n.AfterOn = view.ListPath(query)
		found, err = findPage(v, q, imported)
	}
	if at+1 < len(found.Items) {
		n.After = found.Items[at+1].ID
	}
	return n, err
}

// movedTo returns the address of the page of a list that has the person of the notice: a
// change may have moved them. After somebody was deleted it is that of the last page, if
// the one that was asked for is empty now. It is empty where the page is right.
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
		if page == 0 || page == q.Page { // 0: not in this list
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
