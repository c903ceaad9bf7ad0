package lists

import (
	"net/http"

	"github.com/firefighter-records/firefighters/internal/lists/imports"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// missingPage is the Data of missing.html.
type missingPage struct {
	File    string // empty: the list is no longer kept
	Back    string // address of the page
	Total   int
	People  []missingPerson // the first of Total
	Unclear int             // people whom a refused or undecided row may mean
}

type missingPerson struct{ ID, Name, Link, Values string }

// mostMissing is the maximum number of people on the page.
const mostMissing = 500

// showMissing shows who is in the department but not in a list that was imported.
func showMissing(v visit) error {
	data := missingPage{}
	if l := v.lists.find(v.Session.Tenant, v.Query().Get("token")); l != nil && l.imported.Load() != nil {
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
	return v.Render(http.StatusOK, "missing", site.Page{Title: v.Text("missing.title"), Section: "import", Data: data})
}

func (v visit) missingPage(l *uploadedList, found *imports.Comparison) missingPage {
	missing := found.Rows(imports.OnlyOurs)
	data := missingPage{File: l.name, Back: view.MissingPath + "?token=" + l.token, Total: len(missing),
		Unclear: found.Unclear + len(found.Rows(imports.Probably))}
	for _, row := range missing[:min(len(missing), mostMissing)] {
		data.People = append(data.People, missingPerson{*row.ID, view.NameOf(row.Fields), view.PersonPath(*row.ID), v.valuesOf(row.Fields)})
	}
	return data
}
