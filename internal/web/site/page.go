package site

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"unicode"
	"unicode/utf8"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/text/lang"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// Page is the content that a handler passes to Render.
type Page struct {
	Title      string // translated
	Department string // its name; if empty, Render looks it up
	Section    string // active menu entry; may be empty
	Part       string // template to send instead of the whole page; may be empty
	Wrong      bool   // the form has errors, which the window title shows
	Notice     *Notice
	Data       any
}

// Notice is a message above the page about the last action, with a way to undo it.
type Notice struct {
	Text string
	Warn bool   // the action failed or was incomplete
	Undo string // address to which a form without fields is posted to undo the action; may be empty
	Away bool   // the address in Undo leads to another page
	Link string // address of the subject of Text; may be empty
	More []Line // further details
}

// Line is a sentence with the address of its subject.
type Line struct{ Text, Link string }

// frame is the data of the layout template. It repeats the fields of Page, because templates access
// fields of an embedded struct ten times more slowly.
type frame struct {
	Title, Section              string
	Wrong                       bool
	Notice                      *Notice
	Data                        any
	Lang                        string
	Department, Person, Path    string
	SignedIn, CanWrite, IsAdmin bool
	Phones                      bool // whether the page to set up phones exists
	Settings                    bool // whether the visitor may use the settings of this computer
	AskBeforeOut                bool // whether the sign-out button first asks for confirmation
	Languages                   []*lang.Language
	RequestID                   string
	Backups                     *Backups       // only for administrators of departments that are not invented; otherwise nil
	typed                       string         // ID of the form that the page shows again; may be empty
	forms                       []languageForm // of Typed and Query
}

// Render renders templates/NAME.html of a room within layout.html. The page is sent after the
// handler returns. Within Work, the page is written to W, which buffers it. If Render returns an
// error there, the handler must return that error and must not render another page.
func (v *Visit) Render(status int, name string, p Page) error {
	f := frame{
		Title: p.Title, Section: p.Section, Wrong: p.Wrong, Notice: p.Notice, Data: p.Data,
		Lang: v.Lang.Tag, Languages: lang.All(), Path: v.here(), RequestID: v.requestID(),
		SignedIn: v.SignedIn(), CanWrite: v.May(store.ScopeWrite), IsAdmin: v.May(store.ScopeAdmin),
		Phones:       v.Site.Phones,
		AskBeforeOut: v.invited() && v.path != signOutPath, typed: v.form,
	}
	if f.SignedIn {
		f.Department, f.Person = p.Department, v.Session.Label
		if f.Department == "" {
			name, err := v.Store.TenantName(v.Session.Tenant)
			if err != nil && !v.failed { // an error page does not need the name
				return err
			}
			f.Department = name
		}
		if f.IsAdmin {
			may, err := v.maySet()
			if err != nil && !v.failed {
				return err
			}
			f.Settings = may
		}
		if f.IsAdmin && !v.Site.Invented {
			f.Backups = new(v.Backups())
			if f.Section == "settings" { // the page itself shows the trouble
				f.Backups.Trouble, f.Backups.Advice = "", Advice{}
			}
		}
	}
	write := func(to io.Writer) error { return v.write(to, name, cmp.Or(p.Part, layoutName), &f) }
	h := v.W.Header()
	if v.insideWork { // the page may be long: do not hold all of it in memory
		v.W.WriteHeader(status)
		if err := httpapi.CompressTo(h, v.R, v.W, func(to io.Writer) error { return write(undirected{to}) }); err != nil {
			return err
		}
	} else {
		var page bytes.Buffer
		if err := write(&page); err != nil {
			return err
		}
		v.status, v.body = status, httpapi.Compress(h, v.R, withoutDirections(page.Bytes()))
	}
	h["Content-Type"] = []string{"text/html; charset=utf-8"}
	h["Content-Language"] = []string{v.Lang.Tag}
	httpapi.VaryByEncoding(h)
	if v.SignedIn() && v.R.Method == http.MethodGet {
		v.keepCookie()
	}
	return nil
}

// write executes a template of a page. If the page shows a form again, it fills in the fields.
func (v *Visit) write(to io.Writer, name, part string, f *frame) error {
	var page shortPage
	out := to
	if v.form != "" && len(v.R.PostForm) > 0 { // a demo disables its settings
		out = &page
	}
	if err := v.Site.look.pages[pageKey(v.Lang, name)]().ExecuteTemplate(out, part, f); err != nil {
		return fmt.Errorf("rendering the page %s: %w", name, err)
	}
	_, err := to.Write(fill(page.Bytes(), v.form, v.R.PostForm))
	return err
}

// shortPage is a page with a form to show again. No page with a form is as long as a list of all people.
type shortPage struct{ bytes.Buffer }

func (p *shortPage) Write(b []byte) (int, error) {
	if p.Len() > 4<<20 {
		return 0, &httpapi.Problem{Kind: httpapi.TooLarge}
	}
	return p.Buffer.Write(b)
}

// undirected writes a page without the characters that change the direction of text, because one
// from a file or a record would reorder the rest of its line. Each Write must have whole characters.
type undirected struct{ to io.Writer }

func (u undirected) Write(b []byte) (int, error) {
	_, err := u.to.Write(withoutDirections(b))
	return len(b), err
}

// withoutDirections returns the text without the characters that change its direction. All of them
// begin with the byte e2, except U+061C, which overrides no direction.
func withoutDirections(text []byte) []byte {
	for rest := text; ; {
		_, after, found := bytes.Cut(rest, []byte{0xe2})
		if !found {
			return text
		}
		r, _ := utf8.DecodeRune(rest[len(rest)-len(after)-1:])
		if unicode.Is(unicode.Bidi_Control, r) {
			return bytes.Map(func(r rune) rune {
				if unicode.Is(unicode.Bidi_Control, r) {
					return -1
				}
				return r
			}, text)
		}
		rest = after
	}
}

// send sends the rendered page, if there is one. If it returns an error, nothing was sent.
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

// Back returns the address that a page's forms return to: the parameter "back", which may be in the
// form or in the page's address. The default is Root.
func (v *Visit) Back() string {
	return LocalPath(cmp.Or(v.R.PostForm.Get("back"), v.Query().Get("back")))
}

// here returns the address of the current page; for a submitted form, the result of next.
func (v *Visit) here() string {
	if v.R.Method == http.MethodGet {
		if address := v.R.URL.RequestURI(); len(address) <= maxAddress {
			return address
		}
		return v.R.URL.Path
	}
	return v.next()
}

// next returns the address in the field "next" of a form, or the result of Back.
func (v *Visit) next() string {
	if next := v.R.PostForm.Get("next"); next != "" {
		return LocalPath(next)
	}
	return v.Back()
}

// Text returns a message in the visitor's language, with its arguments filled in.
func (v *Visit) Text(key string, args ...any) string {
	return v.Site.look.messages().Text(v.Lang, key, args...)
}

// Count returns the form of a message for the number n in the visitor's language.
func (v *Visit) Count(key string, n int, args ...any) string {
	return v.Site.look.messages().Count(v.Lang, key, n, args...)
}

// errorPage is the Data of error.html. What and Todo are messages under the code of the problem.
type errorPage struct {
	Status     int
	What, Todo string
	Loss       string // what happened to a lost database; otherwise empty
	Command    string // command to type against the loss, or the address to open; may be empty

	// The fields of the submitted form, so that the visitor can resend it after a server error.
	Action  string
	Carried url.Values
}

func (v *Visit) fail(err error) {
	upload.Ignore(v.R, v.SignedIn())
	p := v.Site.explain(v.W, v.R, v.path, err)
	for name, values := range p.Header {
		v.W.Header()[name] = values
	}
	what, todo := "error."+p.Code, "error."+p.Code+".todo"
	data := errorPage{Status: p.Status, What: v.Text(what), Todo: v.Text(todo)}
	if kind := v.Site.Loss(); kind != "" && p.Status == http.StatusServiceUnavailable {
		// Only the message at the end of the service names files; no page may.
		data.Loss, data.Todo = v.Text("lost."+kind), v.Text("lost.window")
		if v.Site.Installed {
			data.Todo, data.Command = v.Text("lost.admin"), "firefighters service stop"
		}
	}
	if p.Code == errElsewhere.Code {
		if _, local, err := v.Store.Addresses(); err == nil && HereOnly(local) {
			data.Command = local + Root + "settings"
		}
	}
	if (v.route.Form != "" || v.form != "") && p.Status >= http.StatusInternalServerError {
		data.Action, data.Carried = v.R.URL.Path, carry(v.R.PostForm)
		if v.form != "" {
			data.Action = formPath(v.form, v.R.URL.RequestURI())
		}
	}
	v.failed = true
	err = v.Render(p.Status, "error", Page{Title: data.What, Data: data})
	if err == nil {
		err = v.send()
	}
	if err != nil {
		v.Site.Log.Error("rendering an error page failed", "requestId", v.requestID(), "cause", err.Error())
		http.Error(v.W, data.What, p.Status)
	}
}
