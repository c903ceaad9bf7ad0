package access

import (
	"errors"
	"net/http"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

// The first steps of a department, and the page of its name, which has those steps later
// that are about names.

const (
	departmentPath = site.Root + "department"
	ownNamePath    = site.Root + "name"
)

// Steps are the first steps of a department, as the list shows them. Each is done or says
// what to do.
type Steps struct {
	Department, Person string
	Named, Known       bool   // the department has its name, and the person who looks
	Renaming, Naming   naming // the forms for them, if they have not
	People             int64
	Backups            site.Backups
	Saved              bool // the backups are as they should be
	Reach              site.Reach
	Phones             bool // there is a page to set up phones
	Left               int  // how many are not done
}

// naming is a form for a name.
type naming struct {
	ID, Action, Label, Hint string
	Value, Fault            string
	Back                    string // address that it leads back to; empty: the list
}

// departmentPage is the Data of department.html.
type departmentPage struct {
	Forms  []naming
	Faults []view.Fault
}

// FirstSteps returns the first steps of the department. They are nil when a name, people
// and backups are there, when somebody has hidden them, and for all but admins.
func FirstSteps(v view.Visit, people int64) (*Steps, error) {
	if !v.May(store.ScopeAdmin) {
		return nil, nil
	}
	department, err := v.Store.TenantName(v.Session.Tenant)
	if err != nil {
		return nil, err
	}
	s := &Steps{Department: department, Named: department != store.FirstDepartment, People: people, Backups: v.Backups()}
	if s.Named && people > 0 && !s.Backups.Last.IsZero() {
		return nil, nil
	}
	if hidden, err := v.Store.StepsHidden(v.Session.Tenant); hidden || err != nil {
		return nil, err
	}
	if s.Reach, err = v.Reach(); err != nil {
		return nil, err
	}
	if s.Known, err = isNamed(v); err != nil {
		return nil, err
	}
	s.Person, s.Saved, s.Phones = v.Session.Person(), s.Backups.Trouble == "", v.Site.Phones
	s.Renaming, s.Naming = departmentNaming(v, ""), personNaming(v, "")
	for _, done := range []bool{s.Named, s.Known, people > 0, s.Saved, s.Reach.Address != ""} {
		if !done {
			s.Left++
		}
	}
	return s, nil
}

// isNamed reports whether the session has the name of its person, and not that of a login
// or a key.
func isNamed(v view.Visit) (bool, error) {
	by := v.Session.Login
	if v.Session.OpenedBy != 0 {
		key, err := v.Store.KeyInfo(v.Session.OpenedBy)
		if err != nil {
			return false, err
		}
		by = v.LabelOf(store.Key{ID: v.Session.OpenedBy, Label: key.Label})
	}
	return v.Session.Person() != by, nil
}

func departmentNaming(v view.Visit, value string) naming {
	label, hint := v.Text("department.name"), v.Text("department.name.hint")
	return naming{ID: "department", Action: departmentPath, Label: label, Hint: hint, Value: value}
}

func personNaming(v view.Visit, value string) naming {
	label, hint := v.Text("department.person"), v.Text("department.person.hint", v.Session.Person())
	return naming{ID: "person", Action: ownNamePath, Label: label, Hint: hint, Value: value}
}

func showDepartment(v view.Visit) error { return renderDepartment(v, http.StatusOK, naming{}) }

// renderDepartment shows the names of the department and of the person. The form with the
// ID of sent has what was typed into it, and what is wrong with that.
func renderDepartment(v view.Visit, status int, sent naming) error {
	department, err := v.Store.TenantName(v.Session.Tenant)
	if err != nil {
		return err
	}
	data := departmentPage{Forms: []naming{departmentNaming(v, department), personNaming(v, v.Session.Person())}}
	for i := range data.Forms {
		form := &data.Forms[i]
		form.Back = departmentPath
		if form.ID == sent.ID {
			form.Value, form.Fault, form.Back = sent.Value, sent.Fault, sent.Back
		}
		if form.Fault != "" {
			data.Faults = append(data.Faults, view.Fault{Name: form.ID, Fault: form.Fault})
		}
	}
	p := site.Page{Title: v.Text("department.title"), Section: "access", Wrong: len(data.Faults) > 0, Data: data}
	return v.Render(status, "department", p)
}

// renameDepartment changes the name of the department to the one in the form.
func renameDepartment(v view.Visit) error {
	return takeName(v, "department", func(name string) error {
		return v.Store.RenameTenant(v.Session.Tenant, name, false)
	})
}

// nameSession says whose session this is.
func nameSession(v view.Visit) error {
	return takeName(v, "person", func(name string) error { return v.Site.Callers.NameSession(v.Session, name) })
}

// takeName hands the name of the form with an ID to save, and leads back with a notice of
// what was done. A name that cannot be is shown again in its form, with what is wrong.
func takeName(v view.Visit, id string, save func(name string) error) error {
	form := naming{ID: id, Value: v.R.PostForm.Get("name"), Back: v.Back()}
	if v.Resumed() {
		return renderDepartment(v, http.StatusOK, form)
	}
	name, err := record.NormalizeName(form.Value)
	if err == nil {
		err = save(name)
	}
	if wrong := (*record.TextError)(nil); errors.As(err, &wrong) {
		form.Fault = v.Text("access.fault." + wrong.Code)
		return renderDepartment(v, http.StatusUnprocessableEntity, form)
	}
	if errors.As(err, new(*store.TakenError)) {
		form.Fault = v.Text("department.fault.taken")
		return renderDepartment(v, http.StatusConflict, form)
	}
	if err != nil {
		return err
	}
	return v.Redirect(view.WithParameter(form.Back, view.DoneParameter, id))
}

// hideSteps hides the first steps of the department for good.
func hideSteps(v view.Visit) error {
	if err := v.Store.HideSteps(v.Session.Tenant); err != nil {
		return err
	}
	return v.Redirect(view.WithParameter(v.Back(), view.DoneParameter, "hidden"))
}
