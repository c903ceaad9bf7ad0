package history

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/office/people"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
)

// errNoEntry says that the history has no such entry, or not any more, or none of which
// something can be put back.
var errNoEntry = &httpapi.Problem{Kind: httpapi.Kind{Code: "entry", Status: http.StatusNotFound}}

// errChangedSince says that a record is not as an entry of the history has left it.
var errChangedSince = &httpapi.Problem{Kind: httpapi.Kind{Code: "since", Status: http.StatusConflict}}

// errUnchanged says that a record has the fields already that it should have.
var errUnchanged = errors.New("the record has these fields already")

// putBack brings back what was there before an entry of the history: the fields that it
// has changed, the person whom it has deleted, or the list without the person whom it has
// added. That is a change as any other, with an entry of its own. What came later in the
// same fields is never overwritten: then the page asks, or leads to Delete for a person.
func putBack(v view.Visit) error {
	number, _ := strconv.ParseInt(v.R.PathValue("number"), 10, 64) // no entry has the number 0
	e, err := v.Store.GetEdit(v.Session.Tenant, number)
	if errors.Is(err, store.ErrNotFound) || err == nil && view.IsDamaged(e) {
		return errNoEntry
	}
	if err != nil {
		return err
	}
	switch e.Action {
	case "create", "undelete":
		return takeOff(v, e)
	case "delete":
		return people.Undelete(v, e.ID)
	case "replace":
		return putFieldsBack(v, e)
	}
	return errNoEntry
}

// takeOff deletes the person whom an entry has brought onto the list. The error is
// errChangedSince if something came later.
func takeOff(v view.Visit, e store.Edit) error {
	err := v.Store.Delete(v.Session.Tenant, v.Session.ID, e.ID, func(now record.Firefighter) error {
		if now.Fields != e.After.Fields {
			return errChangedSince
		}
		return nil
	})
	if errors.Is(err, store.ErrNotFound) {
		return v.Redirect(view.WithNotice(v.Back(), "undone", e.ID))
	}
	if err != nil {
		return err
	}
	return v.Redirect(view.WithNotice(v.Back(), "deleted", e.ID))
}

// putFieldsBack sets the fields that an entry has changed to what they were before it. The
// other fields stay as they are.
func putFieldsBack(v view.Visit, e store.Edit) error {
	_, err := v.Store.Edit(v.Session.Tenant, v.Session.ID, e.ID, func(now record.Fields) (record.Fields, error) {
		return putBackInto(now, e.Before.Fields, e.After.Fields)
	}, func(record.Firefighter) error { return nil })
	switch {
	case errors.Is(err, errChangedSince), errors.Is(err, store.ErrNotFound), errors.As(err, new(record.FieldErrors)):
		return people.RenderConflict(v, e.ID, e.Before.Fields, v.Shown(e.After.Fields), true)
	case errors.Is(err, errUnchanged):
		return v.Redirect(view.WithNotice(v.Back(), "undone", e.ID))
	case err != nil:
		return err
	}
	return v.Redirect(v.WithUndo(v.Back(), "undone", e.ID))
}

// putBackInto returns fields with the values from before a change, in those that it has
// changed. The error is errChangedSince if one of them has neither that value nor the one
// that the change gave it, and errUnchanged if all have that value already.
func putBackInto(now, before, after record.Fields) (record.Fields, error) {
	was, then := view.FieldValues(before), view.FieldValues(after)
	err := errUnchanged
	for d, value := range now.Each {
		switch {
		case was[d.Name] == then[d.Name], *value == was[d.Name]:
		case *value != then[d.Name]:
			return now, errChangedSince
		default:
			*value, err = was[d.Name], nil
		}
	}
	return now, err
}
