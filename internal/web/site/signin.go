package site

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

// Signing in: a key or an invitation's code opens a session, whose secret is in
// a cookie. The secret opens nothing but this page.

const (
	// sessionLifetime is how long a session is valid after its last use.
	sessionLifetime = 90 * 24 * time.Hour
	// sharedLifetime is how long a session of a shared computer is valid after its last
	// use. It ends with the browser, too, but the service cannot see that.
	sharedLifetime = 24 * time.Hour
)

// cookieName returns the name of the cookie of the session. A browser has one set of
// cookies for all ports of a host, and keeps that of HTTPS from being replaced by HTTP.
func (v *Visit) cookieName() string {
	if v.R.TLS == nil && v.Site.LocalPort != "" {
		return "firefighters-" + v.Site.LocalPort
	}
	return "firefighters-" + v.Site.Port
}

// mostCookies is how many cookies of our name are looked at. A browser sends
// several if another program of this machine has set one for a part of the page.
const mostCookies = 4

// readSession finds the session of the request's cookie: the first that works.
func (v *Visit) readSession() error {
	cookies := v.R.CookiesNamed(v.cookieName())
	for _, cookie := range cookies[:min(len(cookies), mostCookies)] {
		if cookie.Value == "" {
			continue
		}
		session, err := v.Site.Callers.Session(cookie.Value)
		if err == nil {
			v.Session, v.secret = session, cookie.Value
		}
		if !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return nil
}

// keepCookie sets the cookie of the session, so that the browser keeps it for as
// long as the session is valid.
func (v *Visit) keepCookie() {
	cookie := v.cookie(v.secret)
	if lifetime := time.Duration(v.Session.Lifetime) * time.Millisecond; lifetime != sharedLifetime {
		cookie.MaxAge = int(lifetime.Seconds())
	}
	http.SetCookie(v.W, cookie)
}

func (v *Visit) cookie(value string) *http.Cookie {
	return &http.Cookie{Name: v.cookieName(), Value: value, Path: Root,
		HttpOnly: true, Secure: v.R.TLS != nil, SameSite: http.SameSiteStrictMode}
}

// signInPage is the Data of sign-in.html.
type signInPage struct {
	Fault   string // message key; empty without one
	Wait    int    // seconds to wait after too many tries
	Next    string // where to go afterwards
	Shared  bool
	Carried url.Values // what was typed into a form before
	Signed  string     // label of the session that the browser has
	Out     bool       // the browser has just signed out
}

// askToSignIn answers a visit without a session: by way of sign-in it leads
// back to where the visitor was, with what was typed into a form.
func (v *Visit) askToSignIn(carried bool) error {
	if v.R.Method != http.MethodPost {
		if v.fromElsewhere() { // the browser sends the cookie when this page leads on
			return v.Render(http.StatusOK, "again", Page{Title: v.Text("signin.title")})
		}
		to := Root + "sign-in"
		if here := v.R.URL.RequestURI(); here != Root {
			to += "?next=" + url.QueryEscape(here)
		}
		return v.Redirect(to)
	}
	data := signInPage{Next: v.next(), Fault: "signin.ended"}
	if carried {
		data.Next, data.Carried = v.R.URL.Path, carry(v.R.PostForm)
	}
	v.W.Header().Set("WWW-Authenticate", `Session realm="firefighters"`)
	return v.renderSignIn(http.StatusUnauthorized, data)
}

// InvitationLink returns the link that signs somebody in at the service with this
// URL. The code is in its fragment, which no program on the way sees, and the page
// needs a press of a button to use it.
func InvitationLink(url, code string) string { return url + Root + "sign-in" + codeFragment + code }

const codeFragment = "#code="

// HereOnly reports whether the links to a service with this URL work on its own
// machine alone.
func HereOnly(serviceURL string) bool {
	u, err := url.Parse(serviceURL)
	return err == nil && httpapi.IsLoopbackHost(u.Host)
}

// ownFields are the fields of the form at sign-in itself.
var ownFields = []string{"key", "shared", "next", "resume"}

// maxCarried is how much of a form can be carried, in bytes. The rest of maxForm
// is for the fields of sign-in.
const maxCarried = maxForm - 4<<10

// carry returns the fields of a form that was sent, but those of sign-in and what
// is too large to be carried, such as a long text of an upload.
func carry(form url.Values) url.Values {
	carried, left := url.Values{}, maxCarried
	for _, name := range slices.Sorted(maps.Keys(form)) {
		size := len(url.QueryEscape(name) + "=" + url.QueryEscape(form.Get(name)) + "&")
		if !slices.Contains(ownFields, name) && size <= left {
			carried.Set(name, form.Get(name))
			left -= size
		}
	}
	return carried
}

// maxAddress is the length of the longest address that pages repeat, in bytes: that
// of a list with a thousand columns.
const maxAddress = 32 << 10

// LocalPath returns path if it is an address of this page, and else Root.
func LocalPath(path string) string {
	u, err := url.Parse(path)
	if len(path) > maxAddress || err != nil || u.Scheme != "" || u.Host != "" || u.User != nil ||
		!strings.HasPrefix(path, Root) || !isClean(u.Path) ||
		strings.ContainsFunc(path, func(c rune) bool { return c <= ' ' || c == '\\' || c >= 0x7f }) {
		return Root
	}
	return path
}

func (v *Visit) renderSignIn(status int, data signInPage) error {
	data.Signed = v.Session.Label
	wrong := data.Fault != "" && data.Fault != "signin.ended"
	page := Page{Title: v.Text("signin.title"), Wrong: wrong, Data: data}
	if data.Out {
		page.Notice = &Notice{Text: v.Text("signout.done")}
	}
	return v.Render(status, "sign-in", page)
}

func showSignIn(v *Visit) error {
	query := v.Query()
	// Where a link of another site leads, the browser may have a session all the same.
	out := query.Has("signedOut") && !v.SignedIn() && !v.fromElsewhere()
	return v.renderSignIn(http.StatusOK, signInPage{Next: LocalPath(query.Get("next")), Out: out})
}

// fromElsewhere reports whether a link of another site led here: then the browser has left
// out the cookie, because of its SameSite.
func (v *Visit) fromElsewhere() bool { return v.R.Header.Get("Sec-Fetch-Site") == "cross-site" }

func signIn(v *Visit) error {
	form := v.R.PostForm
	data := signInPage{Next: LocalPath(form.Get("next")), Shared: form.Get("shared") != "", Carried: carry(form)}
	lifetime := sessionLifetime
	if data.Shared {
		lifetime = sharedLifetime
	}
	var secret string
	var opened store.Key
	typed := form.Get("key")
	if _, code, isLink := strings.Cut(typed, codeFragment); isLink { // scripts are off: the page does not take its code
		typed = code
	}
	wait, err := v.Try(strings.TrimSpace(typed), func(key string) (err error) {
		secret, opened, err = v.Store.OpenSession(key, deviceOf(v.R.UserAgent()), lifetime)
		return err
	})
	if wait > 0 {
		data.Fault, data.Wait = "signin.wait", wait
		return v.renderSignIn(http.StatusTooManyRequests, data)
	}
	if errors.Is(err, store.ErrNotFound) {
		data.Fault = "signin.wrong"
		return v.renderSignIn(http.StatusForbidden, data)
	}
	if err != nil {
		return err
	}
	return v.begin(secret, opened, data)
}

// Try calls open with the secret that a visitor has, a key or a code. Wrong ones, of which
// open returns store.ErrNotFound, count by the source of the request: wait is how many
// seconds it must wait after too many, and open was not called.
func (v *Visit) Try(secret string, open func(secret string) error) (wait int, err error) {
	left, err := v.Site.tries.Try(v.R, secret, open)
	if left > 0 {
		wait = httpapi.SetRetryAfter(v.W.Header(), left)
	}
	if errors.Is(err, store.ErrNotFound) {
		v.Site.Callers.Refusals().Add(v.R, httpapi.KeyUnknown.Code)
	}
	return wait, err
}

// begin takes the browser from its old session to a new one, and leads on. The browser
// gets the new one even if the old one could not be ended, because the code is used up.
func (v *Visit) begin(secret string, session store.Key, data signInPage) error {
	old := v.Session
	v.Session, v.secret = session, secret
	v.keepCookie()
	if old.ID != 0 {
		if err := v.Site.Callers.EndSession(old); err != nil {
			return err
		}
	}
	if len(data.Carried) == 0 {
		return v.Redirect(data.Next)
	}
	// The browser sends the form once more, now with the cookie. With resume nothing is
	// saved yet: the form is shown again with what was typed before.
	v.W.Header().Set("Location", data.Next+"?resume=1")
	v.W.WriteHeader(http.StatusTemporaryRedirect)
	return nil
}

// Resumed reports whether a form must be shown again, and not saved.
func (v *Visit) Resumed() bool { return v.Query().Has("resume") }

const (
	signOutPath   = Root + "sign-out"
	signedOutPath = Root + "sign-in?signedOut=1" // says so
)

// signOutPage is the Data of sign-out.html.
type signOutPage struct {
	Invited bool
	Next    string // where to go instead
}

func showSignOut(v *Visit) error {
	if !v.SignedIn() { // in another window
		return v.Redirect(signedOutPath)
	}
	data := signOutPage{v.invited(), LocalPath(v.Query().Get("next"))}
	return v.Render(http.StatusOK, "sign-out", Page{Title: v.Text("signout.title"), Data: data})
}

// invited reports whether an invitation opened the session. Its code is used up, so there
// is no way back in without another one.
func (v *Visit) invited() bool { return v.SignedIn() && v.Session.OpenedBy == 0 }

// SignOut ends the session, here and in the database. The browser forgets it also
// if the database cannot be written, because the next person may sit there.
func (v *Visit) SignOut() error {
	gone := v.cookie("")
	gone.MaxAge = -1
	http.SetCookie(v.W, gone)
	old := v.Session
	v.Session = store.Key{}
	if old.ID != 0 {
		if err := v.Site.Callers.EndSession(old); err != nil {
			return err
		}
	}
	return v.Redirect(signedOutPath)
}
