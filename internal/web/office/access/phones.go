package access

import (
	"errors"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/web/dav"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

const phonesPath = site.Root + "phones"

// Kinds of devices, which are set up in different ways.
const (
	apple    = "apple"
	android  = "android"
	computer = "computer"
)

var devices = []string{apple, android, computer}

// phonesPage is the Data of phones.html.
type phonesPage struct {
	site.Reach
	Here    bool // only this computer can reach the service
	Plain   bool // the service does not use TLS
	Devices []string
	New     *phoneSetup

	// The submitted form.
	Device, Name string
	Birthdays    bool
	nameFault
}

// phoneSetup is what a device needs to be set up, which is shown once.
type phoneSetup struct {
	Device, Name string
	Link, File   string // of an Apple device: the page for its profile, and the profile
	QR           template.HTML
	Subscribe    template.URL // webcal address of the calendar
	dav.Account
	User string
}

// phonePage is the Data of phone.html, which an Apple device opens.
type phonePage struct {
	File  string
	Trust bool // the user must trust the certificate manually
}

func showPhones(v view.Visit) error { return renderPhones(v, http.StatusOK, phonesPage{Device: apple}) }

func renderPhones(v view.Visit, status int, data phonesPage) (err error) {
	if data.Reach, err = v.Reach(); err != nil {
		return err
	}
	data.Here, data.Plain = data.Address == "", !strings.HasPrefix(data.URL, "https:")
	switch {
	case data.Here:
		data.Trust = v.Trust(data.URL)
	case data.Plain:
		data.Advice = v.Start("--tls-self-signed")
	}
	data.Devices = devices
	return v.Render(status, "phones", site.Page{Title: v.Text("phones.title"), Section: "phones", Wrong: data.Fault != "", Data: data})
}

// addPhone sets up a device and shows the result, once. An Apple device gets a code for its
// profile; other devices get a key.
func addPhone(v view.Visit) error {
	form := v.R.PostForm
	data := phonesPage{Device: form.Get("kind"), Name: form.Get("name"), Birthdays: form.Get("birthdays") != ""}
	if !slices.Contains(devices, data.Device) { // not sent by the form
		return &httpapi.Problem{Kind: httpapi.Malformed}
	}
	var name string
	if name, data.Fault = formName(v); data.Fault != "" {
		return renderPhones(v, http.StatusUnprocessableEntity, data)
	}
	setup, add := &phoneSetup{Device: data.Device, Name: name, User: dav.User}, createPhone
	if data.Device == apple {
		add = invitePhone
	}
	if err := add(v, setup, data.Birthdays); err != nil {
		return err
	}
	return renderPhones(v, http.StatusOK, phonesPage{Device: data.Device, New: setup})
}

func createPhone(v view.Visit, setup *phoneSetup, birthdays bool) error {
	department, err := v.Store.TenantName(v.Session.Tenant)
	if err != nil {
		return err
	}
	if setup.Account, err = accountOf(v, department); err != nil {
		return err
	}
	err = v.Store.AddPhone(store.NewPhone{Tenant: v.Session.Tenant, Name: setup.Name, Birthdays: birthdays}, func(p store.Phone) error {
		setup.Key, setup.Calendar = p.Key, p.Calendar
		return nil
	})
	setup.Subscribe = template.URL(setup.CalendarLink())
	if link := setup.DAVx5(); link != "" && setup.Device == android {
		setup.QR = view.QRCode(link, v.Text("phones.qr", setup.Name))
	}
	return err
}

func invitePhone(v view.Visit, setup *phoneSetup, birthdays bool) error {
	reach, err := v.Reach()
	if err != nil {
		return err
	}
	n := store.NewInvitation{Tenant: v.Session.Tenant, Name: setup.Name, Scope: store.ScopePhone, By: v.Session.ID, Birthdays: birthdays}
	path := ""
	err = v.Store.Invite(n, func(code string) error { path = phonesPath + "/" + code; return nil })
	setup.File, setup.Link = path+"/"+dav.ProfileName, reach.URL+path
	setup.QR = view.QRCode(setup.Link, v.Text("phones.qr", setup.Name))
	return err
}

// accountOf returns the account of a device, without its keys.
func accountOf(v view.Visit, department string) (dav.Account, error) {
	reach, err := v.Reach()
	return dav.Account{Department: department, URL: reach.URL, Language: v.Lang, Authority: v.Site.Authority.Certificate()}, err
}

// errNoPhone is returned if the code of a phone is invalid or has expired.
var errNoPhone = &httpapi.Problem{Kind: httpapi.Kind{Code: "phone", Status: http.StatusNotFound}}

// withPhoneCode calls use with the code of the address and its invitation. Wrong codes count
// towards the rate limit of sign-in, separately from the same code entered there.
func withPhoneCode(use func(v view.Visit, code string, i store.Invitation) error) func(view.Visit) error {
	return func(v view.Visit) error {
		code := v.R.PathValue("code")
		wait, err := v.Try("phone "+code, func(string) error {
			i, err := v.Store.PhoneInvitation(code)
			if err != nil {
				return err
			}
			return use(v, code, i)
		})
		switch {
		case wait > 0:
			return &httpapi.Problem{Kind: httpapi.TooMany}
		case errors.Is(err, store.ErrNotFound):
			return errNoPhone
		}
		return err
	}
}

// showPhone responds with the page that an Apple device opens, without a session. The code stays
// valid.
func showPhone(v view.Visit, code string, i store.Invitation) error {
	data := phonePage{File: phonesPath + "/" + code + "/" + dav.ProfileName, Trust: v.Site.Authority.Certificate() != nil}
	return v.Render(http.StatusOK, "phone", site.Page{Title: v.Text("phones.get.title", i.Department), Data: data})
}

// sendProfile responds with the profile of an Apple device, and invalidates the code.
func sendProfile(v view.Visit, code string, i store.Invitation) error {
	a, err := accountOf(v, i.Department)
	if err == nil && v.R.Method != http.MethodHead {
		err = v.Store.UsePhoneInvitation(code, func(p store.Phone) error {
			a.Key, a.Calendar = p.Key, p.Calendar
			return nil
		})
	}
	if err != nil {
		return err
	}
	v.W.Header()["Content-Type"] = []string{dav.ProfileType}
	if v.R.Method == http.MethodHead { // without keys, the length is unknown
		v.W.WriteHeader(http.StatusOK)
		return nil
	}
	httpapi.Respond(v.W, http.StatusOK, a.Profile())
	return nil
}
