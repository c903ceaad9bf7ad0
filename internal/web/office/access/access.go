// Package access is the room of the office page for those who manage a department: keys,
// sessions, invitations, phones, and its name and first steps.
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

// Room returns the room: access, the name of the department, and its phones if the service
// has address books for them.
func Room(phones bool) site.Room {
	all := map[string]site.Route{
		"GET /office/department":  {Scope: store.ScopeAdmin, Handle: view.Handler(showDepartment)},
		"POST /office/department": {Scope: store.ScopeAdmin, Handle: view.Handler(renameDepartment), Carried: true},
		"POST /office/name":       {Scope: store.ScopeAdmin, Handle: view.Handler(nameSession), Carried: true},
		"POST /office/steps/hide": {Scope: store.ScopeAdmin, Handle: view.Handler(hideSteps)},

		"GET /office/access":           {Scope: store.ScopeAdmin, Handle: view.Handler(showAccess)},
		"POST /office/access/revoke":   {Scope: store.ScopeAdmin, Handle: view.Handler(revokeAccess)},
		"POST /office/access/invite":   {Scope: store.ScopeAdmin, Handle: view.Handler(makeInvitation)},
		"POST /office/access/withdraw": {Scope: store.ScopeAdmin, Handle: view.Handler(withdrawInvitation)},
	}
	if phones {
		maps.Copy(all, map[string]site.Route{
			"GET /office/phones":                           {Scope: store.ScopeAdmin, Handle: view.Handler(showPhones)},
			"POST /office/phones":                          {Scope: store.ScopeAdmin, Handle: view.Handler(addPhone), Carried: true},
			"GET /office/phones/{code}":                    {Handle: view.Handler(withPhoneCode(showPhone))},
			"GET /office/phones/{code}/" + dav.ProfileName: {Handle: view.Handler(withPhoneCode(sendProfile))},
		})
	}
	return site.Room{Files: files, Routes: all}
}

const accessPath = site.Root + "access"

// errNoAccess is for a key, a session or an invitation that the department does not have.
var errNoAccess = &httpapi.Problem{Kind: httpapi.Kind{Code: "access", Status: http.StatusNotFound}}

// accessPage is the Data of access.html: the keys, sessions and invitations of a
// department.
type accessPage struct {
	Sessions, Keys keyTable
	Devices        []KeyLine // phones, and calendars of birthdays
	Ended          []KeyLine // revoked or expired, the newest first
	More           int       // that Ended leaves out
	Invitations    []openInvitation
	Scopes         []string // to choose from, the usual one first
	Made           *madeInvitation

	// The form, as it was sent.
	Name, Scope, Fault string
	Faults             []view.Fault
}

// keyTable is a table of keys that work.
type keyTable struct {
	ID    string // of the element, and in its messages
	Lines []KeyLine
}

// KeyLine is a key, the session of a browser, a phone, or a calendar of birthdays that
// somebody has subscribed to.
type KeyLine struct {
	ID                     store.KeyID
	Label, Scope, State    string
	Device                 string    // of a session, as "Firefox, Windows"; empty: not known
	Own                    bool      // the session that shows this page
	Created, Used, Expires time.Time // the zero time: never
	Ends                   int       // sessions that end with the key
	Birthdays              bool      // a phone or a calendar gets dates of birth
}

type openInvitation struct {
	ID          int64
	Name, Scope string
	Expires     time.Time
}

// madeInvitation is a new invitation, shown this once.
type madeInvitation struct {
	Name, Code, Link string
	QR               template.HTML // of Link
	Expires          time.Time
	HereOnly         bool // the link works on the service's machine alone
	Reach            site.Reach
}

// inviteScopes are those to choose from, the usual one first.
var inviteScopes = []string{store.ScopeWrite, store.ScopeRead, store.ScopeAdmin}

// endedShown is the number of keys that do not work any more on the page.
const endedShown = 100

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
	if data.Made != nil && len(open) > 0 {
		data.Made.Expires = view.Moment(open[0].ExpiresAt) // the newest
	}
	data.Scopes = inviteScopes
	p := site.Page{Title: v.Text("access.title"), Section: "access", Wrong: data.Fault != "", Notice: accessNotice(v, keys), Data: data}
	return v.Render(status, "access", p)
}

// addKeys adds those that work to their tables, and the others to Ended.
func (data *accessPage) addKeys(v view.Visit, keys []store.Key) {
	data.Sessions.ID, data.Keys.ID = "sessions", "keys"
	now, sessions, looks := v.Store.Clock().Now(), map[store.KeyID]int{}, map[store.KeyID]int64{} // looks: of the calendar of a phone
	for _, k := range keys {
		if k.State(now) == store.StateActive {
			if k.IsSession() {
				sessions[k.OpenedBy]++
			} else {
				looks[k.OpenedBy] = k.LastUsedAt
			}
		}
	}
	for _, k := range keys {
		line := KeyLine{ID: k.ID, Label: v.LabelOf(k), Device: k.Device, Scope: k.Scope, State: k.State(now), Own: k.ID == v.Session.ID,
			Created: view.Moment(k.CreatedAt), Used: view.Moment(k.LastUsedAt), Expires: view.Moment(k.Expiry()), Ends: sessions[k.ID]}
		switch {
		case line.Own: // the database has the last use later
			line.Used = now
		case k.IsSession() && line.Used.IsZero(): // to sign in is a visit
			line.Used = line.Created
		}
		active := line.State == store.StateActive
		switch {
		case k.Scope == store.ScopeCalendar && k.OpenedBy != 0: // it is a part of the phone
		case active && store.IsDeviceScope(k.Scope):
			line.Used = view.Moment(max(k.LastUsedAt, looks[k.ID]))
			line.Birthdays = k.Birthdays || k.Scope == store.ScopeCalendar
			data.Devices = append(data.Devices, line)
		case active && k.IsSession():
			data.Sessions.Lines = append(data.Sessions.Lines, line)
		case active:
			data.Keys.Lines = append(data.Keys.Lines, line)
		case len(data.Ended) < endedShown:
			data.Ended = append(data.Ended, line)
		default:
			data.More++
		}
	}
}

// accessNotice returns the notice of what the address says was done, nil for
// none.
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

// revokeAccess revokes a key or ends a session. If that is the session of this
// browser, or has opened it, the browser is signed out.
func revokeAccess(v view.Visit) error {
	number, _ := strconv.ParseInt(v.R.PostForm.Get("id"), 10, 64) // no key has the number 0
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

// makeInvitation makes an invitation and shows its link and code, this once.
func makeInvitation(v view.Visit) error {
	data := accessPage{Name: v.R.PostForm.Get("name"), Scope: v.R.PostForm.Get("scope")}
	if !store.ValidScope(data.Scope) { // no browser sends this
		return &httpapi.Problem{Kind: httpapi.Malformed}
	}
	name, err := record.NormalizeName(data.Name)
	if wrong := (*record.TextError)(nil); errors.As(err, &wrong) {
		data.Fault = v.Text("access.fault." + wrong.Code)
		data.Faults = []view.Fault{{Name: "name", Fault: data.Fault}}
		return renderAccess(v, http.StatusUnprocessableEntity, data)
	}
	at, err := v.Store.Address() // a machine may have got another one
	if err != nil {
		return err
	}
	reach, err := v.Reach()
	if err != nil {
		return err
	}
	var made *madeInvitation
	n := store.NewInvitation{Tenant: v.Session.Tenant, Name: name, Scope: data.Scope, By: v.Session.ID}
	err = v.Store.Invite(n, func(code string) error {
		link := site.InvitationLink(at, code)
		made = &madeInvitation{Name: name, Code: code, Link: link, HereOnly: site.HereOnly(at), Reach: reach}
		made.QR = view.QRCode(link, v.Text("access.qr", name))
		return nil
	})
	if err != nil {
		return err
	}
	return renderAccess(v, http.StatusOK, accessPage{Made: made})
}

func withdrawInvitation(v view.Visit) error {
	id, _ := strconv.ParseInt(v.R.PostForm.Get("id"), 10, 64) // no invitation has the number 0
	err := v.Store.Withdraw(v.Session.Tenant, id)
	if errors.Is(err, store.ErrNotFound) {
		return errNoAccess
	}
	if err != nil {
		return err
	}
	return v.Redirect(accessPath + "?withdrawn=1")
}
