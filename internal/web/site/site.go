// Package site serves HTML pages to people who sign in. It provides sessions, languages, templates,
// assets and error pages. The content of the pages comes from its rooms.
package site

import (
	"context"
	"embed"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/authority"
	"github.com/firefighter-records/firefighters/internal/web/callers"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

// Root is the path of the first page and the prefix of all others.
const Root = "/office/"

// Service describes the running service to the packages that handle requests.
type Service struct {
	Store   *store.Store
	Callers *callers.Callers
	Tries   *httpapi.Tries // limits wrong keys and codes at the sign-in; nil for a new limit
	Log     *slog.Logger

	Started      time.Time
	Port         string   // of the listener
	LocalPort    string   // of the HTTP listener for this computer next to HTTPS; may be empty
	LoopbackOnly bool     // whether only this computer can connect
	Connections  int      // maximum number of open connections
	PublicURL    string   // that browsers use through a reverse proxy, like https://station.example; may be empty
	Origins      []string // of other websites that may use the API
	Office       bool     // whether the office page is enabled
	Phones       bool     // whether the address book and the calendar for phones are enabled

	Authority *authority.Authority // that signed the certificate; nil if the service has no authority
	Expires   func() time.Time     // expiry of the certificate; nil or zero without a certificate
	Backups   func() backup.State  // nil without backups
	Search    backup.Search        // finds backups that contain a record
	Installed bool                 // whether this is the installed service of the computer
	Invented  bool                 // whether the data is invented; such a service has no backups
	Loss      func() string        // how the database was lost, as guard.Loss.Kind; "" if it was not
	Stopping  context.Context      // ends when waiting requests must finish
	Settings  *Settings            // nil without a page of settings
}

// IsPublic reports whether a request names the host of PublicURL, on any port.
func (s *Service) IsPublic(r *http.Request) bool {
	public, err := url.Parse(s.PublicURL)
	host := url.URL{Host: r.Host}
	return err == nil && s.PublicURL != "" && strings.EqualFold(host.Hostname(), public.Hostname())
}

// Site handles all requests below Root.
type Site struct {
	Service
	explain httpapi.Explain
	look    *look
	mux     *http.ServeMux
	origin  *http.CrossOriginProtection
}

// Handler handles a visit, or returns the error to answer with.
type Handler func(v *Visit) error

// Route is one address of a site.
type Route struct {
	Scope  string // that the session needs; empty if the route needs no session
	Here   bool   // whether the route is a setting of this computer; see Visit.maySet
	Handle Handler
	// Form is the page and the ID of the form for the route, such as "/office/people/new#person", which
	// a new sign-in shows again. Without an ID, the form is sent to the page. If empty, it is lost.
	Form   string
	Upload bool // whether the form may contain a file, as multipart/form-data of at most upload.MaxFile
	// Large marks a page about many people. It is rendered within Work, which limits how many are
	// rendered at the same time and buffers the page for slow clients.
	Large bool
}

// Room is a part of a site. Routes are by http.ServeMux pattern. Files contains templates/*.html,
// of which partials.html is available to all pages of the room, and messages/*.json.
type Room struct {
	Files  fs.FS
	Routes map[string]Route
}

//go:embed templates messages
var files embed.FS

func ownRoom() Room {
	return Room{files, map[string]Route{
		"GET " + Root + "sign-in":       {Handle: showSignIn},
		"POST " + Root + "sign-in":      {Handle: signIn},
		"GET " + signOutPath:            {Handle: showSignOut},
		"POST " + signOutPath:           {Handle: (*Visit).SignOut},
		"GET " + languagePath:           {Handle: showAgain},
		"POST " + languagePath:          {Handle: showAgain},
		"GET " + Root + "assets/{name}": {Handle: serveAsset},
		Root:                            {Handle: notFound},
	}}
}

// NewTries returns a limit for Service.Tries.
func NewTries() *httpapi.Tries { return httpapi.NewTries(store.ErrNotFound, time.Now) }

// New returns a site with these rooms. frame contains the files that newLook describes.
func New(service Service, explain httpapi.Explain, frame fs.FS, rooms ...Room) *Site {
	rooms = append(rooms, ownRoom())
	s := &Site{
		Service: service,
		explain: explain,
		look:    newLook(frame, rooms),
		mux:     http.NewServeMux(),
		origin:  http.NewCrossOriginProtection(),
	}
	if s.Tries == nil {
		s.Tries = NewTries()
	}
	s.origin.AddTrustedOrigin(s.PublicURL) // rejects only an empty one
	for _, room := range rooms {
		for pattern, route := range room.Routes {
			path := strings.TrimSuffix(pattern[strings.IndexByte(pattern, '/'):], "{$}") // without the method
			s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, path, route) })
		}
	}
	return s
}

func (s *Site) serve(w http.ResponseWriter, r *http.Request, path string, route Route) {
	v := &Visit{W: w, R: r, Site: s, Store: s.Store, Lang: languageOf(r), route: route, path: path}
	if shown, ok := r.Context().Value(again{}).(*Visit); ok {
		v.Lang, v.form = shown.Lang, shown.form
	}
	defer func() { v.Upload.Close() }()
	defer v.recover()
	err := v.answer()
	if err == nil {
		err = v.send()
	}
	if err != nil {
		v.fail(err)
	}
}

// pageHeaders are set on every response. With the Referrer-Policy no-referrer, browsers would
// submit forms with "Origin: null", which the service rejects.
var pageHeaders = map[string][]string{
	"Content-Security-Policy": {"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"form-action 'self'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'"},
	"Cross-Origin-Opener-Policy": {"same-origin"},
	"Referrer-Policy":            {"same-origin"},
}

// ServeHTTP handles a request below Root. The caller has already set the request id and the headers
// of httpapi.SetSecurityHeaders.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range pageHeaders {
		w.Header()[name] = value
	}
	if !isClean(r.URL.Path) { // the mux would redirect, possibly to another host
		s.serve(w, r, Root, Route{Handle: notFound})
		return
	}
	s.mux.ServeHTTP(w, r)
}

// isClean reports whether a path has no empty element and no dot element.
func isClean(p string) bool {
	cleaned := path.Clean(p)
	return p == cleaned || p == cleaned+"/"
}

// notFound answers a request without a route: if another method has one, 405, or 204 for OPTIONS,
// otherwise 404.
func notFound(v *Visit) error {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
		probe := *v.R
		probe.Method = method
		if _, pattern := v.Site.mux.Handler(&probe); pattern != Root {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 || !isClean(v.R.URL.Path) {
		return &httpapi.Problem{Kind: httpapi.Path}
	}
	v.W.Header().Set("Allow", strings.Join(append(allowed, http.MethodOptions), ", "))
	if v.R.Method == http.MethodOptions {
		v.W.WriteHeader(http.StatusNoContent)
		return nil
	}
	return &httpapi.Problem{Kind: httpapi.Method}
}
