package people

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

func showNewPerson(v view.Visit) error {
	data := formPage{Token: v.R.PostForm.Get("token")}
	return renderForm(v, http.StatusOK, data, typedFields(v, "", record.Fields{}), record.Fields{}, nil)
}

func addPerson(v view.Visit) error {
	typed, data := typedFields(v, "", record.Fields{}), formPage{Token: v.R.PostForm.Get("token")}
	fields, faults := normalize(v, typed, "")
	askAboutPhone(v, fields, "", "person.new", faults)
	if len(faults) > 0 {
		return renderForm(v, http.StatusUnprocessableEntity, data, typed, record.Fields{}, faults)
	}
	key := formKey(v, data.Token, fields)
	asks, err := asksAboutAlike(v, fields, key)
	if err != nil {
		return err
	}
	if data.Asks = asks; asks {
		return renderForm(v, http.StatusUnprocessableEntity, data, typed, record.Fields{}, nil)
	}
	f, err := v.Store.Create(v.Session.Tenant, v.Session.ID, fields, key)
	id := f.ID
	if repeated := (*store.RepeatedError)(nil); errors.As(err, &repeated) { // the form was sent twice
		id, err = repeated.ID, nil
	}
	if err != nil {
		return err
	}
	return v.Redirect(v.WithUndo(v.Back(), "added", id))
}

// asksAboutAlike reports whether there are possible duplicates of a new person that the form has not
// shown. It does not ask about a form that was sent twice.
func asksAboutAlike(v view.Visit, fields record.Fields, key *store.IdempotencyKey) (bool, error) {
	found, err := v.Alike(fields, "")
	asks := slices.ContainsFunc(found, func(l site.Line) bool { return !slices.Contains(v.R.PostForm["seen"], l.Link) })
	if err != nil || !asks || key == nil {
		return asks, err
	}
	id, _, err := v.Store.Replay(v.Session.Tenant, key)
	return id == "", err
}

// formKey returns the idempotency key of a form, or nil for a form without a token. The key
// includes the fields, because a user can go back and enter the next person in the same form.
func formKey(v view.Visit, token string, f record.Fields) *store.IdempotencyKey {
	if token == "" {
		return nil
	}
	parts := []string{token}
	for _, value := range f.Each {
		parts = append(parts, *value)
	}
	return v.IdempotencyKey("form-", parts...)
}

// newPersonPath is the address of the form for a new person.
const newPersonPath = site.Root + "people/new"

func showPerson(v view.Visit, id string) error {
	f, deleted, err := v.Find(id)
	form := v.R.PostForm // of a page in another language, or nil
	if err == nil && deleted && form == nil {
		err = store.ErrNotFound
	}
	if err != nil {
		return err
	}
	shown := v.Shown(f.Fields)
	typed, was := typedFields(v, "", shown), typedFields(v, "was.", shown)
	if form.Has("conflict") {
		return showConflict(v, f)
	}
	data := formOf(v, f)
	data.Tag, data.Deleted = cmp.Or(form.Get("tag"), data.Tag), deleted
	return renderForm(v, http.StatusOK, data, typed, was, nil)
}

// savePerson replaces a record if it has not changed since the form was created. Saving values
// that are already stored changes nothing.
func savePerson(v view.Visit, id string) error {
	f, deleted, err := v.Find(id)
	if err != nil {
		return err
	}
	data := formOf(v, f)
	data.Tag, data.Deleted = v.R.PostForm.Get("tag"), deleted
	typed, was := typedFields(v, "", v.Shown(f.Fields)), typedFields(v, "was.", record.Fields{})
	fields, faults := normalize(v, typed, f.DateOfBirth)
	askAboutPhone(v, fields, f.PhoneNumber, "person.save", faults)
	before, _ := normalize(v, was, f.DateOfBirth)
	switch {
	case len(faults) > 0:
		return renderForm(v, http.StatusUnprocessableEntity, data, typed, was, faults)
	case deleted && (v.R.PostForm.Get("restore") == "" || data.Tag != entityTag(v, f)):
		return RenderConflict(v, id, fields, before, false)
	case deleted:
		err = v.Store.Undelete(v.Session.Tenant, v.Session.ID, []string{id})
		if err != nil && !errors.As(err, new(*store.NotDeletedError)) { // already restored
			return err
		}
	}
	_, err = v.Store.Replace(v.Session.Tenant, v.Session.ID, id, fields, func(now record.Firefighter) error {
		switch {
		case now.Fields == fields:
			return errUnchanged
		case entityTag(v, now) != data.Tag:
			return httpapi.ErrPreconditionFailed
		}
		return nil
	})
	switch {
	case errors.Is(err, errUnchanged):
	case errors.Is(err, httpapi.ErrPreconditionFailed), errors.Is(err, store.ErrNotFound):
		return RenderConflict(v, id, fields, before, false)
	case err != nil:
		return err
	}
	to := v.Back()
	if next := v.R.PostForm.Get("then"); next != "" {
		to = site.LocalPath(next)
	}
	if before == fields { // nothing changed
		return v.Redirect(view.WithNotice(to, "saved", id))
	}
	return v.Redirect(v.WithUndo(to, "saved", id))
}

// errUnchanged is returned if a record already has the intended fields.
var errUnchanged = errors.New("the record already has these fields")

// deletePerson soft-deletes a person. Deleting a deleted person is not an error.
func deletePerson(v view.Visit, id string) error {
	next := neighborsOf(v, id)
	err := v.Store.Delete(v.Session.Tenant, v.Session.ID, id, func(record.Firefighter) error { return nil })
	if errors.Is(err, store.ErrNotFound) {
		_, err = v.Store.GetDeleted(v.Session.Tenant, id)
	}
	if err != nil {
		return err
	}
	list := view.WithNotice(v.Back(), "deleted", id)
	if place := cmp.Or(next.After, next.Before); place != "" {
		list += "#" + place
	}
	return v.Redirect(list)
}

// deletePeople soft-deletes the person of the pressed button, or else the selected people.
func deletePeople(v view.Visit) error {
	ids := v.R.PostForm["one"]
	if len(ids) == 0 {
		ids = v.R.PostForm["id"]
	}
	switch len(ids) {
	case 0:
		return v.Redirect(view.WithNotice(v.Back(), "deleted", view.NoOne))
	case 1:
		id, err := record.ParseID(ids[0])
		if err != nil {
			return store.ErrNotFound
		}
		return deletePerson(v, id)
	}
	first, last, err := v.Store.DeleteAll(v.Session.Tenant, v.Session.ID, ids)
	if err != nil {
		return err
	}
	return v.Redirect(view.WithNotice(v.Back(), "deleted", view.ChangeRange(first, last)))
}

// undeletePeople restores the people whom one press of a button deleted.
func undeletePeople(v view.Visit) error {
	ids, err := v.DeletedTogether()
	if err != nil {
		return err
	}
	err = v.Store.Undelete(v.Session.Tenant, v.Session.ID, ids)
	if errors.As(err, new(*store.NotDeletedError)) {
		return undeletePeople(v) // which skips the person who has just been restored
	}
	if err != nil {
		return err
	}
	return v.Redirect(view.WithNotice(v.Back(), "restored", strconv.Itoa(len(ids))))
}

// Undelete restores a person. Restoring a person who is not deleted is not an error.
func Undelete(v view.Visit, id string) error {
	err := v.Store.Undelete(v.Session.Tenant, v.Session.ID, []string{id})
	if errors.As(err, new(*store.NotDeletedError)) {
		_, err = v.Store.Get(v.Session.Tenant, id)
	}
	if err != nil {
		return err
	}
	return v.Redirect(view.WithNotice(v.Back(), "restored", id))
}

// showAlike responds with the possible duplicates of a person being typed, for the script of the
// form. The fields may be invalid.
func showAlike(v view.Visit) error {
	var typed record.Fields
	for d, value := range typed.Each {
		*value = v.Query().Get(d.Name)
	}
	found, err := alikeTyped(v, typed)
	if err != nil {
		return err
	}
	return v.Render(http.StatusOK, "person", site.Page{Part: "alike", Data: formPage{Alike: found}})
}
