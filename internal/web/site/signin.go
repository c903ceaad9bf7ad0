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
	"github.com/firefighter-records/firefighters/internal/web/callers"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

// An API key or the code of an invitation opens a session, whose secret is stored in a cookie. The
// secret opens only the office page.

const (
	// sessionLifetime is how long a session is valid after its last use.
	sessionLifetime = 90 * 24 * time.Hour
	// sharedLifetime is the same for a session on a shared computer. Its cookie also ends with the
	// browser, which the service cannot detect.
	sharedLifetime = 24 * time.Hour
)

// cookieName returns the name of the session cookie. It contains the port, because a browser shares
// cookies between all ports of a host, and does not let HTTP overwrite a cookie set over HTTPS.
func (v *Visit) cookieName() string {
	if v.R.TLS == nil && v.Site.LocalPort != "" {
		return "firefighters-" + v.Site.LocalPort
	}
	return "firefighters-" + v.Site.Port
}

// maxCookies is how many cookies are tried. Another program on this host may have set some.
const maxCookies = 4

// readSession finds the session of the request's cookie. The first valid cookie counts.
func (v *Visit) readSession() error {
	cookies := v.R.CookiesNamed(v.cookieName())
	for _, cookie := range cookies[:min(len(cookies), maxCookies)] {
		if cookie.Value == "" {
			continue
		}
		session, err := v.Site.Callers.Session(cookie.Value)
		if err == nil {
			v.Session, v.secret = session, cookie.Value
		}
		v.denied = v.denied || errors.Is(err, callers.ErrRevokedKey)
		if !errors.Is(err, store.ErrNotFound) && !errors.Is(err, callers.ErrRevokedKey) {
			return err
		}
	}
	return nil
}

// keepCookie renews the session cookie, so that it expires together with the session.
func (v *Visit) keepCookie() {
	cookie := v.cookie(v.secret)
	if lifetime := time.Duration(v.Session.Lifetime) * time.Millisecond; lifetime != sharedLifetime {
		cookie.MaxAge = int(lifetime.Seconds())
	}
	http.SetCookie(v.W, cookie)
}

func (v *Visit) cookie(value string) *http.Cookie {
	return &http.Cookie{Name: v.cookieName(), Value: value, Path: Root,
		HttpOnly: true, Secure: v.isSecure(), SameSite: http.SameSiteStrictMode}
}

// isSecure reports whether the browser uses HTTPS, also if a proxy forwards its request over HTTP.
func (v *Visit) isSecure() bool {
	return v.R.TLS != nil || strings.HasPrefix(v.Site.PublicURL, "https:") && v.Site.IsPublic(v.R)
}

// signInPage is the Data of sign-in.html.
type signInPage struct {
	Fault   string // message key; may be empty
	Wait    int    // seconds to wait after too many wrong tries
	Next    string // address to open after signing in
	Shared  bool
	Carried url.Values // fields of a form submitted without a session
	Signed  string     // label of the browser's current session
	Out     bool       // the visitor has just signed out
	Revoked bool       // the browser's session was revoked
}

// askToSignIn answers a request without a session: it leads through the sign-in page back to the
// requested page. It preserves the submitted form of a route with Form.
func (v *Visit) askToSignIn() error {
	page, form, _ := strings.Cut(strings.Replace(v.route.Form, "{id}", url.PathEscape(v.R.PathValue("id")), 1), "#")
	if v.form != "" {
		page, form = v.R.URL.RequestURI(), v.form
	} else if v.R.Method != http.MethodPost {
		if v.isCrossSite() { // the browser sends the cookie when this page reloads
			return v.Render(http.StatusOK, "again", Page{Title: v.Text("signin.title")})
		}
		to := Root + "sign-in"
		if here := v.R.URL.RequestURI(); here != Root {
			to += "?next=" + url.QueryEscape(here)
		}
		return v.Redirect(to)
	}
	data := signInPage{Next: v.next(), Fault: "signin.ended"}
	if page != "" {
		data.Next, data.Carried = page, carry(v.R.PostForm)
	}
	if form != "" {
		data.Next = formPath(form, page)
	}
	v.W.Header().Set("WWW-Authenticate", `Session realm="firefighters"`)
	return v.renderSignIn(http.StatusUnauthorized, data)
}

// InvitationLink returns the link that signs a person in to the service at a URL. The code is in
// the fragment, which browsers do not send to servers or proxies. It is used only when the person
// presses the button on the page.
func InvitationLink(url, code string) string { return url + Root + "sign-in" + codeFragment + code }

const codeFragment = "#code="

// HereOnly reports whether links to the service URL work only on the server's own computer.
func HereOnly(serviceURL string) bool {
	u, err := url.Parse(serviceURL)
	return err == nil && httpapi.IsLoopbackHost(u.Host)
}

// ownFields are the fields of the sign-in form itself.
var ownFields = []string{"key", "shared", "next", "language"}

// maxCarried is the maximum size of the carried fields, in bytes. The sign-in form needs the rest.
const maxCarried = MaxForm - 4<<10

// carry returns the fields of a submitted form, except ownFields and fields beyond maxCarried.
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

// maxAddress is the maximum length of an address that pages repeat, enough for a thousand columns.
const maxAddress = 32 << 10

// LocalPath returns path if it is an address below Root, and otherwise Root.
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
	data.Signed, data.Revoked = v.Session.Label, v.denied && !v.SignedIn()
	wrong := data.Fault != "" && data.Fault != "signin.ended"
	page := Page{Title: v.Text("signin.title"), Wrong: wrong, Data: data}
	if data.Out {
		page.Notice = &Notice{Text: v.Text("signout.done")}
	}
	return v.Render(status, "sign-in", page)
}

func showSignIn(v *Visit) error {
	query := v.Query()
	// After a link from another site, the browser may still have a session.
	out := query.Has("signedOut") && !v.SignedIn() && !v.isCrossSite()
	return v.renderSignIn(http.StatusOK, signInPage{Next: LocalPath(query.Get("next")), Out: out, Carried: carry(v.R.PostForm)})
}

// isCrossSite reports whether a link from another site led here. The browser has then left out the
// cookie, because of its SameSite attribute.
func (v *Visit) isCrossSite() bool { return v.R.Header.Get("Sec-Fetch-Site") == "cross-site" }

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
	if _, code, isLink := strings.Cut(typed, codeFragment); isLink { // a pasted link; scripts are off
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

// Try calls open with a secret, an API key or a code, unless the source of the request has tried too
// many wrong secrets: then it returns how many seconds the source must wait. open returns
// store.ErrNotFound for a wrong secret.
func (v *Visit) Try(secret string, open func(secret string) error) (wait int, err error) {
	left, err := v.Site.Tries.Try(v.R, secret, open)
	if left > 0 {
		wait = httpapi.SetRetryAfter(v.W.Header(), left)
	}
	if errors.Is(err, store.ErrNotFound) {
		v.Site.Callers.Refusals().Add(v.R, httpapi.KeyUnknown.Code)
	}
	return wait, err
}

// begin replaces the browser's session with a new one and redirects. The browser gets the new
// session even if ending the old one fails, because the invitation code is used up.
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
	// 307 makes the browser resend the form with the new cookie. The address shows the form again
	// with its values instead of saving it.
	v.W.Header().Set("Location", data.Next)
	v.W.WriteHeader(http.StatusTemporaryRedirect)
	return nil
}

const (
	signOutPath   = Root + "sign-out"
	signedOutPath = Root + "sign-in?signedOut=1"
)

// signOutPage is the Data of sign-out.html.
type signOutPage struct {
	Invited bool
	Next    string // address to open if the visitor stays signed in
}

func showSignOut(v *Visit) error {
	if !v.SignedIn() { // in another window
		return v.Redirect(signedOutPath)
	}
	data := signOutPage{v.invited(), LocalPath(v.Query().Get("next"))}
	return v.Render(http.StatusOK, "sign-out", Page{Title: v.Text("signout.title"), Data: data})
}

// invited reports whether an invitation opened the session. Its code cannot be used again.
func (v *Visit) invited() bool { return v.SignedIn() && v.Session.OpenedBy == 0 }

// SignOut ends the session in the browser and in the database. The browser drops its cookie even if
// the database cannot be written, because another person may use the computer next.
func (v *Visit) SignOut() error {
	expired := v.cookie("")
	expired.MaxAge = -1
	http.SetCookie(v.W, expired)
	old := v.Session
	v.Session = store.Key{}
	if old.ID != 0 {
		if err := v.Site.Callers.EndSession(old); err != nil {
			return err
		}
	}
	return v.Redirect(signedOutPath)
}
