package office

import (
	"cmp"
	"crypto/rand"
	"errors"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/lang"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// formPage is the Data of person.html: the form for a new person or for one that
// is there.
type formPage struct {
	ID      string // empty: a new person
	Name    string // of the person as stored
	Action  string // address that the form is sent to
	Back    string // address that the form leads back to
	Place   string // that address, at the person
	History string // address of the person's history
	Next    string // address of the form for who comes next in the search; empty: nobody
	Inputs  []input
	Faults  []input // those with a fault
	Facts   []input // those with a value beside the name, for who may only read
	Tag     string  // entity tag of the record that the form was made from
	Deleted bool    // while the form was open
	Token   string  // tells a form that is sent twice from two forms
	Resumed bool    // after a new sign-in; nothing is saved yet
	Person  view.Person
	Alike   []site.Line // who is there already and could be the new person
}

// input is a field of the form.
type input struct {
	Name, Label string
	Value       string // as typed
	Was         string // when the form was made
	problem
	Required bool
	Focus    bool // the cursor is there
}

// problem is why the value of a field is not saved.
type problem struct {
	Fault    string   // what is wrong; empty: nothing
	Question bool     // nothing is wrong, but unusual: the same value is saved when it is sent again
	Readings []string // days that the value can mean, to choose from
}

// newInputs returns the fields of a form.
func newInputs(v view.Visit, typed, was record.Fields, faults map[string]problem) (all, wrong []input) {
	before := view.FieldValues(was)
	for d, value := range typed.Each {
		in := input{d.Name, v.Text("field." + d.Name), *value, before[d.Name], faults[d.Name], d.Required, false}
		all = append(all, in)
		if in.Fault != "" {
			wrong = append(wrong, in)
		}
	}
	return all, wrong
}

// typedFields returns the fields of the form that was sent. prefix is empty, or was.
// for what they were when the form was made. A field that the form does not have
// is as in absent.
func typedFields(v view.Visit, prefix string, absent record.Fields) record.Fields {
	for d, value := range absent.Each {
		if v.R.PostForm.Has(prefix + d.Name) {
			*value = v.R.PostForm.Get(prefix + d.Name)
		}
	}
	if reading := v.R.PostForm.Get("reading.dateOfBirth"); reading != "" && prefix == "" && wasAsked(v, "dateOfBirth") {
		absent.DateOfBirth = reading
	}
	return absent
}

// wasAsked reports whether the page has asked about a field, and its value is still the same.
func wasAsked(v view.Visit, field string) bool {
	form := v.R.PostForm
	return form.Has("asked."+field) && form.Get("asked."+field) == form.Get(field)
}

// askAboutPhone asks about a phone number without any digit, once. Such a number may be stored, but
// somebody may have typed into the wrong field. stored is what the record has.
func askAboutPhone(v view.Visit, fields record.Fields, stored, button string, faults map[string]problem) {
	if number := fields.PhoneNumber; number != "" && number != stored && !strings.ContainsFunc(number, unicode.IsDigit) &&
		faults["phoneNumber"].Fault == "" && !wasAsked(v, "phoneNumber") {
		faults["phoneNumber"] = problem{Fault: v.Text("fault.phoneNumber.no_digit", v.Text(button)), Question: true}
	}
}

// normalize returns what was typed as it is stored, and a message for each field
// with a fault. A day of birth that is still that of the record keeps what else
// the record has there, its time and offset.
func normalize(v view.Visit, typed record.Fields, stored string) (record.Fields, map[string]problem) {
	faults := map[string]problem{}
	born, err := readBirth(v, typed.DateOfBirth, stored)
	if err != nil {
		p := problem{Fault: v.DayFault("dateOfBirth", err)}
		if two := (*lang.AmbiguousError)(nil); errors.As(err, &two) {
			p.Readings = []string{two.One, two.Other}
		}
		faults["dateOfBirth"] = p
	}
	typed.DateOfBirth = born
	for d, value := range typed.Each {
		if d.Required && !record.Visible(*value) {
			*value = "" // a name that shows nothing looks like an empty field
		}
	}
	fields, errs := typed.Normalize(v.Store.Clock().Now())
	for _, e := range errs {
		faults[e.Field] = problem{Fault: v.Text("fault." + e.Field + "." + e.Code)}
	}
	return fields, faults
}

func showNewPerson(v view.Visit) error {
	return renderForm(v, http.StatusOK, formPage{}, record.Fields{}, record.Fields{}, nil)
}

// renderForm answers with the form. Without an ID it is that for a new person.
func renderForm(v view.Visit, status int, data formPage, typed, was record.Fields, faults map[string]problem) error {
	p := site.Page{Title: v.Text("person.new"), Section: "list"}
	data.Action, data.Back, data.Place = site.Root+"people", v.Back(), v.Back()
	if data.ID != "" {
		data.Action, data.Place = view.PersonPath(data.ID), data.Back+"#"+data.ID
		data.History = view.WithBack(view.PersonPath(data.ID)+"/history", data.Back)
		if n, _ := neighboursOf(v, data.ID); n.Searched && n.After != "" { // the form is there without them
			data.Next = view.WithBack(view.PersonPath(n.After), n.AfterOn)
		}
		p.Title = data.Name
	} else {
		data.Token = cmp.Or(data.Token, strings.ToLower(rand.Text()))
		data.Alike, _ = alikeTyped(v, typed) // the form is there without it
	}
	data.Inputs, data.Faults = newInputs(v, typed, was, faults)
	for _, in := range data.Inputs[record.NameFields:] {
		if in.Value != "" {
			data.Facts = append(data.Facts, in)
		}
	}
	data.Inputs[0].Focus = data.ID == "" && len(data.Faults) == 0
	data.Resumed, p.Wrong = v.Resumed(), slices.ContainsFunc(data.Faults, func(in input) bool { return !in.Question })
	p.Data = data
	return v.Render(status, "person", p)
}

func addPerson(v view.Visit) error {
	typed, data := typedFields(v, "", record.Fields{}), formPage{Token: v.R.PostForm.Get("token")}
	if v.Resumed() {
		return renderForm(v, http.StatusOK, data, typed, record.Fields{}, nil)
	}
	fields, faults := normalize(v, typed, "")
	askAboutPhone(v, fields, "", "person.new", faults)
	if len(faults) > 0 {
		return renderForm(v, http.StatusUnprocessableEntity, data, typed, record.Fields{}, faults)
	}
	f, err := v.Store.Create(v.Session.Tenant, v.Session.ID, fields, formKey(v, data.Token, fields))
	id := f.ID
	if repeated := (*store.RepeatedError)(nil); errors.As(err, &repeated) { // the form was sent before
		id, err = repeated.ID, nil
	}
	if err != nil {
		return err
	}
	return v.Redirect(v.WithUndo(v.Back(), "added", id))
}

// formKey returns the idempotency key of a form, nil for a form without a token.
// Another content makes it another form: somebody went back and typed the next
// person over the last one.
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

// entityTag returns the entity tag that the API has for a record.
func entityTag(v view.Visit, f record.Firefighter) string { return v.Store.Tag(f.AppendJSON(nil)) }

func showPerson(v view.Visit, id string) error {
	f, err := v.Store.Get(v.Session.Tenant, id)
	if err != nil {
		return err
	}
	shown := v.Shown(f.Fields)
	return renderForm(v, http.StatusOK, formOf(v, f), shown, shown, nil)
}

// formOf returns the form for a record.
func formOf(v view.Visit, f record.Firefighter) formPage {
	return formPage{ID: f.ID, Name: view.NameOf(f.Fields), Tag: entityTag(v, f), Person: v.Person(&f, v.Today())}
}

// savePerson replaces a record, if it is still what the form was made from. A
// form of which every value is stored already changes nothing.
func savePerson(v view.Visit, id string) error {
	f, deleted, err := v.Find(id)
	if err != nil {
		return err
	}
	data := formOf(v, f)
	data.Tag, data.Deleted = v.R.PostForm.Get("tag"), deleted
	typed, was := typedFields(v, "", v.Shown(f.Fields)), typedFields(v, "was.", record.Fields{})
	if v.Resumed() {
		return renderForm(v, http.StatusOK, data, typed, was, nil)
	}
	fields, faults := normalize(v, typed, f.DateOfBirth)
	askAboutPhone(v, fields, f.PhoneNumber, "person.save", faults)
	switch {
	case len(faults) > 0:
		return renderForm(v, http.StatusUnprocessableEntity, data, typed, was, faults)
	case deleted && (v.R.PostForm.Get("restore") == "" || data.Tag != entityTag(v, f)):
		return renderConflict(v, id, fields, was, false)
	case deleted:
		err = v.Store.Undelete(v.Session.Tenant, v.Session.ID, []string{id})
		if err != nil && !errors.As(err, new(*store.NotDeletedError)) { // somebody else was quicker
			return err
		}
	}
	switch err := replaceRecord(v, id, fields, data.Tag); {
	case errors.Is(err, errUnchanged):
	case errors.Is(err, httpapi.ErrPreconditionFailed), errors.Is(err, store.ErrNotFound):
		return renderConflict(v, id, fields, was, false)
	case err != nil:
		return err
	}
	to := v.Back()
	if next := v.R.PostForm.Get("then"); next != "" {
		to = site.LocalPath(next)
	}
	if before, _ := normalize(v, was, f.DateOfBirth); before == fields { // nothing to undo
		return v.Redirect(view.WithNotice(to, "saved", id))
	}
	return v.Redirect(v.WithUndo(to, "saved", id))
}

// errUnchanged says that a record has the fields already that it should have.
var errUnchanged = errors.New("the record has these fields already")

// replaceRecord replaces a record that still has an entity tag. The error is
// errUnchanged, httpapi.ErrPreconditionFailed or one of the store.
func replaceRecord(v view.Visit, id string, fields record.Fields, tag string) error {
	_, err := v.Store.Replace(v.Session.Tenant, v.Session.ID, id, fields, func(now record.Firefighter) error {
		switch {
		case now.Fields == fields:
			return errUnchanged
		case entityTag(v, now) != tag:
			return httpapi.ErrPreconditionFailed
		}
		return nil
	})
	return err
}

// deletePerson deletes a person softly. Pressed twice it does the same.
func deletePerson(v view.Visit, id string) error {
	beside, _ := neighboursOf(v, id) // whom the list shows then, if they are known
	err := v.Store.Delete(v.Session.Tenant, v.Session.ID, id, func(record.Firefighter) error { return nil })
	if errors.Is(err, store.ErrNotFound) {
		_, err = v.Store.GetDeleted(v.Session.Tenant, id)
	}
	if err != nil {
		return err
	}
	list := view.WithNotice(v.Back(), "deleted", id)
	if place := cmp.Or(beside.After, beside.Before); place != "" {
		list += "#" + place
	}
	return v.Redirect(list)
}

// undeletePerson brings a person back. Pressed twice it does the same.
func undeletePerson(v view.Visit, id string) error {
	err := v.Store.Undelete(v.Session.Tenant, v.Session.ID, []string{id})
	if errors.As(err, new(*store.NotDeletedError)) {
		_, err = v.Store.Get(v.Session.Tenant, id)
	}
	if err != nil {
		return err
	}
	return v.Redirect(view.WithNotice(v.Back(), "restored", id))
}

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

// renderConflict shows both versions, to choose from field by field. The form
// that it sends is that of the person, made from the record as it is now. For a
// record that was deleted it brings the person back, too. The error is
// store.ErrNotFound if there is no such record any more. past says that nobody has typed
// yours: it is what was there before an entry of the history, and was what came after it.
func renderConflict(v view.Visit, id string, yours, was record.Fields, past bool) error {
	now, deleted, err := v.Find(id)
	if err != nil {
		return err
	}
	data := conflictPage{ID: id, Name: view.NameOf(now.Fields), Action: view.PersonPath(id), Tag: entityTag(v, now), Back: v.Back(), Deleted: deleted, Past: past}
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

// readBirth returns a day as it is stored. stored is what the record has.
func readBirth(v view.Visit, text, stored string) (string, error) {
	if strings.TrimSpace(text) == "" {
		return "", nil
	}
	day, err := v.Lang.ParseBirth(text, v.Today())
	if err != nil {
		return "", err
	}
	if before, known := view.BornOn(record.Fields{DateOfBirth: stored}); known && before == day {
		return stored, nil
	}
	return day.String(), nil
}
