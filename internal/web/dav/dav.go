// Package dav serves the people of a department as a read-only address book for phones and mail
// programs, using CardDAV (RFC 6352) with sync-collection (RFC 6578). It also serves their birthdays
// as a calendar.
package dav

import (
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/web/callers"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// caller is the client of an address book.
type caller struct {
	tenant    record.TenantID
	birthdays bool // whether cards include dates of birth
}

// Server serves each caller the address book of the caller's department.
type Server struct {
	store   *store.Store
	callers *callers.Callers
	explain httpapi.Explain
}

// New returns a server. explain returns the problem of an error.
func New(s *store.Store, c *callers.Callers, explain httpapi.Explain) *Server {
	return &Server{store: s, callers: c, explain: explain}
}

// authorize returns the caller of a request. The key is the Basic password, with any user name, or a
// Bearer token. Keys for the API also give access to dates of birth.
func (s *Server) authorize(r *http.Request, h http.Header) (caller, error) {
	key, err := s.callers.FindDevice(r, callers.Password(r), h)
	switch {
	case err != nil:
		return caller{}, err
	case key.Scope == store.ScopeCalendar:
		return caller{}, &callers.ScopeError{Scope: key.Scope, Needed: store.ScopePhone}
	}
	return caller{tenant: key.Tenant, birthdays: key.Birthdays || key.Scope != store.ScopePhone}, nil
}

// writes are the methods that write. They get 403 even without a key: 401 would stop an iPhone's sync.
var writes = []string{"PUT", "DELETE", "MKCOL", "PROPPATCH", "MOVE", "COPY", "LOCK", "UNLOCK", "POST", "PATCH", "ACL", "MKCALENDAR"}

// Takes reports whether the server handles a request.
func (s *Server) Takes(r *http.Request) bool {
	path := r.URL.Path
	return strings.HasPrefix(path, Root) || path == strings.TrimSuffix(Root, "/") || path == wellKnown ||
		r.Method == "PROPFIND" && collectionPaths[strings.TrimSuffix(path, "/")+"/"] != 0
}

// ServeHTTP handles a request for which Takes returns true. The caller has already set the request id
// and the headers of httpapi.SetSecurityHeaders.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	route := routeOf(r.URL.Path)
	defer func() {
		if p := recover(); p == http.ErrAbortHandler {
			panic(p)
		} else if p != nil {
			s.fail(w, r, route, fmt.Errorf("panic: %v", p))
		}
	}()
	if err := s.serve(w, r); err != nil {
		s.fail(w, r, route, err)
	}
}

// routeOf returns the route of a path for the log. The path itself may contain anything.
func routeOf(path string) string {
	switch found, ok := find(path); {
	case !ok:
		return Root
	case found.kind == cardKind:
		return cardPath(":id")
	default:
		return found.path
	}
}

func (s *Server) fail(w http.ResponseWriter, r *http.Request, route string, err error) {
	if errors.Is(err, httpapi.ErrNotModified) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	upload.Ignore(r, s.callers.HasKey(r))
	if refused := (*refusal)(nil); errors.As(err, &refused) {
		refused.write(w)
		return
	}
	p := s.explain(w, r, route, err)
	if p.Status == http.StatusUnauthorized && r.URL.Path != CalendarPath { // whose key is in the address
		// Address book clients wait for a Basic challenge before they send credentials.
		header := http.Header{"Www-Authenticate": {`Basic realm="Firefighters", charset="UTF-8"`}}
		p = &httpapi.Problem{Kind: p.Kind, Detail: p.Detail, Header: header}
		if p.Kind == httpapi.KeyMissing {
			p.Detail = "Send a key as the password. The user name does not matter."
		}
	}
	p.Write(w)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) error {
	switch r.URL.Path {
	case wellKnown:
		return redirectToRoot(w, r)
	case CalendarPath:
		return s.serveCalendar(w, r)
	}
	found, ok := find(r.URL.Path)
	if r.Method == http.MethodOptions {
		return options(w, found, ok)
	}
	if slices.Contains(writes, r.Method) {
		return &refusal{http.StatusForbidden, "<D:need-privileges><D:resource><D:href>" + escape(r.URL.EscapedPath()) +
			"</D:href><D:privilege><D:write/></D:privilege></D:resource></D:need-privileges>"} // RFC 3744, section 7.1.1
	}
	caller, err := s.authorize(r, w.Header())
	switch {
	case err != nil:
		return err
	case !ok:
		return errNoPath
	}
	t := &target{resource: found, caller: caller, store: s.store}
	switch {
	case r.Method == "PROPFIND":
		return s.propfind(w, r, t)
	case r.Method == "REPORT" && found.kind == bookKind:
		return s.report(w, r, t)
	case (r.Method == http.MethodGet || r.Method == http.MethodHead) && found.kind == cardKind:
		return s.get(w, r, t)
	}
	return httpapi.NotAllowed(found.allow())
}

var errNoPath = &httpapi.Problem{Kind: httpapi.Path, Detail: "This path does not exist."}

// redirectToRoot redirects from the well-known path (RFC 6764).
func redirectToRoot(w http.ResponseWriter, r *http.Request) error {
	if !slices.Contains([]string{http.MethodGet, http.MethodHead, "PROPFIND", http.MethodOptions}, r.Method) {
		return httpapi.NotAllowed("OPTIONS, GET, HEAD, PROPFIND")
	}
	w.Header()["Location"] = []string{Root}
	w.WriteHeader(http.StatusMovedPermanently)
	return nil
}

// options answers an OPTIONS request. It needs no key and does not reveal whether a card exists.
func options(w http.ResponseWriter, found resource, ok bool) error {
	if !ok {
		return errNoPath
	}
	h := w.Header()
	h["DAV"] = []string{"1, 3, addressbook, access-control"}
	h["Allow"] = []string{found.allow()}
	w.WriteHeader(http.StatusOK)
	return nil
}

func escape(text string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(text)) // a strings.Builder returns no errors
	return b.String()
}
