package access

import (
	"cmp"
	"errors"
	"net/http"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

const departmentPath = site.Root + "department"

// Steps are the first steps of a department, which the list shows.
type Steps struct {
	Department, Person string
	Named, Known       bool   // the department and the person have names
	Renaming, Naming   naming // fields for missing names
	People             int64
	Saved              bool // backups have no problem
	Reach              site.Reach
	Phones             bool // phones can be set up
	Left               int  // number of open steps
}

// naming is a field for a name.
type naming struct{ ID, Field, Label, Hint, Value, Fault string }

// departmentPage is the Data of department.html.
type departmentPage struct {
	Names  []naming
	Back   string // address to which the form leads back
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
	s.Person, s.Saved = v.Session.Label, backups.Trouble == ""
	names := namings(v, department)
	s.Renaming, s.Naming = names[0], names[1]
	s.Renaming.Value, s.Naming.Value = "", ""
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

// namings returns the fields with the names of the department and of the person of this session.
func namings(v view.Visit, department string) []naming {
	person := v.Session.Label
	return []naming{
		{"department", "name", v.Text("department.name"), v.Text("department.name.hint"), department, ""},
		{"person", "person", v.Text("department.person"), v.Text("department.person.hint", person), person, ""},
	}
}

func showDepartment(v view.Visit) error {
	department, err := v.Store.TenantName(v.Session.Tenant)
	if err != nil {
		return err
	}
	return renderDepartment(v, http.StatusOK, departmentPage{Names: namings(v, department), Back: departmentPath})
}

func renderDepartment(v view.Visit, status int, data departmentPage) error {
	p := site.Page{Title: v.Text("department.title"), Section: "access", Wrong: len(data.Faults) > 0, Data: data}
	return v.Render(status, "department", p)
}

// saveNames saves the names that differ, and redirects with a notice. The first steps have empty
// fields, so an empty name is invalid only if the other one is not saved.
func saveNames(v view.Visit) error {
	department, err := v.Store.TenantName(v.Session.Tenant)
	if err != nil {
		return err
	}
	saved, status := "", http.StatusUnprocessableEntity
	data := departmentPage{Names: namings(v, department), Back: v.Back()}
	for i := range data.Names {
		n, typed := &data.Names[i], v.R.PostForm[data.Names[i].Field]
		if typed == nil || typed[0] == n.Value {
			continue
		}
		n.Value = typed[0]
		var wrong *record.TextError
		switch err := saveName(v, *n); {
		case err == nil:
			saved = cmp.Or(saved, n.ID)
		case errors.As(err, &wrong):
			n.Fault = v.Text("access.fault." + wrong.Code)
		case errors.As(err, new(*store.TakenError)):
			n.Fault, status = v.Text("department.fault.taken"), http.StatusConflict
		default:
			return err
		}
	}
	for _, n := range data.Names {
		if n.Fault != "" && (saved == "" || strings.TrimSpace(n.Value) != "") {
			data.Faults = append(data.Faults, view.Fault{Name: n.ID, Fault: n.Fault})
		}
	}
	if len(data.Faults) > 0 {
		return renderDepartment(v, status, data)
	}
	return v.Redirect(view.WithParameter(data.Back, view.DoneParameter, cmp.Or(saved, "department")))
}

func saveName(v view.Visit, n naming) error {
	name, err := record.NormalizeName(n.Value)
	switch {
	case err != nil:
		return err
	case n.ID == "person":
		return v.Site.Callers.NameSession(v.Session, name)
	}
	return v.Store.RenameTenant(v.Session.Tenant, name, false)
}

// hideSteps permanently hides the first steps of the department.
func hideSteps(v view.Visit) error {
	if err := v.Store.HideSteps(v.Session.Tenant); err != nil {
		return err
	}
	return v.Redirect(view.WithParameter(v.Back(), view.DoneParameter, "hidden"))
}
