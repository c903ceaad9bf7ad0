package access

import (
	"errors"
	"net/http"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

const (
	departmentPath = site.Root + "department"
	ownNamePath    = site.Root + "name"
)

// Steps are the first steps of a department, which the list shows.
type Steps struct {
	Department, Person string
	Named, Known       bool   // the department and the person have names
	Renaming, Naming   naming // forms for missing names
	People             int64
	Saved              bool // backups have no problem
	Reach              site.Reach
	Phones             bool // phones can be set up
	Left               int  // number of open steps
}

// naming is a form for a name.
type naming struct {
	ID, Action, Label, Hint string
	Value, Fault            string
	Back                    string // address to which it leads back; empty for the list
}

// departmentPage is the Data of department.html.
type departmentPage struct {
	Forms  []naming
	Faults []view.Fault
}

// FirstSteps returns the first steps of the department. It returns nil for sessions that are not
// admin, for invented people, when the steps are hidden, and when the department has a name, people
// and a backup.
func FirstSteps(v view.Visit, people int64) (*Steps, error) {
	if !v.May(store.ScopeAdmin) || v.Site.Invented {
		return nil, nil
	}
	department, err := v.Store.TenantName(v.Session.Tenant)
	if err != nil {
		return nil, err
	}
	s, backups := &Steps{Department: department, Named: department != store.FirstDepartment, People: people}, v.Backups()
	if s.Named && people > 0 && !backups.Last.IsZero() {
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
	s.Person, s.Saved, s.Phones = v.Session.Label, backups.Trouble == "", v.Site.Phones
	s.Renaming, s.Naming = departmentNaming(v, ""), personNaming(v, "")
	for _, done := range []bool{s.Named, s.Known, people > 0, s.Saved, s.Reach.Address != ""} {
		if !done {
			s.Left++
		}
	}
	return s, nil
}

// isNamed reports whether the session has a person's name instead of the label of a key or a login.
func isNamed(v view.Visit) (bool, error) {
	by := v.Session.Login
	if v.Session.OpenedBy != 0 {
		key, err := v.Store.KeyInfo(v.Session.OpenedBy)
		if err != nil {
			return false, err
		}
		by = v.LabelOf(store.Key{ID: v.Session.OpenedBy, Label: key.Label})
	}
	return v.Session.Label != by, nil
}

func departmentNaming(v view.Visit, value string) naming {
	label, hint := v.Text("department.name"), v.Text("department.name.hint")
	return naming{ID: "department", Action: departmentPath, Label: label, Hint: hint, Value: value}
}

func personNaming(v view.Visit, value string) naming {
	label, hint := v.Text("department.person"), v.Text("department.person.hint", v.Session.Label)
	return naming{ID: "person", Action: ownNamePath, Label: label, Hint: hint, Value: value}
}

func showDepartment(v view.Visit) error { return renderDepartment(v, http.StatusOK, naming{}) }

// renderDepartment responds with the forms for the names of the department and the person. sent
// replaces the form with the same ID.
func renderDepartment(v view.Visit, status int, sent naming) error {
	department, err := v.Store.TenantName(v.Session.Tenant)
	if err != nil {
		return err
	}
	data := departmentPage{Forms: []naming{departmentNaming(v, department), personNaming(v, v.Session.Label)}}
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

func renameDepartment(v view.Visit) error {
	return saveName(v, "department", func(name string) error {
		return v.Store.RenameTenant(v.Session.Tenant, name, false)
	})
}

// nameSession sets the name of the person of this session.
func nameSession(v view.Visit) error {
	return saveName(v, "person", func(name string) error { return v.Site.Callers.NameSession(v.Session, name) })
}

// saveName passes the submitted name to save and redirects with a notice. An invalid name is shown
// again in its form, the one with the ID, with a message.
func saveName(v view.Visit, id string, save func(name string) error) error {
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

// hideSteps permanently hides the first steps of the department.
func hideSteps(v view.Visit) error {
	if err := v.Store.HideSteps(v.Session.Tenant); err != nil {
		return err
	}
	return v.Redirect(view.WithParameter(v.Back(), view.DoneParameter, "hidden"))
}
