package office

import (
	"cmp"
	"errors"
	"net/url"
	"slices"
	"strconv"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// The way back. A form leads back to the list from which somebody came, with a notice of
// what has happened to a person and at that person's row.

// withBack returns the address of a page whose forms lead back to another one.
func withBack(path, back string) string {
	if back == site.Root { // there they lead in any case
		return path
	}
	return path + "?back=" + url.QueryEscape(back)
}

// withNotice returns the address of a list that shows what has just happened to
// a person, at the person's row.
func withNotice(list, what, id string) string {
	u, _ := url.Parse(list) // which site.LocalPath has checked
	query := u.Query()
	for _, other := range notices {
		query.Del(other)
	}
	query.Set(what, id)
	u.RawQuery, u.Fragment = query.Encode(), ""
	if what != "deleted" {
		u.Fragment = id
	}
	return u.String()
}

// neighbours are who stands next to a person in the list to which a form leads back.
type neighbours struct {
	Before, After string // their ids; empty: nobody
	AfterOn       string // address of the page of the list that has After
	Searched      bool   // the list is a search
}

// neighbours returns who stands next to a person. Nobody does if the form leads back to
// another page than a list, or to a list without the person.
func (v visit) neighbours(id string) (n neighbours, err error) {
	list, _ := url.Parse(v.Back()) // which site.LocalPath has checked
	query := list.Query()
	given, _ := parameters(query)
	q, err := listDefaults.Parse(given.Encode())
	if list.Path != site.Root || err != nil {
		return n, nil
	}
	q.PageSize = pageLength
	imported, _ := strconv.ParseInt(query.Get(importedParameter), 10, 64)
	found, err := v.list(q, imported)
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
		n.AfterOn = listPath(query)
		found, err = v.list(q, imported)
	}
	if at+1 < len(found.Items) {
		n.After = found.Items[at+1].ID
	}
	return n, err
}

// movedTo returns the address of the page of a list that has the person of the notice: a
// change may have moved them. After somebody was deleted it is that of the last page, if
// the one that was asked for is empty now. It is empty where the page is right.
func (v visit) movedTo(q record.Query, imported int64, found store.Page) (string, error) {
	for _, what := range notices {
		id := v.R.URL.Query().Get(what)
		if id == "" {
			continue
		}
		isThey := func(f record.Firefighter) bool { return f.ID == id }
		page := q.Page
		if what == "deleted" {
			page = min(page, (found.Total+pageLength-1)/pageLength)
		} else if !slices.ContainsFunc(found.Items, isThey) {
			whole := q
			whole.Page, whole.PageSize = 1, allPeople
			all, err := v.list(whole, imported)
			if err != nil {
				return "", err
			}
			page = int64(slices.IndexFunc(all.Items, isThey)+pageLength) / pageLength
		}
		if page == 0 || page == q.Page { // 0: not in this list
			return "", nil
		}
		query := v.listQuery()
		query.Set("page", strconv.FormatInt(page, 10))
		return withNotice(listPath(query), what, id), nil
	}
	return "", nil
}

// notices are what can have happened to a person, as parameters of an address.
var notices = []string{"added", "saved", "deleted", "restored"}

// marked returns the id of the person who was just saved: the list marks the row.
func (v visit) marked() string {
	query := v.R.URL.Query()
	return cmp.Or(query.Get("added"), query.Get("saved"), query.Get("restored"))
}

// listNotice returns the notice that the address asks for: nil if there is none,
// or if it is not so any more.
func (v visit) listNotice() (*site.Notice, error) {
	for _, what := range notices {
		id, err := store.ParseRecordID(v.R.URL.Query().Get(what))
		if err != nil {
			continue
		}
		if what == "deleted" {
			return v.deletedNotice(id)
		}
		f, err := v.Store.Get(v.Session.Tenant, id)
		if errors.Is(err, store.ErrNotFound) {
			return nil, nil
		}
		back := v.Back()
		if v.R.URL.Path == site.Root {
			back = listPath(v.listQuery())
		}
		n := &site.Notice{Text: v.Text("notice."+what, nameOf(f.Fields)), Link: withBack(personPath(id), back)}
		if what == "added" {
			n.More, _ = v.alike(f.Fields, id) // it was added in any case
		}
		return n, err
	}
	return nil, nil
}

func (v visit) deletedNotice(id string) (*site.Notice, error) {
	f, err := v.Store.GetDeleted(v.Session.Tenant, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	n := &site.Notice{Text: v.Text("notice.deleted", nameOf(f.Fields))}
	if v.May(store.ScopeWrite) {
		n.Undo = personPath(id) + "/undelete"
	}
	return n, err
}
