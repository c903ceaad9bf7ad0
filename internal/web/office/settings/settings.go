// Package settings is the part of the office page for the settings of the station PC: backups, other
// devices, and the department. Only a browser on that PC can open it.
package settings

import (
	"cmp"
	"embed"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/phone"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

//go:embed templates messages
var files embed.FS

// Room returns the routes, templates and messages of settings.
func Room() site.Room {
	none := func(*site.Site) bool { return false }
	notInstalled := func(s *site.Site) bool { return !s.Installed }
	noKeys := func(s *site.Site) bool { return s.Settings.Recipients.Fixed }
	routes := map[string]site.Route{}
	for path, r := range map[string]struct {
		handle   func(view.Visit) error
		isClosed func(*site.Site) bool // the page has no form for it
	}{
		"GET " + Path:                  {show, none},
		"POST " + Path + "/confirm":    {confirmAll, notInstalled},
		"POST " + Path + "/backup":     {backUp, func(s *site.Site) bool { return s.Settings.Dir == "" }},
		"POST " + Path + "/folder":     {setFolder, func(s *site.Site) bool { return s.Settings.Folder.Fixed }},
		"POST " + Path + "/key":        {createKey, noKeys},
		"POST " + Path + "/recipients": {setRecipients, noKeys},
		"POST " + Path + "/network":    {setNetwork, func(s *site.Site) bool { return s.Settings.Network.Fixed }},
		"POST " + Path + "/department": {setDepartment, func(s *site.Site) bool { return s.Invented }},
		"GET " + restorePath:           {onBackups(showBackups), notInstalled},
		"POST " + restorePath:          {onBackups(restore), notInstalled},
		"GET " + Path + "/card":        {onBackups(showCard), notInstalled},
	} {
		handle := func(v view.Visit) error {
			switch {
			case !r.isClosed(v.Site):
				return r.handle(v)
			case v.Site.Installed: // an administrator has fixed it since the page was shown
				return v.Redirect(Path)
			}
			return &httpapi.Problem{Kind: httpapi.Scope}
		}
		form := Path + "#" + path[strings.LastIndexByte(path, '/')+1:] + "-form"
		routes[path] = site.Route{Scope: store.ScopeAdmin, Here: true, Handle: view.Handler(handle), Form: form}
	}
	return site.Room{Files: files, Routes: routes}
}

// Path is the address of the page.
const Path = site.Root + "settings"

// doneParameter asks for the notice about an action, one of doneNotices.
const doneParameter = "set"

var doneNotices = []string{site.SettingFolder, site.SettingRecipients, site.SettingNetwork, site.SettingConfirmed, "department",
	"backup", "running"}

// settingsPage is the Data of settings.html.
type settingsPage struct {
	*site.Settings
	Installed bool // the settings can be changed
	Invented  bool // the page shows forms that cannot be used
	Backups   site.Backups
	Age       int // of the last backup, in days
	Disks     []disk
	Reach     reach
	Changes   []change
	Countries []view.Choice

	// The submitted form, or the current values.
	Place, Keys, Name string
	Fault             view.Fault
	Problem           []string // what prevented an action without a form
	Command           string   // against the fault; may be empty
}

// HasCommand reports whether the page shows a command that changes the folder for backups. The page
// then watches the folder.
func (p settingsPage) HasCommand() bool {
	return p.Command != "" || slices.ContainsFunc(p.Disks, func(d disk) bool { return d.Command != "" })
}

// change is a change of a setting, for display.
type change struct {
	At        time.Time
	Who, What string
}

func show(v view.Visit) error { return render(v, http.StatusOK, settingsPage{}) }

// render responds with the page. data has the submitted form, if there is a fault in it.
func render(v view.Visit, status int, data settingsPage) (err error) {
	data.Settings, data.Installed, data.Invented = v.Site.Settings, v.Site.Installed, v.Site.Invented
	data.Backups = v.Backups()
	data.Age = ageOf(v, data.Backups.Last)
	if data.Invented || data.Problem != nil { // a demo has no backups; the problem is at the top
		data.Backups.Trouble = ""
	}
	if data.Fault.Name != "folder" {
		data.Place = data.Folder.Value
	}
	if data.Installed {
		data.Disks = disksOf(v, data.Place)
	}
	if data.Reach, err = reachOf(v); err != nil {
		return err
	}
	changes, err := v.Store.SettingChanges()
	if err != nil {
		return err
	}
	for _, c := range changes {
		data.Changes = append(data.Changes, change{view.Moment(c.At).Local(), c.Who, changeText(v, c)})
	}
	chosen := v.R.PostForm.Get("country")
	if !v.R.PostForm.Has("name") { // another form
		if data.Name, err = v.Store.TenantName(v.Session.Tenant); err == nil {
			chosen, err = v.Store.Country(v.Session.Tenant)
		}
		if err != nil {
			return err
		}
	}
	for code := range phone.Countries {
		label := code + " (+" + phone.CallingCode(code) + ")"
		data.Countries = append(data.Countries, view.Choice{Value: code, Label: label, Chosen: code == chosen})
	}
	p := site.Page{Title: v.Text("settings.title"), Section: "settings", Wrong: status >= http.StatusBadRequest, Data: data}
	if done := v.Query().Get(doneParameter); slices.Contains(doneNotices, done) && v.R.Method != http.MethodPost {
		p.Notice = &site.Notice{Text: v.Text("settings.done." + done)}
	}
	return v.Render(status, "settings", p)
}

// changeText returns what a change did.
func changeText(v view.Visit, c store.SettingChange) string {
	switch count, _ := strconv.Atoi(c.Value); {
	case c.What == site.SettingRecipients && count > 0:
		return v.Text("settings.changed.recipients", count)
	case c.What == site.SettingNetwork && c.Value == "on":
		return v.Text("settings.changed.network")
	case c.Value == "", c.What == site.SettingRecipients, c.What == site.SettingNetwork:
		return v.Text("settings.changed." + c.What + ".none")
	}
	return v.Text("settings.changed."+c.What, c.Value)
}

// done redirects to the page with a notice, unless there was an error.
func done(v view.Visit, what string, err error) error {
	if err != nil {
		return err
	}
	return v.Redirect(Path + "?" + doneParameter + "=" + what)
}

// set changes a setting and redirects to the page.
func set(v view.Visit, what, value string, edit func(*store.Settings)) error {
	return done(v, what, v.Site.ChangeSettings(store.SettingChange{Who: v.Session.Label, What: what, Value: value}, edit))
}

// confirmAll makes settings from another PC or from a backup apply to this PC.
func confirmAll(v view.Visit) error {
	return set(v, site.SettingConfirmed, "", func(*store.Settings) {})
}

// setDepartment changes the name and the country of the department.
func setDepartment(v view.Visit) error {
	data := settingsPage{Name: v.R.PostForm.Get("name")}
	chosen, err := record.NormalizeCountry(v.R.PostForm.Get("country"))
	if err != nil { // not sent by the form
		return &httpapi.Problem{Kind: httpapi.Malformed}
	}
	name, err := record.NormalizeName(data.Name)
	if err == nil {
		err = changeDepartment(v, name, chosen)
	}
	data.Fault.Name = "name"
	if wrong := (*record.TextError)(nil); errors.As(err, &wrong) {
		data.Fault.Fault = v.Text("access.fault." + wrong.Code)
		return render(v, http.StatusUnprocessableEntity, data)
	}
	if errors.As(err, new(*store.TakenError)) {
		data.Fault.Fault = v.Text("department.fault.taken")
		return render(v, http.StatusConflict, data)
	}
	return done(v, "department", err)
}

// changeDepartment changes what differs, and logs it.
func changeDepartment(v view.Visit, name, country string) error {
	oldName, err := v.Store.TenantName(v.Session.Tenant)
	oldCountry, other := v.Store.Country(v.Session.Tenant)
	if err = cmp.Or(err, other); err != nil {
		return err
	}
	log := func(what, value string) error {
		return v.Site.LogSetting(store.SettingChange{Who: v.Session.Label, What: what, Value: value})
	}
	if name != oldName {
		if err = v.Store.RenameTenant(v.Session.Tenant, name, false); err == nil {
			err = log(site.SettingName, name)
		}
	}
	if err == nil && country != oldCountry {
		if err = v.Store.SetCountry(v.Session.Tenant, country); err == nil {
			err = log(site.SettingCountry, country)
		}
	}
	return err
}
