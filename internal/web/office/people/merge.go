package people

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// mergePage is the Data of merge.html: two records side by side or, without With, the people to choose
// the second one from.
type mergePage struct {
	ID, With     string
	Name         string
	Tag, WithTag string // entity tags of the records shown
	Back         string
	Choices      []mergeField
	TwoUsers     bool // the records cannot be merged
	Changed      bool // a record has changed since the page was shown
	Search       string
	People       []mergeLink
}

// mergeField is a field of both records. The newer value is preselected, or the only one.
type mergeField struct {
	Name, Label string
	One, Other  string
	TakeOther   bool
}

// mergeLink is a person with the address of the page that shows both records.
type mergeLink struct {
	view.Person
	Link string
}

// secondRecord returns the ID of the second record of a merge.
func secondRecord(v view.Visit, id string) (string, error) {
	with, err := record.ParseID(cmp.Or(v.R.PostForm.Get("with"), v.Query().Get("with")))
	if err != nil || with == id {
		return "", store.ErrNotFound
	}
	return with, nil
}

// bothRecords returns the records of a merge.
func bothRecords(v view.Visit, id string) (one, other record.Firefighter, err error) {
	with, err := secondRecord(v, id)
	if err != nil {
		return one, other, err
	}
	if one, err = v.Store.Get(v.Session.Tenant, id); err != nil {
		return one, other, err
	}
	other, err = v.Store.Get(v.Session.Tenant, with)
	return one, other, err
}

func mergePath(id, with, back string) string {
	return view.WithParameter(view.WithBack(view.PersonPath(id)+"/merge", back), "with", with)
}

func showMerge(v view.Visit, id string) error {
	if v.Query().Has("with") {
		return renderMerge(v, id, http.StatusOK)
	}
	f, err := v.Store.Get(v.Session.Tenant, id)
	if err != nil {
		return err
	}
	data := mergePage{ID: id, Back: v.Back(), Search: strings.TrimSpace(v.Query().Get("search"))}
	var found store.Page
	if data.Search == "" {
		found.Items, err = v.AlikePeople(f.Fields, id)
	} else {
		q, _ := record.Query{Page: 1, PageSize: maxPairs, SortBy: record.ByLastName}.Parse(v.R.URL.RawQuery)
		found, err = v.Store.List(v.Session.Tenant, q)
	}
	if err != nil {
		return err
	}
	others := slices.DeleteFunc(found.Items, func(other record.Firefighter) bool { return other.ID == id })
	for _, person := range v.People(others) {
		data.People = append(data.People, mergeLink{person, mergePath(id, person.ID, data.Back)})
	}
	return v.Render(http.StatusOK, "merge", site.Page{Title: v.Text("merge.choose", view.NameOf(f.Fields)), Section: "list", Data: data})
}

// renderMerge responds with both records.
func renderMerge(v view.Visit, id string, status int) error {
	one, other, err := bothRecords(v, id)
	if err != nil {
		return err
	}
	data := mergePage{ID: id, With: other.ID, Tag: entityTag(v, one), WithTag: entityTag(v, other), Back: v.Back()}
	_, _, err = store.Survivor(&one, &other)
	data.TwoUsers = err != nil
	data.Changed = status != http.StatusOK && !data.TwoUsers
	shown, values := v.Shown(one.Fields), view.FieldValues(v.Shown(other.Fields))
	for d, value := range shown.Each {
		c := mergeField{Name: d.Name, Label: v.Text("field." + d.Name), One: *value, Other: values[d.Name]}
		c.TakeOther = c.One == "" || c.Other != "" && one.UpdatedAt < other.UpdatedAt
		data.Choices = append(data.Choices, c)
	}
	return v.Render(status, "merge", site.Page{Title: v.Text("merge.title"), Section: "list", Wrong: data.Changed, Data: data})
}

// merge merges two records with the chosen values.
func merge(v view.Visit, id string) error {
	one, other, err := bothRecords(v, id)
	if errors.Is(err, store.ErrNotFound) {
		return alreadyMerged(v, id)
	}
	if err != nil {
		return err
	}
	fields, values := one.Fields, view.FieldValues(other.Fields)
	for d, value := range fields.Each {
		if v.R.PostForm.Get(d.Name) == "other" {
			*value = values[d.Name]
		}
	}
	kept, removed, err := v.Store.Merge(v.Session.Tenant, v.Session.ID, id, other.ID, fields, func(one, other record.Firefighter) error {
		if entityTag(v, one) != v.R.PostForm.Get("tag") || entityTag(v, other) != v.R.PostForm.Get("withTag") {
			return httpapi.ErrPreconditionFailed
		}
		return nil
	})
	switch {
	case errors.Is(err, httpapi.ErrPreconditionFailed), errors.Is(err, store.ErrTwoUsers):
		return renderMerge(v, id, http.StatusConflict)
	case err != nil:
		return err
	}
	return v.Redirect(v.WithUndoMerge(v.Back(), kept, removed))
}

// alreadyMerged responds like merge if the form was sent twice.
func alreadyMerged(v view.Visit, id string) error {
	with, err := secondRecord(v, id)
	if err != nil {
		return err
	}
	newest, err := v.Store.Edits(v.Session.Tenant, store.EditQuery{Records: []string{id, with}}, 1)
	if err != nil {
		return err
	}
	if len(newest) == 0 || newest[0].Action != "delete" || newest[0].Merged != id && newest[0].Merged != with {
		return store.ErrNotFound
	}
	return v.Redirect(v.WithUndoMerge(v.Back(), newest[0].Merged, newest[0].ID))
}
