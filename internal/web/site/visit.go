package site

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/text/lang"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// Visit is a request with its response, session and language.
type Visit struct {
	W       http.ResponseWriter
	R       *http.Request
	Site    *Site
	Store   *store.Store
	Lang    *lang.Language
	Session store.Key    // the zero Key without a session
	Upload  *upload.Form // only for routes with Upload; nil if the form is not multipart

	route  Route
	path   string     // of the route
	secret string     // of the session
	query  url.Values // of the address; nil until Query is called
	failed bool       // whether the page reports an error
	denied bool       // whether the session was revoked

	form string // ID of the form to show again, with the values in R.PostForm; may be empty

	insideWork bool // whether Work is calling the handler, so that W buffers the response

	status int    // of the page that send sends; 0 if there is none
	body   []byte // of that page
}

// SignedIn reports whether the visitor has a session.
func (v *Visit) SignedIn() bool { return v.Session.ID != 0 }

// Query returns the parameters of the address, parsed once. The caller must not change them.
func (v *Visit) Query() url.Values {
	if v.query == nil {
		v.query = v.R.URL.Query()
	}
	return v.query
}

// May reports whether the session's scope covers a scope.
func (v *Visit) May(scope string) bool { return store.ScopeCovers(v.Session.Scope, scope) }

func (v *Visit) mayUse(r Route) bool { return r.Scope == "" || v.May(r.Scope) }

// errElsewhere rejects a visit to a setting of this computer from anywhere else.
var errElsewhere = &httpapi.Problem{Kind: httpapi.Kind{Code: "elsewhere", Status: http.StatusForbidden}}

// maySet reports whether the visitor may see and change the settings of this computer: an admin of
// the oldest department, or the person who signed in with a command on this computer, in a browser on
// this computer. Settings belong to no other department.
func (v *Visit) maySet() (bool, error) {
	if v.Site.Settings == nil || !v.May(store.ScopeAdmin) || !httpapi.IsAtThisComputer(v.R) {
		return false, nil
	}
	if v.Session.Login != "" {
		return true, nil
	}
	return v.Store.IsOldest(v.Session.Tenant)
}

// errForged rejects a form that another site submitted.
var errForged = &httpapi.Problem{Kind: httpapi.Kind{Code: "forged", Status: http.StatusForbidden}}

// answer finds the session, reads the form and calls the handler. Without a session, it reads the
// form only to carry it through sign-in.
func (v *Visit) answer() error {
	if err := v.readSession(); err != nil {
		return err
	}
	if v.route.Here && !httpapi.IsAtThisComputer(v.R) {
		return errElsewhere
	}
	if v.route.Here && v.May(store.ScopeAdmin) {
		if may, err := v.maySet(); !may {
			return cmp.Or[error](err, &httpapi.Problem{Kind: httpapi.Scope})
		}
	}
	if v.R.Method == http.MethodPost {
		switch {
		case v.Site.origin.Check(v.R) != nil:
			return errForged
		case v.SignedIn() && !v.mayUse(v.route):
			return &httpapi.Problem{Kind: httpapi.Scope}
		}
		if err := v.readForm(); err != nil {
			return err
		}
		v.chooseLanguage()
	}
	switch {
	case !v.mayUse(v.route) && v.SignedIn():
		return &httpapi.Problem{Kind: httpapi.Scope}
	case !v.mayUse(v.route):
		return v.askToSignIn()
	case v.route.Large:
		return v.Work(upload.Writing, func() error { return v.route.Handle(v) })
	}
	return v.route.Handle(v)
}

// MaxForm is the maximum size of a form without files, in bytes.
const MaxForm = 64 << 10

// readForm reads a form into v.R.PostForm and, for a route with Upload, its file into v.Upload.
func (v *Visit) readForm() error {
	mediaType, params, err := mime.ParseMediaType(v.R.Header.Get("Content-Type"))
	if err == nil && mediaType == upload.FormType && v.route.Upload {
		may := v.mayUse(v.route) // otherwise the file is discarded
		if v.Upload, err = upload.ReceiveForm(v.W, v.R, params["boundary"], v.owner(), may); err != nil {
			return err
		}
		v.R.PostForm = validForm(v.Upload.Fields)
		return nil
	}
	if err != nil || mediaType != "application/x-www-form-urlencoded" {
		return &httpapi.Problem{Kind: httpapi.ContentType}
	}
	body, err := io.ReadAll(http.MaxBytesReader(v.W, v.R.Body, MaxForm))
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

// validForm replaces invalid UTF-8 in a form with U+FFFD, as the API does.
func validForm(form url.Values) url.Values {
	valid := url.Values{}
	for name, values := range form {
		for _, value := range values {
			valid.Add(strings.ToValidUTF8(name, "\uFFFD"), strings.ToValidUTF8(value, "\uFFFD"))
		}
	}
	return valid
}

// Send answers with a file. See upload.Send.
func (v *Visit) Send(a upload.Attachment, write func(io.Writer) error) error {
	return upload.Send(v.W, v.R, v.owner(), a, write)
}

func (v *Visit) owner() int64 { return int64(v.Session.Tenant) }

// Work calls do within upload.Work.
func (v *Visit) Work(places upload.Places, do func() error) error {
	w := v.W
	return upload.Work(w, v.R, v.owner(), places, func(buffered http.ResponseWriter) error {
		v.W, v.insideWork = buffered, true
		defer func() { v.W, v.insideWork = w, false }()
		return do()
	})
}

// recover answers with an error page after a panic in a handler.
func (v *Visit) recover() {
	if p := recover(); p == http.ErrAbortHandler {
		panic(p)
	} else if p != nil {
		v.fail(fmt.Errorf("panic: %v", p))
	}
}

func (v *Visit) requestID() string { return v.W.Header().Get("X-Request-Id") }

// Redirect answers with 303, so that the browser requests another page with GET.
func (v *Visit) Redirect(path string) error {
	v.W.Header().Set("Location", path)
	v.W.WriteHeader(http.StatusSeeOther)
	return nil
}
