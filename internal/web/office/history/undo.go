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

// errNoEntry is returned if an entry does not exist or cannot be undone.
var errNoEntry = &httpapi.Problem{Kind: httpapi.Kind{Code: "entry", Status: http.StatusNotFound}}

// errChangedSince is returned if a later change affects the same fields.
var errChangedSince = &httpapi.Problem{Kind: httpapi.Kind{Code: "since", Status: http.StatusConflict}}

// errMergedSince is returned if a later change affects a merge.
var errMergedSince = &httpapi.Problem{Kind: httpapi.Kind{Code: "mergedSince", Status: http.StatusConflict}}

// errUnchanged is returned if a record already has the intended fields.
var errUnchanged = errors.New("the record already has these fields")

// undoChange undoes an entry of the history: it restores the previous values of changed fields,
// restores a deleted person or deletes an added one. This is recorded as a change. Later changes
// to the same fields are never overwritten: the response then asks which values to keep.
func undoChange(v view.Visit) error {
	number, _ := strconv.ParseInt(v.R.PathValue("number"), 10, 64) // 0 for an invalid number, which no entry has
	e, err := v.Store.GetEdit(v.Session.Tenant, number)
	if errors.Is(err, store.ErrNotFound) || err == nil && view.IsDamaged(e) {
		return errNoEntry
	}
	if err != nil {
		return err
	}
	if e.Merged != "" {
		return undoMerge(v, e)
	}
	switch e.Action {
	case "create", "undelete":
		return undoAdding(v, e)
	case "delete":
		return people.Undelete(v, e.ID)
	case "replace":
		return undoEdit(v, e)
	}
	return errNoEntry
}

// undoAdding deletes the person that an entry added or restored. It returns errChangedSince if
// the person has changed since.
func undoAdding(v view.Visit, e store.Edit) error {
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

// undoMerge restores both records of a merge as they were. The change to the record that remains, if
// any, comes right before the delete of the other one.
func undoMerge(v view.Visit, e store.Edit) error {
	edit, removal, err := e, e, error(nil)
	if e.Action == "delete" {
		edit, err = v.Store.GetEdit(v.Session.Tenant, e.Number-1)
	} else {
		removal, err = v.Store.GetEdit(v.Session.Tenant, e.Number+1)
	}
	isPair := edit.Action == "replace" && removal.Action == "delete" && edit.Merged == removal.ID && removal.Merged == edit.ID
	switch {
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return err
	case !isPair && e.Action == "delete": // the other record did not change
		return people.Undelete(v, e.ID)
	case !isPair: // the deleted record was permanently deleted
		return undoEdit(v, e)
	case view.IsDamaged(edit):
		return errNoEntry
	}
	err = v.Store.UndoMerge(v.Session.Tenant, v.Session.ID, removal.ID, edit.ID, func(now record.Fields) (record.Fields, error) {
		fields, err := restoreFields(now, edit.Before.Fields, edit.After.Fields)
		if errors.Is(err, errUnchanged) {
			err = nil
		}
		return fields, err
	})
	if errors.Is(err, errChangedSince) || errors.Is(err, store.ErrNotFound) {
		return errMergedSince
	}
	if err != nil {
		return err
	}
	return v.Redirect(view.WithNotice(v.Back(), "restored", removal.ID))
}

// undoEdit sets the fields that an entry changed to their previous values.
func undoEdit(v view.Visit, e store.Edit) error {
	_, err := v.Store.Edit(v.Session.Tenant, v.Session.ID, e.ID, func(now record.Fields) (record.Fields, error) {
		return restoreFields(now, e.Before.Fields, e.After.Fields)
	}, func(record.Firefighter) error { return nil })
	switch {
	case errors.Is(err, errChangedSince), errors.Is(err, store.ErrNotFound), errors.As(err, new(record.FieldErrors)):
		return people.RenderConflict(v, e.ID, e.Before.Fields, e.After.Fields, true)
	case errors.Is(err, errUnchanged):
		return v.Redirect(view.WithNotice(v.Back(), "undone", e.ID))
	case err != nil:
		return err
	}
	return v.Redirect(v.WithUndo(v.Back(), "undone", e.ID))
}

// restoreFields returns the fields now, with the values before a change in the fields that the
// change affected. It returns errChangedSince if one of them has neither the old nor the new
// value, and errUnchanged if all already have the old values.
func restoreFields(now, before, after record.Fields) (record.Fields, error) {
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
