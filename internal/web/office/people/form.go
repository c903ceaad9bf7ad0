package people

import (
	"cmp"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/lang"
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

// alikeTyped returns who is there already and could be the person who is being typed. A
// field with a fault does not count.
func alikeTyped(v view.Visit, typed record.Fields) ([]site.Line, error) {
	fields, faults := normalize(v, typed, "")
	for d, value := range fields.Each {
		if faults[d.Name].Fault != "" {
			*value = ""
		}
	}
	return v.Alike(fields, "")
}

// entityTag returns the entity tag that the API has for a record.
func entityTag(v view.Visit, f record.Firefighter) string { return v.Store.Tag(f.AppendJSON(nil)) }

// formOf returns the form for a record.
func formOf(v view.Visit, f record.Firefighter) formPage {
	return formPage{ID: f.ID, Name: view.NameOf(f.Fields), Tag: entityTag(v, f), Person: v.Person(&f, v.Today())}
}
