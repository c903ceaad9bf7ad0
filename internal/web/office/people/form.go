package people

import (
	"cmp"
	"crypto/rand"
	"errors"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/lang"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// formPage is the Data of person.html, the form for a new or an existing person.
type formPage struct {
	ID      string // empty for a new person
	Name    string // stored name
	Action  string // address to which the form is sent
	Back    string // address to which the form leads back
	Place   string // Back, at the row of the person
	History string // address of the person's history
	Merge   string // address of the page to merge the person with another
	Edit    string // address of this page with the form
	Editing bool   // narrow screens show the form, too, not only the facts
	Next    string // address of the form for the next person of a search
	Inputs  []input
	Faults  []input // inputs with a fault
	Facts   []input // stored fields with a value, except the name
	Tag     string  // entity tag of the record when the form was created
	Deleted bool    // the person was deleted while the form was open
	Token   string  // identifies the form, to detect repeated requests
	Resumed bool    // restored after a new sign-in or a change of language, and not saved yet
	Unsaved bool    // the form has input that is not saved
	Person  view.Person
	Alike   []site.Line // possible duplicates of a new person
	Asks    bool        // the form was sent without having shown all of Alike
}

// input is a field of the form.
type input struct {
	Name, Label string
	Value       string // as typed
	Was         string // value when the form was created
	problem
	Required bool
	Focus    bool // the field has autofocus
}

// problem is the reason why a value is not saved.
type problem struct {
	Fault    string   // message; empty if the value is valid
	Question bool     // the value is only unusual, and is saved if it is sent again
	Readings []string // possible days, to choose from
}

// newInputs returns the fields of a form, and those with a fault.
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

// typedFields returns the fields of the submitted form. With the prefix "was.", it returns the
// values when the form was created. Missing fields are taken from absent.
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

// wasAsked reports whether the page asked about this value of a field.
func wasAsked(v view.Visit, field string) bool {
	form := v.R.PostForm
	return form.Has("asked."+field) && form.Get("asked."+field) == form.Get(field)
}

// askAboutPhone asks once about a phone number without digits, which is valid but may be text in
// the wrong field. stored is the number of the record.
func askAboutPhone(v view.Visit, fields record.Fields, stored, button string, faults map[string]problem) {
	if number := fields.PhoneNumber; number != "" && number != stored && !strings.ContainsFunc(number, unicode.IsDigit) &&
		faults["phoneNumber"].Fault == "" && !wasAsked(v, "phoneNumber") {
		faults["phoneNumber"] = problem{Fault: v.Text("fault.phoneNumber.no_digit", v.Text(button)), Question: true}
	}
}

// normalize returns the fields in stored form, and the problems by field. An unchanged day of
// birth keeps the time and offset in stored, the record's date of birth.
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
			*value = "" // an invisible name looks like an empty field
		}
	}
	fields, errs := typed.Normalize(v.Store.Clock().Now())
	for _, e := range errs {
		faults[e.Field] = problem{Fault: v.Text("fault." + e.Field + "." + e.Code)}
	}
	return fields, faults
}

// readBirth returns a date of birth in stored form. stored is the date in the record.
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

// editParameter asks for the form on a narrow screen.
const editParameter = "edit"

// renderForm responds with the form of a person, or of a new person if data has no ID.
func renderForm(v view.Visit, status int, data formPage, typed, was record.Fields, faults map[string]problem) error {
	p := site.Page{Title: v.Text("person.new"), Section: "list"}
	data.Action, data.Back, data.Place = site.Root+"people", v.Back(), v.Back()
	if data.ID != "" {
		data.Action, data.Place = view.PersonPath(data.ID), data.Back+"#"+data.ID
		data.History = view.WithBack(view.PersonPath(data.ID)+"/history", data.Back)
		data.Merge = view.WithBack(view.PersonPath(data.ID)+"/merge", data.Back)
		data.Edit = view.WithParameter(view.WithBack(view.PersonPath(data.ID), data.Back), editParameter, "")
		if n := neighborsOf(v, data.ID); n.Searched && n.After != "" {
			data.Next = view.WithParameter(view.WithBack(view.PersonPath(n.After), n.AfterOn), editParameter, "")
		}
		p.Title = data.Name
	} else {
		data.Token = cmp.Or(data.Token, strings.ToLower(rand.Text()))
		data.Alike, _ = alikeTyped(v, typed) // best effort
	}
	data.Inputs, data.Faults = newInputs(v, typed, was, faults)
	data.Inputs[0].Focus = data.ID == "" && len(data.Faults) == 0 && !data.Asks
	data.Editing = data.ID == "" || v.R.PostForm != nil || v.Query().Has(editParameter)
	data.Unsaved = len(faults) > 0 || typed != was
	data.Resumed = v.R.Method == http.MethodGet && data.Unsaved
	p.Wrong = slices.ContainsFunc(data.Faults, func(in input) bool { return !in.Question })
	p.Data = data
	return v.Render(status, "person", p)
}

// alikeTyped returns the possible duplicates of the person being typed. Invalid fields are ignored.
func alikeTyped(v view.Visit, typed record.Fields) ([]site.Line, error) {
	fields, faults := normalize(v, typed, "")
	for d, value := range fields.Each {
		if faults[d.Name].Fault != "" {
			*value = ""
		}
	}
	return v.Alike(fields, "")
}

func entityTag(v view.Visit, f record.Firefighter) string { return v.Store.Tag(f.AppendJSON(nil)) }

func formOf(v view.Visit, f record.Firefighter) formPage {
	all, _ := newInputs(v, v.Shown(f.Fields), record.Fields{}, nil)
	facts := slices.DeleteFunc(all[record.NameFields:], func(in input) bool { return in.Value == "" })
	return formPage{ID: f.ID, Name: view.NameOf(f.Fields), Tag: entityTag(v, f), Person: v.Person(&f, v.Today()), Facts: facts}
}
