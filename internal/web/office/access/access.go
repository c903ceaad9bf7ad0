// Package access is the part of the office page for admins: keys, sessions, invitations, phones,
// the name of the department, and its first steps.
package access

import (
	"embed"
	"errors"
	"html/template"
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/dav"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/office/view"
	"github.com/firefighter-records/firefighters/internal/web/site"
)

//go:embed templates messages
var files embed.FS

// Room returns the routes, templates and messages of access. phones includes the pages that set
// up phones.
func Room(phones bool) site.Room {
	all := map[string]site.Route{
		"GET /office/department":  {Scope: store.ScopeAdmin, Handle: view.Handler(showDepartment)},
		"POST /office/department": {Scope: store.ScopeAdmin, Handle: view.Handler(saveNames), Form: departmentPath + "#names"},
		"POST /office/steps/hide": {Scope: store.ScopeAdmin, Handle: view.Handler(hideSteps)},

		"GET /office/access":           {Scope: store.ScopeAdmin, Handle: view.Handler(showAccess)},
		"POST /office/access/revoke":   {Scope: store.ScopeAdmin, Handle: view.Handler(revokeAccess)},
		"POST /office/access/invite":   {Scope: store.ScopeAdmin, Handle: view.Handler(createInvitation), Form: accessPath + "#invite"},
		"POST /office/access/withdraw": {Scope: store.ScopeAdmin, Handle: view.Handler(withdrawInvitation)},
	}
	if phones {
		maps.Copy(all, map[string]site.Route{
			"GET /office/phones":                           {Scope: store.ScopeAdmin, Handle: view.Handler(showPhones)},
			"POST /office/phones":                          {Scope: store.ScopeAdmin, Handle: view.Handler(addPhone), Form: phonesPath + "#phone"},
			"GET /office/phones/{code}":                    {Handle: view.Handler(withPhoneCode(showPhone))},
			"GET /office/phones/{code}/" + dav.ProfileName: {Handle: view.Handler(withPhoneCode(sendProfile))},
		})
	}
	return site.Room{Files: files, Routes: all}
}

const accessPath = site.Root + "access"

// errNoAccess is returned if a key, session or invitation of the department does not exist.
var errNoAccess = &httpapi.Problem{Kind: httpapi.Kind{Code: "access", Status: http.StatusNotFound}}

// accessPage is the Data of access.html.
type accessPage struct {
	Sessions, Keys keyTable
	Devices        []KeyLine // phones, and calendars of birthdays
	Ended          []KeyLine // revoked or expired, newest first
	More           int       // number of keys not in Ended
	Invitations    []openInvitation
	Scopes         []string // choices for an invitation
	New            *newInvitation

	// The submitted form.
	Name, Scope string
	nameFault
}

// nameFault is the message for an invalid name in a form.
type nameFault struct{ Fault string }

// Faults returns the errors for the summary above the form.
func (f nameFault) Faults() []view.Fault { return view.Fault{Name: "name", Fault: f.Fault}.Faults() }

// formName returns the name in the form, and a message if it is invalid.
func formName(v view.Visit) (name, fault string) {
	name, err := record.NormalizeName(v.R.PostForm.Get("name"))
	if invalid := (*record.TextError)(nil); errors.As(err, &invalid) {
		fault = v.Text("access.fault." + invalid.Code)
	}
	return name, fault
}

// keyTable is a table of active keys.
type keyTable struct {
	ID    string // of the element; also part of message keys
	Lines []KeyLine
}

// KeyLine is a key, a browser session, a phone or a calendar subscription.
type KeyLine struct {
	ID                     store.KeyID
	Label, Scope, State    string
	Device                 string    // of a session, such as "Firefox, Windows"
	Own                    bool      // the session of this request
	Created, Used, Expires time.Time // zero for never
	Ends                   int       // number of sessions that end with the key
	Birthdays              bool      // the device gets dates of birth
}

type openInvitation struct {
	ID          int64
	Name, Scope string
	Expires     time.Time
}

// newInvitation is a new invitation, which is shown once.
type newInvitation struct {
	Name, Code, Link string
	QR               template.HTML // of Link
	Expires          time.Time
	HereOnly         bool // the link works only on this machine
	Reach            site.Reach
}

// inviteScopes are the scopes to choose from, the default first.
var inviteScopes = []string{store.ScopeWrite, store.ScopeRead, store.ScopeAdmin}

// maxEnded is the maximum number of revoked and expired keys on the page.
const maxEnded = 100

func showAccess(v view.Visit) error { return renderAccess(v, http.StatusOK, accessPage{}) }

func renderAccess(v view.Visit, status int, data accessPage) error {
	keys, err := v.Store.KeysOf(v.Session.Tenant)
	if err != nil {
		return err
	}
	open, err := v.Store.Invitations(v.Session.Tenant)
	if err != nil {
		return err
	}
	data.addKeys(v, keys)
	for _, i := range open {
		data.Invitations = append(data.Invitations, openInvitation{i.ID, i.Name, i.Scope, view.Moment(i.ExpiresAt)})
	}
	if data.New != nil && len(open) > 0 {
		data.New.Expires = view.Moment(open[0].ExpiresAt) // the newest comes first
	}
	data.Scopes = inviteScopes
	p := site.Page{Title: v.Text("access.title"), Section: "access", Wrong: data.Fault != "", Notice: accessNotice(v, keys), Data: data}
	return v.Render(status, "access", p)
}

// addKeys adds active keys to their tables, and the others to Ended.
func (data *accessPage) addKeys(v view.Visit, keys []store.Key) {
	data.Sessions.ID, data.Keys.ID = "sessions", "keys"
	now := v.Store.Clock().Now()
	sessions, calendarUses := map[store.KeyID]int{}, map[store.KeyID]int64{} // by the key that opened them
	for _, k := range keys {
		if k.State(now) == store.StateActive {
			if k.IsSession() {
				sessions[k.OpenedBy]++
			} else {
				calendarUses[k.OpenedBy] = k.LastUsedAt
			}
		}
	}
	for _, k := range keys {
		line := KeyLine{ID: k.ID, Label: v.LabelOf(k), Device: k.Device, Scope: k.Scope, State: k.State(now), Own: k.ID == v.Session.ID,
			Created: view.Moment(k.CreatedAt), Used: view.Moment(k.LastUsedAt), Expires: view.Moment(k.Expiry()), Ends: sessions[k.ID]}
		switch {
		case line.Own: // not stored yet
			line.Used = now
		case k.IsSession() && line.Used.IsZero(): // signing in counts as a visit
			line.Used = line.Created
		}
		active := line.State == store.StateActive
		switch {
		case k.Scope == store.ScopeCalendar && k.OpenedBy != 0: // listed with its phone
		case active && store.IsDeviceScope(k.Scope):
			line.Used = view.Moment(max(k.LastUsedAt, calendarUses[k.ID]))
			line.Birthdays = k.Birthdays || k.Scope == store.ScopeCalendar
			data.Devices = append(data.Devices, line)
		case active && k.IsSession():
			data.Sessions.Lines = append(data.Sessions.Lines, line)
		case active:
			data.Keys.Lines = append(data.Keys.Lines, line)
		case len(data.Ended) < maxEnded:
			data.Ended = append(data.Ended, line)
		default:
			data.More++
		}
	}
}

// accessNotice returns the notice that the address asks for, or nil.
func accessNotice(v view.Visit, keys []store.Key) *site.Notice {
	query := v.Query()
	if query.Has("withdrawn") {
		return &site.Notice{Text: v.Text("access.withdrawn")}
	}
	for _, k := range keys {
		if k.RevokedAt != 0 && query.Get("revoked") == strconv.FormatInt(int64(k.ID), 10) {
			return &site.Notice{Text: v.Text("access.revoked", v.LabelOf(k))}
		}
	}
	return nil
}

// revokeAccess revokes a key or a session. If this ends the session of this browser, the browser
// is signed out.
func revokeAccess(v view.Visit) error {
	number, _ := strconv.ParseInt(v.R.PostForm.Get("id"), 10, 64) // 0 for an invalid number, which no key has
	id := store.KeyID(number)
	if _, err := v.Store.RevokeKey(v.Session.Tenant, id); errors.Is(err, store.ErrNotFound) {
		return errNoAccess
	} else if err != nil {
		return err
	}
	if id == v.Session.ID || id == v.Session.OpenedBy {
		return v.SignOut()
	}
	return v.Redirect(accessPath + "?revoked=" + strconv.FormatInt(number, 10))
}

// createInvitation creates an invitation and shows its link and code, once.
func createInvitation(v view.Visit) error {
	data := accessPage{Name: v.R.PostForm.Get("name"), Scope: v.R.PostForm.Get("scope")}
	if !store.ValidScope(data.Scope) { // not sent by the form
		return &httpapi.Problem{Kind: httpapi.Malformed}
	}
	var name string
	if name, data.Fault = formName(v); data.Fault != "" {
		return renderAccess(v, http.StatusUnprocessableEntity, data)
	}
	at, err := v.Store.Address() // the address of the machine may have changed
	if err != nil {
		return err
	}
	reach, err := v.Reach()
	if err != nil {
		return err
	}
	n := store.NewInvitation{Tenant: v.Session.Tenant, Name: name, Scope: data.Scope, By: v.Session.ID}
	data = accessPage{New: &newInvitation{Name: name, HereOnly: site.HereOnly(at), Reach: reach}}
	err = v.Store.Invite(n, func(code string) error {
		link := site.InvitationLink(at, code)
		data.New.Code, data.New.Link, data.New.QR = code, link, view.QRCode(link, v.Text("access.qr", name))
		return nil
	})
	if err != nil {
		return err
	}
	return renderAccess(v, http.StatusOK, data)
}

func withdrawInvitation(v view.Visit) error {
	id, _ := strconv.ParseInt(v.R.PostForm.Get("id"), 10, 64) // 0 for an invalid number, which no invitation has
	err := v.Store.Withdraw(v.Session.Tenant, id)
	if errors.Is(err, store.ErrNotFound) {
		return errNoAccess
	}
	if err != nil {
		return err
	}
	return v.Redirect(accessPath + "?withdrawn=1")
}
