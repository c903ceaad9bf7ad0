package people

import (
	"net/http"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// conflictPage is the Data of conflict.html, which is shown if a record was changed or deleted
// after the form was created.
type conflictPage struct {
	ID, Name, Action, Tag string
	Back                  string // address to which the form leads back
	Discard               string // address of the link that discards your values
	Choices               []conflictField
	Deleted               bool // the person was deleted
	Past                  bool // your values are those before an entry of the history
}

// conflictField is a field of both versions. Theirs is preselected if you did not change the
// field. If both changed it, yours is preselected: the history has theirs, but yours would be
// lost.
type conflictField struct {
	Name, Label   string
	Yours, Theirs string
	Before        string // when the form was created
	Same          bool
	KeepTheirs    bool // you did not change the field
	Both          bool // both changed the field
	OnlyYou       bool // only you changed the field
}

// RenderConflict responds with both versions of a person, to choose from field by field. was has
// the record's values when the form was created. The page's form saves the person, and restores a deleted
// one. With past, yours has the values before an entry of the history, and was those after it.
// RenderConflict returns store.ErrNotFound if the record no longer exists.
func RenderConflict(v view.Visit, id string, yours, was record.Fields, past bool) error {
	now, deleted, err := v.Find(id)
	if err != nil {
		return err
	}
	data := conflictPage{ID: id, Name: view.NameOf(now.Fields), Action: view.PersonPath(id), Tag: entityTag(v, now),
		Back: v.Back(), Deleted: deleted, Past: past}
	title := "conflict.title"
	data.Discard = view.WithBack(data.Action, data.Back)
	switch {
	case past && deleted:
		title, data.Discard = "conflict.deleted", data.Back
	case past:
		title, data.Discard = "conflict.since", data.Back
	case deleted:
		title, data.Discard = "conflict.deleted", deletedPath
	}
	theirs, before, shown := view.FieldValues(v.Shown(now.Fields)), view.FieldValues(v.Shown(was)), v.Shown(yours)
	for d, value := range shown.Each {
		c := conflictField{Name: d.Name, Label: v.Text("field." + d.Name), Yours: *value, Theirs: theirs[d.Name], Before: before[d.Name]}
		c.Same = c.Yours == c.Theirs
		c.KeepTheirs = *value == before[d.Name] && (past || v.R.PostForm.Has("was."+d.Name))
		if past && c.KeepTheirs { // the entry did not change the field
			c.Same, c.Yours = true, c.Theirs
		}
		c.OnlyYou = c.Theirs == before[d.Name]
		c.Both = !c.Same && !c.KeepTheirs && !c.OnlyYou
		data.Choices = append(data.Choices, c)
	}
	status := http.StatusConflict
	if v.R.Method == http.MethodGet { // in another language
		status = http.StatusOK
	}
	return v.Render(status, "conflict", site.Page{Title: v.Text(title, data.Name), Section: "list", Data: data})
}

// showConflict shows a submitted conflict page in another language, with its choices.
func showConflict(v view.Visit, f record.Firefighter) error {
	fields := func(prefix string) record.Fields {
		stored, _ := normalize(v, typedFields(v, prefix, record.Fields{}), f.DateOfBirth)
		return stored
	}
	yours, was, chosen := fields("asked."), fields("before."), v.Shown(fields(""))
	for d, value := range chosen.Each {
		v.R.PostForm.Set(d.Name, *value)
	}
	return RenderConflict(v, f.ID, yours, was, v.R.PostForm.Get("conflict") == "past")
}
