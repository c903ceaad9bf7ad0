package office

import (
	"net/http"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// conflictPage is the Data of conflict.html: somebody else has changed or deleted
// a record since the form was made.
type conflictPage struct {
	ID, Name, Action, Tag string
	Choices               []conflictField
	Deleted               bool // not changed but deleted
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

// renderConflict shows both versions, to choose from field by field. The form
// that it sends is that of the person, made from the record as it is now. For a
// record that was deleted it brings the person back, too. The error is
// store.ErrNotFound if there is no such record any more.
func (v visit) renderConflict(id string, yours, was record.Fields) error {
	now, deleted, err := v.find(id)
	if err != nil {
		return err
	}
	data := conflictPage{ID: id, Name: nameOf(now.Fields), Action: personPath(id), Tag: entityTag(now), Deleted: deleted}
	if day, err := v.Lang.ParseDay(was.DateOfBirth); err == nil {
		was.DateOfBirth = v.Lang.Day(day) // the form may have had another language
	}
	theirs, before, shown := fieldValues(v.shown(now.Fields)), fieldValues(was), v.shown(yours)
	for d, value := range shown.Each {
		c := conflictField{Name: d.Name, Label: v.Text("field." + d.Name), Yours: *value, Theirs: theirs[d.Name], Same: *value == theirs[d.Name]}
		c.KeepTheirs = *value == before[d.Name] && v.R.PostForm.Has("was."+d.Name)
		c.Both = !c.Same && !c.KeepTheirs && theirs[d.Name] != before[d.Name]
		data.Choices = append(data.Choices, c)
	}
	title := "conflict.title"
	if deleted {
		title = "conflict.deleted"
	}
	return v.Render(http.StatusConflict, "conflict", site.Page{Title: v.Text(title, data.Name), Section: "list", Data: data})
}
