package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	"github.com/julienschmidt/httprouter"

	"github.com/firefighter-records/firefighters/internal/data/backup"
	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/web/httpapi"
	"github.com/firefighter-records/firefighters/internal/web/site"
	"github.com/firefighter-records/firefighters/internal/web/upload"
)

// server answers requests from a store.
type server struct {
	store        *store.Store
	auth         *authenticator
	backups      func() backup.State // nil without backups
	log          *slog.Logger
	router       *httprouter.Router
	office       http.Handler // the page for people; nil without it
	cors         httpapi.CORS
	requestIDs   *httpapi.RequestIDs
	startID      string   // random, of this start of the program
	inFlight     sync.Map // the requestKeys that are being answered
	loopbackOnly bool     // it listens on this machine alone
	tls          bool     // for good: answers have Strict-Transport-Security
}

// handler answers a request of c, or returns the error to answer it with. id is the
// variable part of the path, empty where there is none.
type handler func(s *server, w http.ResponseWriter, r *http.Request, id string, c caller) error

// route is one operation. A GET answers HEAD, too.
type route struct {
	method, path, scope string
	handle              handler
	deprecated          *httpapi.Deprecation // nil: it is not deprecated
}

// newServer returns a server of routes without limits, backups or CORS.
func newServer(store *store.Store, log *slog.Logger, routes []route) *server {
	random := make([]byte, 6)
	rand.Read(random)
	s := &server{
		store:   store,
		auth:    newAuthenticator(store, log),
		log:     log,
		router:  httprouter.New(),
		startID: hex.EncodeToString(random),
	}
	s.requestIDs = httpapi.NewRequestIDs(s.startID + "-")
	for _, route := range routes {
		s.add(route)
	}
	s.router.RedirectTrailingSlash, s.router.RedirectFixedPath = false, false
	s.router.NotFound = s.always(errNoPath)
	s.router.MethodNotAllowed = s.always(errMethod)
	s.router.GlobalOPTIONS = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if h := w.Header(); strings.Contains(h.Get("Allow"), http.MethodPatch) {
			h["Accept-Patch"] = []string{httpapi.MergePatch}
		}
		w.WriteHeader(http.StatusNoContent)
	})
	return s
}

func (s *server) add(route route) {
	endpoint := s.endpoint(route)
	s.router.Handle(route.method, route.path, endpoint)
	if route.method == "GET" {
		s.router.Handle("HEAD", route.path, endpoint)
	}
}

const (
	maxBody     = 64 << 10 // bytes of a body that is no file
	recordSize  = 320      // bytes of a record in JSON, or nearly
	importsPath = "/api/v1/imports"
)

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h["X-Request-Id"] = []string{s.requestIDs.For(r)}
	httpapi.SetSecurityHeaders(h, s.tls)
	if httpapi.IsLast(r, limitOf(r)) {
		defer httpapi.EndConnection(w)()
	}
	switch {
	case s.loopbackOnly && r.Host != "" && !httpapi.IsLoopbackHost(r.Host):
		s.fail(w, r, "", errOtherHost)
	case s.office != nil && strings.HasPrefix(r.URL.Path, site.Root):
		s.office.ServeHTTP(w, r)
	case s.office != nil && leadsToOffice(r):
		http.Redirect(w, r, site.Root, http.StatusSeeOther)
	case s.cors.Handle(w, r):
	case strings.Contains(strings.ToLower(r.URL.RawPath), "%2f"): // the router would take it for a slash
		s.fail(w, r, "", errNoPath)
	default:
		s.router.ServeHTTP(w, r)
	}
}

// limitOf returns the size of the largest body of a request.
func limitOf(r *http.Request) int64 {
	if r.URL.Path == importsPath {
		return upload.MaxBody
	}
	return maxBody
}

// leadsToOffice reports whether a browser asks for what a person would type.
func leadsToOffice(r *http.Request) bool {
	read := r.Method == http.MethodGet || r.Method == http.MethodHead
	typed := r.URL.Path == "/" || r.URL.Path == strings.TrimSuffix(site.Root, "/")
	return read && typed && strings.Contains(strings.Join(r.Header["Accept"], ","), "text/html")
}

// endpoint lets a caller in by the route's scope and answers with the error of
// the handler, if there is one.
func (s *server) endpoint(route route) httprouter.Handle {
	return func(w http.ResponseWriter, r *http.Request, params httprouter.Params) {
		defer func() {
			if p := recover(); p == http.ErrAbortHandler {
				panic(p)
			} else if p != nil {
				s.fail(w, r, route.path, fmt.Errorf("panic: %v", p))
			}
		}()
		route.deprecated.Announce(w.Header())
		c, err := s.auth.authorize(r, w.Header(), route.scope)
		if err == nil {
			id := ""
			if len(params) > 0 {
				id = params[0].Value
			}
			err = route.handle(s, w, r, id, c)
		}
		if err != nil {
			s.fail(w, r, route.path, err)
		}
	}
}

// fail answers with err, and logs it if the fault is the service's. path is
// that of the route, because that of the request may hold anything.
func (s *server) fail(w http.ResponseWriter, r *http.Request, path string, err error) {
	if errors.Is(err, httpapi.ErrNotModified) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	s.explain(w, r, path, err).Write(w)
}

// explain returns the problem that err is, and logs it if the fault is the
// service's.
func (s *server) explain(w http.ResponseWriter, r *http.Request, path string, err error) *httpapi.Problem {
	p := problemOf(err)
	if p.Status >= http.StatusInternalServerError && p != errLost { // the guard has logged the loss, once
		s.log.Error("request failed", "requestId", w.Header().Get("X-Request-Id"), "status", p.Status,
			"method", r.Method, "path", path, "cause", fmt.Sprint(p.Cause))
	}
	return p
}

// always answers every request with the same problem.
func (s *server) always(p *httpapi.Problem) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, "", p) })
}

// requestKey is an Idempotency-Key of an API key. No two requests with the same are
// answered at a time.
type requestKey struct {
	by  store.KeyID
	key string
}

// once calls answer with the Idempotency-Key of a request, nil if it has none. A later
// request with the same key must have the same hash.
func (s *server) once(r *http.Request, c caller, hash [sha256.Size]byte, answer func(*store.IdempotencyKey) error) error {
	key, err := httpapi.IdempotencyKey(r)
	switch {
	case err != nil:
		return err
	case key == "":
		return answer(nil)
	}
	if _, busy := s.inFlight.LoadOrStore(requestKey{c.key, key}, true); busy {
		return errInFlight
	}
	defer s.inFlight.Delete(requestKey{c.key, key})
	return answer(&store.IdempotencyKey{By: c.key, Key: key, Hash: hash[:]})
}

// ReloadKeys reads the keys again if they have changed. The daemon calls this and the
// following beside the requests.
func (s *server) ReloadKeys() error { return s.auth.reload() }

// WriteLate writes the last use of keys, and the time, where the database has them late.
func (s *server) WriteLate() error { return s.auth.writeLate() }

// LogRefusals logs refused requests, many of a kind as one line.
func (s *server) LogRefusals() { s.auth.refusals.Flush(false) }

// Finish logs and writes what is left after the last request.
func (s *server) Finish() error {
	s.auth.refusals.Flush(true)
	return s.auth.writeUses()
}
