package access

import (
	"errors"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/dav"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

const phonesPath = site.Root + "phones"

// The kinds of devices, each with a way of its own to be set up.
const (
	apple    = "apple"
	android  = "android"
	computer = "computer"
)

var devices = []string{apple, android, computer}

// phonesPage is the Data of phones.html: the form, and what a device needs.
type phonesPage struct {
	site.Reach
	Here    bool // only this computer reaches the service
	Plain   bool // without TLS
	Devices []string
	Made    *madePhone

	// The form, as it was sent.
	Device, Name, Fault string
	Birthdays           bool
	Faults              []view.Fault
}

// madePhone is what a device needs, shown this once.
type madePhone struct {
	Device, Name string
	Link, File   string // of an Apple device: where it gets its profile, and the profile itself
	QR           template.HTML
	Subscribe    template.URL // to the calendar; its scheme is webcal, which templates do not know
	dav.Account
	User string
}

// phonePage is the Data of phone.html, which an Apple device opens.
type phonePage struct {
	Department, File string
	Trust            bool // the device must trust the certificate by hand
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
		data.How, data.Command = v.Start("--tls-self-signed")
	}
	data.Devices = devices
	if data.Made != nil {
		data.Faults = nil
	}
	return v.Render(status, "phones", site.Page{Title: v.Text("phones.title"), Section: "phones", Wrong: data.Fault != "", Data: data})
}

// addPhone makes what a device needs and shows it, this once. An iPhone gets a code, by
// which it fetches its profile; others get their key at once.
func addPhone(v view.Visit) error {
	form := v.R.PostForm
	data := phonesPage{Device: form.Get("kind"), Name: form.Get("name"), Birthdays: form.Get("birthdays") != ""}
	if !slices.Contains(devices, data.Device) { // no browser sends this
		return &httpapi.Problem{Kind: httpapi.Malformed}
	}
	if v.Resumed() {
		return renderPhones(v, http.StatusOK, data)
	}
	name, err := record.NormalizeName(data.Name)
	if wrong := (*record.TextError)(nil); errors.As(err, &wrong) {
		data.Fault = v.Text("access.fault." + wrong.Code)
		data.Faults = []view.Fault{{Name: "name", Fault: data.Fault}}
		return renderPhones(v, http.StatusUnprocessableEntity, data)
	}
	made := &madePhone{Device: data.Device, Name: name, User: dav.User}
	if data.Device == apple {
		err = invitePhone(v, made, data.Birthdays)
	} else {
		err = makePhone(v, made, data.Birthdays)
	}
	if err != nil {
		return err
	}
	return renderPhones(v, http.StatusOK, phonesPage{Device: data.Device, Made: made})
}

// makePhone makes the key of a device, and shows it as text and as a link.
func makePhone(v view.Visit, made *madePhone, birthdays bool) error {
	department, err := v.Store.TenantName(v.Session.Tenant)
	if err != nil {
		return err
	}
	if made.Account, err = accountOf(v, department); err != nil {
		return err
	}
	err = v.Store.AddPhone(store.NewPhone{Tenant: v.Session.Tenant, Name: made.Name, Birthdays: birthdays}, func(p store.Phone) error {
		made.Key, made.Calendar = p.Key, p.Calendar
		return nil
	})
	made.Subscribe = template.URL(made.CalendarLink())
	if link := made.DAVx5(); link != "" && made.Device == android {
		made.QR = view.QRCode(link, v.Text("phones.qr", made.Name))
	}
	return err
}

// invitePhone makes the code of an Apple device.
func invitePhone(v view.Visit, made *madePhone, birthdays bool) error {
	reach, err := v.Reach()
	if err != nil {
		return err
	}
	n := store.NewInvitation{Tenant: v.Session.Tenant, Name: made.Name, Scope: store.ScopePhone, By: v.Session.ID, Birthdays: birthdays}
	path := ""
	err = v.Store.Invite(n, func(code string) error { path = phonesPath + "/" + code; return nil })
	made.File, made.Link = path+"/"+dav.ProfileName, reach.URL+path
	made.QR = view.QRCode(made.Link, v.Text("phones.qr", made.Name))
	return err
}

// accountOf returns the account of a device of a department, without its keys.
func accountOf(v view.Visit, department string) (dav.Account, error) {
	reach, err := v.Reach()
	return dav.Account{Department: department, URL: reach.URL, Language: v.Lang, Authority: v.Site.Authority.Certificate()}, err
}

// errNoPhone is for a code of a phone that does not work, or not any more.
var errNoPhone = &httpapi.Problem{Kind: httpapi.Kind{Code: "phone", Status: http.StatusNotFound}}

// withPhoneCode calls use with the code of the address and its invitation. Wrong ones count as those at
// sign-in, but under another name: a code that somebody has typed there is not wrong here.
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

// showPhone is the page that an Apple device opens. It needs no session, and does not use
// the code up.
func showPhone(v view.Visit, code string, i store.Invitation) error {
	trust := v.Site.Authority.Certificate() != nil
	data := phonePage{i.Department, phonesPath + "/" + code + "/" + dav.ProfileName, trust}
	return v.Render(http.StatusOK, "phone", site.Page{Title: v.Text("phones.get.title", i.Department), Data: data})
}

// sendProfile answers with the profile of an Apple device, and uses the code up.
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
	if v.R.Method == http.MethodHead { // nobody knows the length of a profile without keys
		v.W.WriteHeader(http.StatusOK)
		return nil
	}
	httpapi.Respond(v.W, http.StatusOK, a.Profile())
	return nil
}
