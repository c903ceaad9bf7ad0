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
	routes := map[string]site.Route{}
	for path, handle := range map[string]func(view.Visit) error{
		"GET " + Path:                  show,
		"POST " + Path + "/confirm":    confirmAll,
		"POST " + Path + "/backup":     backUp,
		"POST " + Path + "/folder":     setFolder,
		"POST " + Path + "/key":        createKey,
		"POST " + Path + "/recipients": setRecipients,
		"POST " + Path + "/network":    setNetwork,
		"POST " + Path + "/department": setDepartment,
		"GET " + restorePath:           onBackups(showBackups),
		"POST " + restorePath:          onBackups(restore),
		"GET " + Path + "/card":        onBackups(showCard),
	} {
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
	site.SettingsState
	CanSet, ByHand bool // the settings can be changed; the service was started by hand
	Disabled       bool // the page shows forms that cannot be used
	Backups        site.Backups
	Age            int // of the last backup, in days
	Disks          []disk
	Reach          reach
	Advice         site.Advice // how to let other devices in if the page cannot; empty if it can
	Changes        []change
	Countries      []view.Choice

	// The submitted form, or the current values.
	Folder, Recipients, Name string
	Fault                    view.Fault
	Command                  string // against the fault; may be empty
}

// ChooseFolder reports whether the form for the folder is open: after a fault, and while backups have
// no safe place.
func (p settingsPage) ChooseFolder() bool {
	return p.Fault.Name == "folder" || p.Backups.Link != ""
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
	set := v.Site.Settings
	if data.SettingsState, err = set.Read(); err != nil {
		return err
	}
	data.CanSet, data.ByHand, data.Disabled = set.Mode == site.ByPage, set.Mode == site.ByHand, set.Mode == site.OfDemo
	data.Backups = v.Backups()
	data.Age = ageOf(v, data.Backups.Last)
	if data.Disabled { // a demo has no backups
		data.Backups.Trouble = ""
	}
	if data.Fault.Name != "folder" {
		data.Folder = data.SettingsState.Folder.Value
	}
	if data.CanSet {
		data.Disks = disksOf(v, data.Folder)
	}
	if data.Reach, err = reachOf(v, data.SettingsState); err != nil {
		return err
	}
	if data.ByHand || data.CanSet && data.Network.Flag {
		data.Advice = v.Start("--listen 0.0.0.0:8443 --tls-self-signed")
	}
	for _, c := range data.SettingsState.Changes {
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
	p := site.Page{Title: v.Text("settings.title"), Section: "settings", Wrong: data.Fault.Name != "", Data: data}
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

// done redirects to the page with a notice, unless there was an error. If an administrator has set the
// setting with a command in the meantime, the page shows that.
func done(v view.Visit, what string, err error) error {
	switch fixed := errors.Is(err, site.ErrFixed); {
	case fixed && v.Site.Settings.Mode == site.ByPage: // a flag sets it since the page was shown
		return v.Redirect(Path)
	case fixed: // the form is not on the page
		return &httpapi.Problem{Kind: httpapi.Scope, Cause: err}
	case err != nil:
		return err
	}
	return v.Redirect(Path + "?" + doneParameter + "=" + what)
}

// confirmAll makes settings from another PC or from a backup apply to this PC.
func confirmAll(v view.Visit) error {
	return done(v, site.SettingConfirmed, v.Site.Settings.Confirm(v.Session.Label))
}

// setDepartment changes the name and the country of the department.
func setDepartment(v view.Visit) error {
	if v.Site.Settings.Mode == site.OfDemo {
		return done(v, "", site.ErrFixed)
	}
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
	if name != oldName {
		err = v.Store.RenameTenant(v.Session.Tenant, name, false)
		if err == nil {
			err = v.Site.Settings.Log(v.Session.Label, site.SettingName, name)
		}
	}
	if err == nil && country != oldCountry {
		err = v.Store.SetCountry(v.Session.Tenant, country)
		if err == nil {
			err = v.Site.Settings.Log(v.Session.Label, site.SettingCountry, country)
		}
	}
	return err
}
