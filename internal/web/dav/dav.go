// Package dav serves the people of a department as an address book that phones and mail
// programs keep a copy of, and only read: CardDAV (RFC 6352) with sync-collection (RFC
// 6578). It serves their birthdays as a calendar, too.
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
)

// caller is the reader of an address book.
type caller struct {
	tenant    record.TenantID
	birthdays bool // the cards have dates of birth
}

// Server serves the address books of all departments, to each caller the one of its
// department.
type Server struct {
	store   *store.Store
	callers *callers.Callers
	explain httpapi.Explain
}

// New returns a server.
func New(s *store.Store, c *callers.Callers, explain httpapi.Explain) *Server {
	return &Server{store: s, callers: c, explain: explain}
}

// authorize returns the reader of an address book. The key is the password of any user, or
// stands where the API has it. A key that may read in the API gets dates of birth, as there.
func (s *Server) authorize(r *http.Request, h http.Header) (caller, error) {
	password := callers.Bearer(r)
	if _, key, ok := r.BasicAuth(); ok && len(r.Header["Authorization"]) == 1 {
		password = strings.TrimSpace(key)
	}
	key, err := s.callers.FindDevice(r, password, h)
	switch {
	case err != nil:
		return caller{}, err
	case key.Scope == store.ScopeCalendar:
		return caller{}, &callers.ScopeError{Scope: key.Scope, Needed: store.ScopePhone}
	}
	return caller{tenant: key.Tenant, birthdays: key.Birthdays || key.Scope != store.ScopePhone}, nil
}

// asPassword returns the problem of a key that was sent as a password, or was not sent:
// clients of an address book send none before they are challenged.
func asPassword(p *httpapi.Problem) *httpapi.Problem {
	if p.Status != http.StatusUnauthorized {
		return p
	}
	header := http.Header{"Www-Authenticate": {`Basic realm="Firefighters", charset="UTF-8"`}}
	challenge := &httpapi.Problem{Kind: p.Kind, Detail: p.Detail, Header: header}
	if p.Kind == httpapi.KeyMissing {
		challenge.Detail = "Send a key as the password, with any user name."
	}
	return challenge
}

// writes are the methods that write. Nobody may, with or without a key: 401 to one of them
// would end all sync of an iPhone.
var writes = []string{"PUT", "DELETE", "MKCOL", "PROPPATCH", "MOVE", "COPY", "LOCK", "UNLOCK", "POST", "PATCH", "ACL", "MKCALENDAR"}

// Takes reports whether a request is for this server.
func (s *Server) Takes(r *http.Request) bool {
	path := r.URL.Path
	return strings.HasPrefix(path, Root) || path == strings.TrimSuffix(Root, "/") || path == wellKnown ||
		r.Method == "PROPFIND" && collectionPaths[strings.TrimSuffix(path, "/")+"/"] != 0
}

// ServeHTTP answers a request that Takes takes. The response has its request id and the
// headers of httpapi.SetSecurityHeaders already.
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

// routeOf returns what stands for a path in the log: the path itself may hold anything.
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
	if refused := (*refusal)(nil); errors.As(err, &refused) {
		refused.write(w)
		return
	}
	p := s.explain(w, r, route, err)
	if r.URL.Path != CalendarPath { // whose key stands in the address
		p = asPassword(p)
	}
	p.Write(w)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) error {
	switch r.URL.Path {
	case wellKnown:
		return leadToRoot(w, r)
	case CalendarPath:
		return s.serveCalendar(w, r)
	}
	found, ok := find(r.URL.Path)
	if r.Method == http.MethodOptions {
		return options(w, found, ok)
	}
	if slices.Contains(writes, r.Method) {
		return needPrivileges(r)
	}
	caller, err := s.authorize(r, w.Header())
	switch {
	case err != nil:
		return err
	case !ok:
		return errNothing
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
	return errMethod(found.allow())
}

var errNothing = &httpapi.Problem{Kind: httpapi.Path, Detail: "There is nothing at this path."}

func errMethod(allow string) error {
	return &httpapi.Problem{Kind: httpapi.Method, Header: http.Header{"Allow": {allow}},
		Detail: "This path does not take this method; the header Allow says which it takes."}
}

// leadToRoot leads from the address that clients know to ours (RFC 6764).
func leadToRoot(w http.ResponseWriter, r *http.Request) error {
	if !slices.Contains([]string{http.MethodGet, http.MethodHead, "PROPFIND", http.MethodOptions}, r.Method) {
		return errMethod("OPTIONS, GET, HEAD, PROPFIND")
	}
	w.Header()["Location"] = []string{Root}
	w.WriteHeader(http.StatusMovedPermanently)
	return nil
}

// options says what can be done with a resource. It needs no key, and does not say whether
// a card exists.
func options(w http.ResponseWriter, found resource, ok bool) error {
	if !ok {
		return errNothing
	}
	h := w.Header()
	h["DAV"] = []string{"1, 3, addressbook, access-control"}
	h["Allow"] = []string{found.allow()}
	w.WriteHeader(http.StatusOK)
	return nil
}

// needPrivileges refuses a request that writes (RFC 3744, section 7.1.1).
func needPrivileges(r *http.Request) error {
	return &refusal{http.StatusForbidden, "<D:need-privileges><D:resource><D:href>" + escape(r.URL.EscapedPath()) +
		"</D:href><D:privilege><D:write/></D:privilege></D:resource></D:need-privileges>"}
}

// escape returns a text for XML.
func escape(text string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(text)) // a Builder takes everything
	return b.String()
}
