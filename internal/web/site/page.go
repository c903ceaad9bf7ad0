package site

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/text/lang"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// Page is what a handler says of its page.
type Page struct {
	Title      string // translated
	Department string // its name; empty: Render asks for it
	Section    string // its entry in the menu, or below one; empty for none
	Part       string // what to answer with: a template that the page defines; empty: all of the page
	Wrong      bool   // a form has faults: the title of the window says so first
	Notice     *Notice
	Data       any
}

// Notice says above a page what has just happened, and offers to undo that.
type Notice struct {
	Text string
	Warn bool   // it was not done, or not all of it
	Undo string // address that undoes it, by a form without fields; empty: nothing to undo
	Away bool   // the address of Undo answers with a page of its own
	Link string // address of what the text is about; empty: none
	More []Line // what else is to be known
}

// Line is a sentence, and the address of what it is about.
type Line struct{ Text, Link string }

// frame is a page with what all pages show around it. The members of Page stand in it one
// by one: a template finds those of an embedded struct ten times slower.
type frame struct {
	Title, Section              string
	Wrong                       bool
	Notice                      *Notice
	Data                        any
	Lang                        string
	Department, Person, Path    string
	SignedIn, CanWrite, IsAdmin bool
	Phones                      bool // there is a page to set up phones
	AskBeforeOut                bool // the button to sign out leads to the page that asks
	Languages                   []*lang.Language
	RequestID                   string
	Backups                     *Backups // for those who may see to them; else nil
}

// Render answers with a page: templates/NAME.html of a room, within layout.html. The page is
// sent when the handler has returned. Within Work it is written to W, which keeps it.
// There a handler whose Render returned an error must return that error, and render
// no other page after half of this one.
func (v *Visit) Render(status int, name string, p Page) error {
	f := frame{
		Title: p.Title, Section: p.Section, Wrong: p.Wrong, Notice: p.Notice, Data: p.Data,
		Lang: v.Lang.Tag, Languages: lang.All(), Path: v.here(), RequestID: v.requestID(),
		SignedIn: v.SignedIn(), CanWrite: v.May(store.ScopeWrite), IsAdmin: v.May(store.ScopeAdmin),
		Phones:       v.Site.Phones,
		AskBeforeOut: v.invited() && v.path != signOutPath,
	}
	if f.SignedIn {
		f.Department, f.Person = p.Department, v.Session.Person()
		if f.Department == "" {
			name, err := v.Store.TenantName(v.Session.Tenant)
			if err != nil && !v.failed { // the page of an error can do without
				return err
			}
			f.Department = name
		}
		if f.IsAdmin {
			f.Backups = new(v.Backups())
		}
	}
	write := func(to io.Writer) error {
		if err := v.Site.look.pages[v.Lang.Tag]()[name].ExecuteTemplate(to, cmp.Or(p.Part, layoutName), f); err != nil {
			return fmt.Errorf("making the page %s: %w", name, err)
		}
		return nil
	}
	h := v.W.Header()
	if v.insideWork { // the page may be long: it is never in memory as a whole
		v.W.WriteHeader(status)
		if err := httpapi.CompressTo(h, v.R, v.W, write); err != nil {
			return err
		}
	} else {
		var page bytes.Buffer
		if err := write(&page); err != nil {
			return err
		}
		v.status, v.body = status, httpapi.Compress(h, v.R, page.Bytes())
	}
	h["Content-Type"] = []string{"text/html; charset=utf-8"}
	h["Content-Language"] = []string{v.Lang.Tag}
	httpapi.VaryByEncoding(h)
	if v.SignedIn() && v.R.Method == http.MethodGet {
		v.keepCookie()
	}
	return nil
}

// send sends the page that was made, if there is one. After an error nothing was sent.
func (v *Visit) send() error {
	status, body := v.status, v.body
	if status == 0 {
		return nil
	}
	v.status, v.body = 0, nil
	err := upload.Respond(v.W, v.owner(), status, body)
	if err != nil {
		v.W.Header().Del("Content-Encoding")
	}
	return err
}

// Back returns the address that the forms of a page lead back to. It is the parameter
// "back" of the page's address, and a field of its forms. Without one it is Root.
func (v *Visit) Back() string {
	return LocalPath(cmp.Or(v.R.PostForm.Get("back"), v.Query().Get("back")))
}

// here returns the address that leads to the page again: its own, or for a form the
// address in the field "next", or that to which the form leads back.
func (v *Visit) here() string {
	if v.R.Method == http.MethodGet {
		if address := v.R.URL.RequestURI(); len(address) <= maxAddress {
			return address
		}
		return v.R.URL.Path
	}
	return v.next()
}

// next returns the address in the field "next" of a form, or that to which the form leads
// back.
func (v *Visit) next() string {
	if next := v.R.PostForm.Get("next"); next != "" {
		return LocalPath(next)
	}
	return v.Back()
}

// Text returns a message in the visitor's language.
func (v *Visit) Text(key string, args ...any) string {
	return v.Site.look.messages.Text(v.Lang, key, args...)
}

// Count returns a message about so many things in the visitor's language.
func (v *Visit) Count(key string, n int, args ...any) string {
	return v.Site.look.messages.Count(v.Lang, key, n, args...)
}

// errorPage is the Data of error.html. What happened and what to do are messages
// under the code of the problem.
type errorPage struct {
	Status     int
	What, Todo string
	Loss       string // what happened to a lost database; empty: it was not lost
	Command    string // what to type about that; may be empty

	// What was typed into a form, to send it again: the fault was the service's.
	Action  string
	Carried url.Values
}

// fail answers with an error. It is the one place where an error becomes a page.
func (v *Visit) fail(err error) {
	p := v.Site.explain(v.W, v.R, v.path, err)
	for name, values := range p.Header {
		v.W.Header()[name] = values
	}
	what, todo := "error."+p.Code, "error."+p.Code+".todo"
	data := errorPage{Status: p.Status, What: v.Text(what), Todo: v.Text(todo)}
	if kind := v.Site.Loss(); kind != "" && p.Status == http.StatusServiceUnavailable {
		data.explainLoss(v, kind)
	}
	if v.route.Carried && p.Status >= http.StatusInternalServerError {
		data.Action, data.Carried = v.R.URL.Path, carry(v.R.PostForm)
	}
	v.failed = true
	err = v.Render(p.Status, "error", Page{Title: data.What, Data: data})
	if err == nil {
		err = v.send()
	}
	if err != nil {
		v.Site.Log.Error("an error page could not be made", "requestId", v.requestID(), "cause", err.Error())
		http.Error(v.W, data.What, p.Status)
	}
}

// explainLoss shows what happened to a lost database and what to type. Only the end of the
// service says more, because no page may name a file.
func (e *errorPage) explainLoss(v *Visit, kind string) {
	e.Loss, e.Todo = v.Text("lost."+kind), v.Text("lost.window")
	if v.Site.Installed {
		e.Todo, e.Command = v.Text("lost.admin"), "firefighters service stop"
	}
}

const languageCookie = "firefighters-language"

// languageOf returns the language that the visitor has chosen, or else the browser's.
func languageOf(r *http.Request) *lang.Language {
	if cookie, err := r.Cookie(languageCookie); err == nil {
		if chosen := lang.ByTag(cookie.Value); chosen != nil {
			return chosen
		}
	}
	return lang.Negotiate(r.Header.Get("Accept-Language"))
}

// chooseLanguage keeps a language for a year.
func chooseLanguage(v *Visit) error {
	if chosen := lang.ByTag(v.R.PostForm.Get("language")); chosen != nil {
		http.SetCookie(v.W, &http.Cookie{Name: languageCookie, Value: chosen.Tag, Path: Root, MaxAge: int(365 * 24 * time.Hour / time.Second),
			HttpOnly: true, Secure: v.R.TLS != nil, SameSite: http.SameSiteStrictMode})
	}
	return v.Redirect(LocalPath(v.R.PostForm.Get("next")))
}
