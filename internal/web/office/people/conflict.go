package people

import (
	"net/http"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// conflictPage is the Data of conflict.html: somebody else has changed or deleted
// a record since the form was made.
type conflictPage struct {
	ID, Name, Action, Tag string
	Back                  string // address that the form leads back to
	Discard               string // address of what is there without yours
	Choices               []conflictField
	Deleted               bool // not changed but deleted
	Past                  bool // yours is what was there before an entry of the history
}

// conflictField is a field of both versions, as a form shows them. Theirs is chosen where
// you have not touched the field, and else yours. That holds where both have
// changed it, too: theirs is in the history, and yours would be lost.
type conflictField struct {
	Name, Label   string
	Yours, Theirs string
	Same          bool
	KeepTheirs    bool // you have not touched the field
	Both          bool // both have changed it
}

// RenderConflict shows both versions, to choose from field by field. The form
// that it sends is that of the person, made from the record as it is now. For a
// record that was deleted it brings the person back, too. The error is
// store.ErrNotFound if there is no such record any more. past says that nobody has typed
// yours: it is what was there before an entry of the history, and was what came after it.
func RenderConflict(v view.Visit, id string, yours, was record.Fields, past bool) error {
	now, deleted, err := v.Find(id)
	if err != nil {
		return err
	}
	data := conflictPage{ID: id, Name: view.NameOf(now.Fields), Action: view.PersonPath(id), Tag: entityTag(v, now),
		Back: v.Back(), Deleted: deleted, Past: past}
	data.Discard = view.WithBack(data.Action, data.Back)
	switch {
	case past:
		data.Discard = data.Back
	case deleted:
		data.Discard = deletedPath
	}
	theirs, before, shown := view.FieldValues(v.Shown(now.Fields)), view.FieldValues(was), v.Shown(yours)
	for d, value := range shown.Each {
		c := conflictField{Name: d.Name, Label: v.Text("field." + d.Name), Yours: *value, Theirs: theirs[d.Name], Same: *value == theirs[d.Name]}
		c.KeepTheirs = *value == before[d.Name] && (past || v.R.PostForm.Has("was."+d.Name))
		if past && c.KeepTheirs { // the entry has not changed it
			c.Same, c.Yours = true, c.Theirs
		}
		c.Both = !c.Same && !c.KeepTheirs && theirs[d.Name] != before[d.Name]
		data.Choices = append(data.Choices, c)
	}
	title := "conflict.title"
	switch {
	case deleted:
		title = "conflict.deleted"
	case past:
		title = "conflict.since"
	}
	return v.Render(http.StatusConflict, "conflict", site.Page{Title: v.Text(title, data.Name), Section: "list", Data: data})
}
