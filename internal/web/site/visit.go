package site

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/text/lang"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// Visit is a request and who sent it.
type Visit struct {
	W       http.ResponseWriter
	R       *http.Request
	Store   *store.Store
	Lang    *lang.Language
	Session store.Key    // the zero Key without a session
	Upload  *upload.Form // of a route with Upload; nil: a form without files

	site   *Site
	route  Route
	path   string // of the route
	secret string // of the session
	failed bool   // the page says that something went wrong
	makes  bool   // it has a place in making
	works  bool   // it is within Work: W keeps what is written

	status int    // of the page that is to be sent; 0: there is none
	body   []byte // of that page
}

// SignedIn reports whether the visitor has a session.
func (v *Visit) SignedIn() bool { return v.Session.ID != 0 }

// May reports whether the session may use routes of a scope.
func (v *Visit) May(scope string) bool { return store.ScopeCovers(v.Session.Scope, scope) }

// mayUse reports whether the visitor may use a route.
func (v *Visit) mayUse(r Route) bool { return r.Scope == "" || v.May(r.Scope) }

// maxForm is the size of the largest form, in bytes.
const maxForm = 64 << 10

// errForged refuses a form that the page of another site has sent.
var errForged = &httpapi.Problem{Kind: httpapi.Kind{Code: "forged", Status: http.StatusForbidden}}

// answer finds the session of the visitor, then reads the form, and hands the visit to
// its route. Without a session it reads a form only to carry it along.
func (v *Visit) answer() error {
	if err := v.readSession(); err != nil {
		return err
	}
	if v.R.Method == http.MethodPost {
		switch {
		case v.site.origin.Check(v.R) != nil:
			return errForged
		case v.SignedIn() && !v.mayUse(v.route):
			upload.Ignore(v.W, v.R, false)
			return &httpapi.Problem{Kind: httpapi.Scope}
		}
		if err := v.readForm(); err != nil {
			return err
		}
	}
	switch {
	case v.mayUse(v.route):
		return v.handle()
	case v.SignedIn():
		return &httpapi.Problem{Kind: httpapi.Scope}
	}
	return v.askToSignIn(v.route.carried)
}

// handle hands the visit to its route.
func (v *Visit) handle() error {
	switch {
	case v.route.large:
		return v.Work(0, func() error { return v.route.Handle(v) })
	case v.R.Method == http.MethodPost: // may wait for a disk
		return v.route.Handle(v)
	}
	making <- struct{}{}
	v.makes = true
	defer v.stopMaking()
	return v.route.Handle(v)
}

// making limits how many pages are made at the same time. Each takes a few
// milliseconds, and up to some megabytes. A visit gives its place back before it waits:
// for a place to work, for a disk, or for a client that takes its answer.
var making = make(chan struct{}, 8)

// stopMaking frees the place in making, if the visit has one.
func (v *Visit) stopMaking() {
	if v.makes {
		v.makes = false
		<-making
	}
}

// Send answers with a file, as upload.Send does.
func (v *Visit) Send(a upload.Attachment, write func(io.Writer) error) error {
	v.stopMaking()
	return upload.Send(v.W, v.R, v.owner(), a, write)
}

// owner returns whose the files of the visit are, for package upload.
func (v *Visit) owner() int64 { return int64(v.Session.Tenant) }

// Work calls do as upload.Work does.
func (v *Visit) Work(size int64, do func() error) error {
	v.stopMaking()
	w := v.W
	return upload.Work(w, v.R, v.owner(), size, func(kept http.ResponseWriter) error {
		v.W, v.works = kept, true
		defer func() { v.W, v.works = w, false }()
		return do()
	})
}

// readForm reads the fields of a form into v.R.PostForm, and that of a route with
// Upload into v.Upload as well.
func (v *Visit) readForm() error {
	mediaType, params, err := mime.ParseMediaType(v.R.Header.Get("Content-Type"))
	if err == nil && mediaType == upload.FormType && v.route.upload {
		return v.readUpload(params["boundary"])
	}
	if err != nil || mediaType != "application/x-www-form-urlencoded" {
		return &httpapi.Problem{Kind: httpapi.ContentType}
	}
	body, err := io.ReadAll(http.MaxBytesReader(v.W, v.R.Body, maxForm))
	switch {
	case errors.As(err, new(*http.MaxBytesError)), bytes.Count(body, []byte("&")) >= upload.MaxParts:
		return &httpapi.Problem{Kind: httpapi.TooLarge}
	case err != nil:
		return &httpapi.Problem{Kind: httpapi.Malformed}
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return &httpapi.Problem{Kind: httpapi.Malformed}
	}
	v.R.PostForm = validForm(form)
	return nil
}

// readUpload reads a form that may have a file. Without a session it throws the
// file away.
func (v *Visit) readUpload(boundary string) (err error) {
	may := v.mayUse(v.route)
	v.Upload, err = upload.ReceiveForm(v.W, v.R, boundary, v.owner(), may)
	if err != nil {
		upload.Ignore(v.W, v.R, may)
		return err
	}
	v.R.PostForm = validForm(v.Upload.Fields)
	return nil
}

// validForm returns a form in valid UTF-8. U+FFFD stands for what is not, as in
// the API.
func validForm(form url.Values) url.Values {
	valid := url.Values{}
	for name, values := range form {
		for _, value := range values {
			valid.Add(strings.ToValidUTF8(name, "\uFFFD"), strings.ToValidUTF8(value, "\uFFFD"))
		}
	}
	return valid
}

// recover answers after a panic of a handler.
func (v *Visit) recover() {
	if p := recover(); p == http.ErrAbortHandler {
		panic(p)
	} else if p != nil {
		v.fail(fmt.Errorf("panic: %v", p))
	}
}

// errorPage is the Data of error.html. What happened and what to do are messages
// under the code of the problem.
type errorPage struct {
	Status     int
	What, Todo string

	// What was typed into a form, to send it again: the fault was the service's.
	Action  string
	Carried []field
}

// fail answers with an error. It is the one place where an error becomes a page.
func (v *Visit) fail(err error) {
	p := v.site.Explain(v.W, v.R, v.path, err)
	if p.Status == http.StatusUnauthorized { // the department was removed at this moment
		v.Session = store.Key{}
		if v.askToSignIn(false) == nil && v.send() == nil {
			return
		}
	}
	for name, values := range p.Header {
		v.W.Header()[name] = values
	}
	what, todo := "error."+p.Code, "error."+p.Code+".todo"
	data := errorPage{Status: p.Status, What: v.Text(what), Todo: v.Text(todo)}
	if v.route.carried && p.Status >= http.StatusInternalServerError {
		data.Action, data.Carried = v.R.URL.Path, carry(v.R.PostForm)
	}
	v.failed = true
	err = v.Render(p.Status, "error", Page{Title: data.What, Data: data})
	if err == nil {
		err = v.send()
	}
	if err != nil {
		v.site.Log.Error("an error page could not be made", "requestId", v.requestID(), "cause", err.Error())
		http.Error(v.W, data.What, p.Status)
	}
}

func (v *Visit) requestID() string { return v.W.Header().Get("X-Request-Id") }

// Redirect leads the browser to another page, which it gets.
func (v *Visit) Redirect(path string) error {
	v.W.Header().Set("Location", path)
	v.W.WriteHeader(http.StatusSeeOther)
	return nil
}

// Page is what a handler says of its page.
type Page struct {
	Title   string // translated
	Section string // its entry in the navigation; empty for none
	Wrong   bool   // there are faults: the title of the window begins with that
	Notice  *Notice
	Data    any
}

// Notice says above a page what has just happened, and offers to undo that.
type Notice struct {
	Text string
	Undo string // address that undoes it, by a form without fields; empty: nothing to undo
	Link string // address of what the text is about; empty: none
}

// frame is a page with what all pages show around it.
type frame struct {
	Page
	Lang                        string
	Department, Person, Path    string
	SignedIn, CanWrite, IsAdmin bool
	Languages                   []*lang.Language
	CSS, JS, Icon, RequestID    string
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Render answers with a page: templates/NAME.html within layout.html. The page is
// sent when the handler has returned. Within Work it is written where the answer is
// kept, and after an error there must be no other.
func (v *Visit) Render(status int, name string, p Page) error {
	return v.render(status, name, "layout.html", p)
}

// RenderPart answers with a part of a page, a template that is defined in
// templates/NAME.html.
func (v *Visit) RenderPart(name, part string, p Page) error {
	return v.render(http.StatusOK, name, part, p)
}

func (v *Visit) render(status int, name, part string, p Page) error {
	f := frame{
		Page: p, Lang: v.Lang.Tag(), Languages: lang.All(), Path: v.back(), RequestID: v.requestID(),
		SignedIn: v.SignedIn(), CanWrite: v.May(store.ScopeWrite), IsAdmin: v.May(store.ScopeAdmin),
		CSS: v.site.look.assets["office.css"].path, JS: v.site.look.assets["office.js"].path, Icon: v.site.look.assets["icon.svg"].path,
	}
	if f.SignedIn {
		department, err := v.Store.TenantName(v.Session.Tenant)
		if err != nil && !v.failed { // the page of an error can do without
			return err
		}
		f.Department, f.Person = department, v.Session.Person()
	}
	write := func(to io.Writer) error {
		if err := v.site.look.page(v.Lang, name).ExecuteTemplate(to, part, f); err != nil {
			return fmt.Errorf("making the page %s: %w", name, err)
		}
		return nil
	}
	h := v.W.Header()
	if v.works { // the page may be long: it is never in memory as a whole
		v.W.WriteHeader(status)
		if err := httpapi.CompressTo(h, v.R, v.W, write); err != nil {
			return err
		}
	} else {
		page := buffers.Get().(*bytes.Buffer)
		defer buffers.Put(page)
		page.Reset()
		if err := write(page); err != nil {
			return err
		}
		v.status, v.body = status, bytes.Clone(httpapi.Compress(h, v.R, page.Bytes()))
	}
	h["Content-Type"] = []string{"text/html; charset=utf-8"}
	h["Content-Language"] = []string{v.Lang.Tag()}
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

// back returns the address of the page itself, to come back to, or that which a
// form names.
func (v *Visit) back() string {
	if v.R.Method == http.MethodGet {
		if address := v.R.URL.RequestURI(); len(address) <= maxAddress {
			return address
		}
		return v.R.URL.Path
	}
	return LocalPath(v.R.PostForm.Get("next"))
}

// Text returns a message in the visitor's language.
func (v *Visit) Text(key string, args ...any) string {
	return v.site.look.messages.Text(v.Lang, key, args...)
}

// Count returns a message about so many things in the visitor's language.
func (v *Visit) Count(key string, n int, args ...any) string {
	return v.site.look.messages.Count(v.Lang, key, n, args...)
}
