package office

import (
	"cmp"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

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

// withParameter returns an address with another value of a parameter.
func withParameter(address, name, value string) string {
	u, _ := url.Parse(address) // which site.LocalPath has checked
	query := u.Query()
	query.Set(name, value)
	u.RawQuery = query.Encode()
	return u.String()
}

// withNotice returns the address of a list that shows what has just happened to
// a person, at the person's row.
func withNotice(list, what, id string) string {
	u, _ := url.Parse(list) // which site.LocalPath has checked
	query := u.Query()
	for _, other := range append(notices, entryParameter) {
		query.Del(other)
	}
	query.Set(what, id)
	u.RawQuery, u.Fragment = query.Encode(), ""
	if what != "deleted" {
		u.Fragment = id
	}
	return u.String()
}

// entryParameter names, beside a notice, the entry of the history that it is about.
const entryParameter = "entry"

// withUndo is as withNotice, after a change that the visitor has made at this moment. The
// notice offers to undo it.
func (v visit) withUndo(list, what, id string) string {
	made, _ := v.ownEdit(id) // the history can undo it, too
	return withEntry(withNotice(list, what, id), made)
}

// withEntry returns the address of a notice that is about an entry of the history. The entry
// may be nil.
func withEntry(list string, e *store.Edit) string {
	if e == nil {
		return list
	}
	return withParameter(list, entryParameter, strconv.FormatInt(e.Number, 10))
}

// ownEdit returns the newest change of a person that this session has made, nil for none.
func (v visit) ownEdit(id string) (*store.Edit, error) {
	made, err := v.Store.Edits(v.Session.Tenant, store.EditQuery{Records: []string{id}, Keys: []store.KeyID{v.Session.ID}}, 1)
	if err != nil || len(made) == 0 {
		return nil, err
	}
	return &made[0], nil
}

// newestEntry returns the entry that the address names, nil for none, or if something
// came after it for the person.
func (v visit) newestEntry(id string) (*store.Edit, error) {
	number := v.Query().Get(entryParameter)
	if number == "" {
		return nil, nil
	}
	newest, err := v.Store.Edits(v.Session.Tenant, store.EditQuery{Records: []string{id}}, 1)
	if err != nil || len(newest) == 0 || strconv.FormatInt(newest[0].Number, 10) != number || isDamaged(newest[0]) {
		return nil, err
	}
	return &newest[0], nil
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
	q, err := listDefaults.Parse(list.RawQuery)
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
		id := v.Query().Get(what)
		if id == "" {
			continue
		}
		page := q.Page
		if what == "deleted" {
			page = min(page, (found.Total+pageLength-1)/pageLength)
		} else if !slices.ContainsFunc(found.Items, func(f record.Firefighter) bool { return f.ID == id }) {
			ids, err := v.ids(q, imported)
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
			return listPath(query), nil
		}
		return listPath(query) + "#" + url.PathEscape(id), nil
	}
	return "", nil
}

// notices are what can have happened to a person, as parameters of an address.
var notices = []string{"added", "saved", "undone", "deleted", "restored"}

// marked returns the id of the person who was just saved: the list marks the row.
func (v visit) marked() string {
	query := v.Query()
	return cmp.Or(query.Get("added"), query.Get("saved"), query.Get("undone"), query.Get("restored"))
}

// Render answers with a page, and with the notice of what has just happened to a person or
// of a first step that was done: any page can be the one that a form leads back to.
func (v visit) Render(status int, name string, p site.Page) error {
	if v.R.Method != http.MethodPost && p.Part == "" {
		happened, err := v.personNotice()
		if happened == nil && err == nil {
			happened, err = v.stepNotice()
		}
		if err != nil {
			return err
		}
		if happened != nil {
			p.Notice = happened
		}
	}
	return v.Visit.Render(status, name, p)
}

// personNotice returns the notice about a person that the address asks for: nil if there
// is none, or if it is not so any more.
func (v visit) personNotice() (*site.Notice, error) {
	for _, what := range notices {
		id, err := record.ParseID(v.Query().Get(what))
		if err != nil {
			continue
		}
		var n *site.Notice
		switch what {
		case "deleted":
			n, err = v.deletedNotice(id)
		case "undone":
			n, err = v.undoneNotice(id)
		default:
			n, err = v.savedNotice(what, id)
		}
		if n != nil && !v.May(store.ScopeWrite) {
			n.Undo = ""
		}
		return n, err
	}
	return nil, nil
}

// savedNotice returns the notice for somebody who was added, saved or brought back.
func (v visit) savedNotice(what, id string) (*site.Notice, error) {
	f, err := v.Store.Get(v.Session.Tenant, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	back := v.Back()
	if v.R.URL.Path == site.Root {
		back = listPath(v.listQuery())
	}
	n := &site.Notice{Text: v.Text("notice."+what, nameOf(f.Fields)), Link: withBack(personPath(id), back)}
	if what == "added" {
		n.More, _ = v.alike(f.Fields, id) // it was added in any case
	}
	e, err := v.newestEntry(id)
	if e != nil {
		n.Undo = putBackPath(e.Number)
	}
	return n, err
}

func (v visit) deletedNotice(id string) (*site.Notice, error) {
	f, err := v.Store.GetDeleted(v.Session.Tenant, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return &site.Notice{Text: v.Text("notice.deleted", nameOf(f.Fields)), Undo: personPath(id) + "/undelete"}, err
}

// undoneNotice returns the notice of the entry that putting something back has made.
// Without an entry there was nothing to put back.
func (v visit) undoneNotice(id string) (*site.Notice, error) {
	if !v.Query().Has(entryParameter) {
		return &site.Notice{Text: v.Text("history.putBack.nothing")}, nil
	}
	e, err := v.newestEntry(id)
	if e == nil || e.Before == nil || e.After == nil {
		return nil, err
	}
	var labels []string
	for _, d := range v.differences(e.Before.Fields, e.After.Fields) {
		labels = append(labels, d.Label)
	}
	return &site.Notice{Text: v.Text("history.putBack.done", nameOf(e.After.Fields), strings.Join(labels, ", ")), Undo: putBackPath(e.Number)}, nil
}
