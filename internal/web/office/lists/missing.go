package lists

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// missingPage is the Data of missing.html.
type missingPage struct {
	File, Token string // empty: the list is no longer kept
	Total       int
	People      []missingPerson // the first of Total
	Unclear     int             // people whom a refused or undecided row may mean
}

type missingPerson struct{ ID, Name, Link, Values string }

// mostMissing is the maximum number of people on the page.
const mostMissing = 500

// showMissing shows who is in the department but not in a list that was imported.
func showMissing(v visit) error {
	query := v.Query()
	data, token := missingPage{}, query.Get("token")
	if l := v.lists.find(v.Session.Tenant, token); l != nil && l.imported.Load() != nil {
		list, err := v.openListAs(*l.imported.Load())
		if err != nil {
			return err
		}
		if list.isRead() {
			list.file.Release()
			found, err := list.file.Compare(v.R.Context(), v.Store, v.Session.Tenant)
			if err != nil {
				return err
			}
			data = v.missingPage(list, found)
		}
	}
	notice := &site.Notice{}
	first, last := query.Get("first"), query.Get("last")
	if n := number(last) - number(first) + 1; number(first) > 0 && n > 0 {
		notice.Text = v.Count("missing.deleted", int(n))
		notice.Undo = view.MissingPath + "/undo?" + url.Values{"token": {token}, "first": {first}, "last": {last}}.Encode()
	} else if query.Has("none") {
		notice.Text = v.Text("missing.select.none")
	} else if query.Has("restored") {
		notice.Text = v.Count("missing.restored", int(number(query.Get("restored"))))
	} else {
		notice = nil
	}
	return v.Render(http.StatusOK, "missing", site.Page{Title: v.Text("missing.title"), Section: "import", Notice: notice, Data: data})
}

// number returns a number of an address, or 0.
func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 32)
	return max(n, 0)
}

func (v visit) missingPage(l *uploadedList, found *imports.Comparison) missingPage {
	missing := found.Rows(imports.OnlyOurs)
	data := missingPage{File: l.name, Token: l.token, Total: len(missing), Unclear: found.Unclear + len(found.Rows(imports.Probably))}
	for _, row := range missing[:min(len(missing), mostMissing)] {
		data.People = append(data.People, missingPerson{*row.ID, view.NameOf(row.Fields), view.PersonPath(*row.ID), v.valuesOf(row.Fields)})
	}
	return data
}

// deleteMissing deletes the person of the button, or the selected people.
func deleteMissing(v visit) error {
	ids := v.R.PostForm["one"]
	if len(ids) == 0 {
		ids = v.R.PostForm["id"]
	}
	query := url.Values{"token": {v.R.PostForm.Get("token")}}
	if len(ids) == 0 {
		query.Set("none", "1")
	} else {
		first, last, err := v.Store.DeleteAll(v.Session.Tenant, v.Session.ID, ids)
		if err != nil {
			return err
		}
		query.Set("first", strconv.FormatInt(first, 10))
		query.Set("last", strconv.FormatInt(last, 10))
	}
	return v.Redirect(view.MissingPath + "?" + query.Encode())
}

// undoMissing restores the people whom one press of a button deleted.
func undoMissing(v visit) error {
	query := v.Query()
	restored, err := v.Store.UndoDelete(v.Session.Tenant, v.Session.ID, number(query.Get("first")), number(query.Get("last")))
	if err != nil {
		return err
	}
	return v.Redirect(view.MissingPath + "?" + url.Values{"token": {query.Get("token")}, "restored": {strconv.Itoa(restored)}}.Encode())
}
