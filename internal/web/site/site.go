// Package site serves pages in HTML to people who have signed in: sessions,
// languages, templates, assets and the pages of errors. It does not know what
// the pages are about.
package site

import (
	"context"
	"embed"
	"io/fs"
	"log/slog"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/host/authority"
	"github.com/firefighter-records/firefighters/internal/web/callers"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
)

// Root is the address of the first page. All other addresses begin with it.
const Root = "/office/"

// Service describes the running service to everything that answers requests.
type Service struct {
	Store   *store.Store
	Callers *callers.Callers
	Log     *slog.Logger

	Port         string   // of the listener
	LocalPort    string   // of HTTP for this computer, next to HTTPS for others; empty: none
	LoopbackOnly bool     // only this computer can connect
	Connections  int      // maximum number of open connections
	Origins      []string // of other pages that may use the API
	Office       bool     // with the office page
	Phones       bool     // with the address book and the calendar for phones

	Authority *authority.Authority // of the certificate; nil for another certificate, or none
	Expires   func() time.Time     // of the certificate; nil or zero without one
	Backups   func() backup.State  // nil without backups
	Search    backup.Search        // for backups that contain a record
	Installed bool                 // it is the service of the PC
	Invented  bool                 // its people are invented: it has no flag for backups
	Loss      func() string        // how the database was lost, as guard.Loss.Kind; "" if it was not
	Stopping  context.Context      // ends when requests must stop waiting
}

// Site answers all requests below Root.
type Site struct {
	Service
	explain httpapi.Explain
	look    *look
	mux     *http.ServeMux
	origin  *http.CrossOriginProtection
	tries   *httpapi.Tries
}

// Handler answers a visit, or returns the error to answer it with.
type Handler func(v *Visit) error

// Route is one address of a site.
type Route struct {
	Scope   string // that a session needs; empty: the route asks for no session
	Handle  Handler
	Carried bool // somebody has typed its form: if the session has ended, signing in carries that along
	Upload  bool // its form may have a file: multipart/form-data of at most upload.MaxFile
	// Large is for a page that is about many people. It is made within Work: few are made
	// at the same time, and none waits in memory for a slow client.
	Large bool
}

// Room is a part of a site: its routes, by patterns of http.ServeMux, and its files.
// Those are templates/*.html, of which partials.html is part of all pages of the room, and
// messages/*.json.
type Room struct {
	Files  fs.FS
	Routes map[string]Route
}

//go:embed templates messages
var files embed.FS

// ownRoom returns the room that every site has.
func ownRoom() Room {
	return Room{files, map[string]Route{
		"GET " + Root + "sign-in":       {Handle: showSignIn},
		"POST " + Root + "sign-in":      {Handle: signIn},
		"GET " + signOutPath:            {Handle: showSignOut},
		"POST " + signOutPath:           {Handle: (*Visit).SignOut},
		"POST " + Root + "language":     {Handle: chooseLanguage},
		"GET " + Root + "assets/{name}": {Handle: serveAsset},
		Root:                            {Handle: nothingHere},
	}}
}

// New returns a site of these rooms. frame has the files that newLook describes.
func New(service Service, explain httpapi.Explain, frame fs.FS, rooms ...Room) *Site {
	rooms = append(rooms, ownRoom())
	s := &Site{
		Service: service,
		explain: explain,
		look:    newLook(frame, rooms),
		mux:     http.NewServeMux(),
		origin:  http.NewCrossOriginProtection(),
		tries:   httpapi.NewTries(store.ErrNotFound, time.Now),
	}
	for _, room := range rooms {
		for pattern, route := range room.Routes {
			s.add(pattern, route)
		}
	}
	return s
}

func (s *Site) add(pattern string, route Route) {
	p := pattern[strings.IndexByte(pattern, '/'):] // the log has the method already
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, strings.TrimSuffix(p, "{$}"), route) })
}

func (s *Site) serve(w http.ResponseWriter, r *http.Request, path string, route Route) {
	v := &Visit{W: w, R: r, Site: s, Store: s.Store, Lang: languageOf(r), route: route, path: path}
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

// pageHeaders are the headers of every answer. With the Referrer-Policy
// no-referrer a browser would send forms with "Origin: null", which is refused.
var pageHeaders = map[string][]string{
	"Content-Security-Policy": {"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"form-action 'self'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'"},
	"Cross-Origin-Opener-Policy": {"same-origin"},
	"Referrer-Policy":            {"same-origin"},
}

// ServeHTTP answers a request below Root. The response has its request id and
// the headers of httpapi.SetSecurityHeaders already.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range pageHeaders {
		w.Header()[name] = value
	}
	if !isClean(r.URL.Path) { // the mux would redirect, also to other addresses than ours
		s.serve(w, r, Root, Route{Handle: nothingHere})
		return
	}
	s.mux.ServeHTTP(w, r)
}

// isClean reports whether a path has no empty element, and none of dots.
func isClean(p string) bool {
	cleaned := path.Clean(p)
	return p == cleaned || p == cleaned+"/"
}

// nothingHere answers a request that no other route takes.
func nothingHere(v *Visit) error {
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
	return &httpapi.Problem{Kind: httpapi.Method, Header: http.Header{"Allow": {strings.Join(allowed, ", ")}}}
}
